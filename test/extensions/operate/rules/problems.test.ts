import { describe, expect, it } from 'vitest';
import { describeStop, stopRemedy } from '../../../../src/extensions/operate/rules/problems.ts';

describe('a stop of an account', () => {
  it.each([
    ['older-state', 'order-sync db accept-restore --account shop'],
    ['wrong-settings', 'order-sync config check'],
    ['has-failed', 'order-sync doctor --account shop'],
    ['a-kind-of-another-version', 'order-sync doctor --account shop'],
    ['constructor', 'order-sync doctor --account shop'],
  ])('that is %s is answered with %s', (kind, command) => {
    expect(stopRemedy(kind, ' --account shop')).toBe(command);
  });

  it('is described with its account, its time and its reason, if it has one', () => {
    const stop = { account: 'shop', since: '2026-01-05T12:00:00.000Z' };
    const bare = describeStop({ ...stop, reason: null });
    expect(bare).toMatch(new RegExp(`shop .* ${stop.since}$`));
    expect(describeStop({ ...stop, reason: 'r' })).toBe(`${bare}: r`);
  });
});
