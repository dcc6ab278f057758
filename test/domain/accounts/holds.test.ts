import { describe, expect, it } from 'vitest';
import { decideSending, describeHold, viewOf, type Hold, type HoldKind } from '../../../src/domain/accounts/holds.ts';
import { after } from '../../../src/domain/instant.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');

function hold(kind: HoldKind, untilMs: number | null): Hold {
  const until = untilMs === null ? null : after(NOW, untilMs);
  return { kind, since: after(NOW, -60_000), until, reason: 'r', actor: null };
}

function decide(...holds: Hold[]): readonly string[] {
  return (['create', 'lookup'] as const).map((lane) => decideSending(holds, lane, NOW).kind);
}

describe('what the holds of an account let through', () => {
  it.each<[string, readonly Hold[], readonly string[]]>([
    ['everything without one', [], ['free', 'free']],
    ['look-ups while a person pauses creates', [hold('creates-paused', null)], ['held', 'free']],
    ['nothing while a person pauses all', [hold('all-paused', null)], ['held', 'held']],
    ['look-ups after a restored database', [hold('restored', null)], ['held', 'free']],
    ['nothing while the exchange asks to wait', [hold('rate-limited', 1)], ['held', 'held']],
    ['one request when it was to wait no longer', [hold('rate-limited', 0)], ['probe', 'probe']],
    ['one request of those that the key was refused for', [hold('key-refused', -1)], ['probe', 'probe']],
    ['look-ups while creates are forbidden', [hold('forbidden', 1)], ['held', 'free']],
    ['one create when the hour of slow creates is over', [hold('slowed', 0)], ['probe', 'free']],
  ])('%s', (_name, holds, expected) => {
    expect(decide(...holds)).toEqual(expected);
  });

  it('is what the longest of them lets through', () => {
    expect(decide(hold('forbidden', -1), hold('rate-limited', 5))).toEqual(['held', 'held']);
    expect(decide(hold('rate-limited', 5), hold('creates-paused', null), hold('slowed', 9))).toEqual(['held', 'held']);
    expect(decideSending([hold('rate-limited', 5), hold('restored', null)], 'create', NOW)).toMatchObject({
      hold: { kind: 'restored' },
    });
  });
});

it('a hold that a person ends is described with the command for its account', () => {
  const paused = viewOf(hold('creates-paused', null));
  expect(describeHold(paused, 'shop 1')).toContain("order-sync resume --account 'shop 1' --reason TEXT");
  expect(describeHold(paused, 'default')).toContain('order-sync resume --reason TEXT');
});
