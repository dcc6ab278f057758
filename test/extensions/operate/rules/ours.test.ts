import { describe, expect, it } from 'vitest';
import type { Contradiction } from '../../../../src/orders/rules/contradictions.ts';
import { after } from '../../../../src/base/instant.ts';
import { decideByOperator } from '../../../../src/extensions/operate/rules/judgement.ts';
import type { Tracking } from '../../../../src/orders/rules/tracking.ts';
import { HOUR, newRecord, SECOND, SETTINGS, trackingWith } from '../../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const MAPPED = { ...SETTINGS, finalStatuses: ['DONE'], succeededStatuses: ['DONE'] };
const other = (kind: Contradiction['kind'], actual: string | null): Contradiction => ({ kind, expected: '1', actual });
const AMOUNT = other('amount', '2.5');

/** A disputed order of which a person says that it is ours. */
function ours(contradictions: readonly Contradiction[], orderStatus = 'REQUEST', changes: Partial<Tracking> = {}) {
  const tracking = trackingWith({ state: 'disputed', attempts: 1, rechecks: 2, ...changes });
  const newest = { record: newRecord({ orderStatus }), contradictions };
  const action = { judgement: { kind: 'ours' }, actor: 'ann', reason: 'asked' } as const;
  const made = decideByOperator(tracking, action, NOW, MAPPED, { newest });
  if (!made.ok) throw new Error(made.why);
  return made;
}

const settledBy = (contradictions: readonly Contradiction[], oursDespite: string | null = null) =>
  ours(contradictions, 'REQUEST', { oursDespite }).moves[0]?.tracking.oursDespite ?? null;

describe('a disputed order that is ours', () => {
  it('is open or final by its newest record, and followed from now on', () => {
    const how = { source: 'operator', reason: 'asked', actor: 'ann', oldValue: 'disputed' };
    const open = ours([AMOUNT]);
    expect(open.to).toBe('open');
    expect(open.moves).toMatchObject([
      {
        tracking: { state: 'open', outcome: null, changedAt: NOW, rechecks: 0, nextActionAt: after(NOW, 5 * SECOND) },
        events: [{ ...how, newValue: 'open' }],
      },
    ]);
    const final = ours([AMOUNT], 'DONE');
    expect(final.to).toBe('final');
    expect(final.moves).toMatchObject([
      {
        tracking: { state: 'final', outcome: 'succeeded', changedAt: NOW, rechecks: 0, nextActionAt: after(NOW, HOUR) },
        events: [{ ...how, newValue: 'final' }],
      },
    ]);
  });

  it('remembers each contradiction once, beside the settled ones', () => {
    const first = settledBy([AMOUNT]);
    const both = settledBy([other('amount', '2.50'), other('pair', 'A/B'), other('age', null)], first);
    expect([first, both].map((text) => JSON.parse(text ?? '') as unknown)).toEqual([
      [['amount', '2.5']],
      [
        ['amount', '2.5'],
        ['pair', 'A/B'],
        ['age', null],
      ],
    ]);
  });
});
