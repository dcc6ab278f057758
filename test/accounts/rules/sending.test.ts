import { describe, expect, it } from 'vitest';
import {
  describeRestraint,
  stoppedForMs,
  isProbed,
  viewOf,
  type Restraint,
  type RestraintKind,
} from '../../../src/accounts/rules/restraints.ts';
import { after } from '../../../src/base/instant.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');

function restraint(kind: RestraintKind, untilMs: number | null): Restraint {
  const until = untilMs === null ? null : after(NOW, untilMs);
  return { kind, since: after(NOW, -60_000), until, reason: 'r', actor: null };
}

function decide(...restraints: Restraint[]): readonly string[] {
  return (['create', 'lookup'] as const).map((lane) => {
    if (stoppedForMs(restraints, lane, NOW) > 0) return 'held';
    return isProbed(restraints, lane, NOW) ? 'probe' : 'free';
  });
}

describe('what the restraints of an account let through', () => {
  it.each<[string, readonly Restraint[], readonly string[]]>([
    ['everything without one', [], ['free', 'free']],
    ['look-ups while a person pauses creates', [restraint('creates-paused', null)], ['held', 'free']],
    ['nothing while a person pauses all', [restraint('all-paused', null)], ['held', 'held']],
    ['look-ups after a restored database', [restraint('restored', null)], ['held', 'free']],
    ['nothing while the exchange asks to wait', [restraint('rate-limited', 1)], ['held', 'held']],
    ['one request when it was to wait no longer', [restraint('rate-limited', 0)], ['probe', 'probe']],
    ['one request of the lane that the key was refused for', [restraint('key-refused', -1)], ['probe', 'probe']],
    ['look-ups while creates are forbidden', [restraint('forbidden', 1)], ['held', 'free']],
    ['one create when the hour of slow creates is over', [restraint('slowed', 0)], ['probe', 'free']],
  ])('%s', (_name, restraints, expected) => {
    expect(decide(...restraints)).toEqual(expected);
  });

  it('is what the longest of them lets through', () => {
    expect(decide(restraint('forbidden', -1), restraint('rate-limited', 5))).toEqual(['held', 'held']);
    expect(decide(restraint('rate-limited', 5), restraint('creates-paused', null), restraint('slowed', 9))).toEqual([
      'held',
      'held',
    ]);
    const heldFor = (...restraints: Restraint[]) => stoppedForMs(restraints, 'create', NOW);
    expect(heldFor(restraint('rate-limited', 5), restraint('restored', null))).toBe(Number.POSITIVE_INFINITY);
    expect(heldFor(restraint('rate-limited', 5), restraint('forbidden', 3))).toBe(5);
  });
});

it('a restraint that a person ends is described with the command for its account', () => {
  const paused = viewOf(restraint('creates-paused', null));
  expect(describeRestraint(paused, 'shop 1')).toContain("order-sync resume --account 'shop 1' --reason TEXT");
  expect(describeRestraint(paused, 'default')).toContain('order-sync resume --reason TEXT');
});
