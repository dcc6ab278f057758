import { describe, expect, it } from 'vitest';
import { DECIDABLE, isDecided, statesToDecide } from '../../../../src/extensions/operate/rules/decided.ts';
import { FINDING_CLASSES } from '../../../../src/findings/rules/classes.ts';

const NOW = '2026-01-05T12:00:00.000Z';
const EARLIER = '2026-01-05T11:59:59.999Z';
const LATER = '2026-01-05T12:00:00.001Z';
type Events = Parameters<typeof isDecided>[1];

/** A change of the state at `NOW`, by a person. */
const move = (old_value: string | null, new_value: string, source = 'operator') =>
  ({ field: 'state', old_value, new_value, observed_at: NOW, source }) as const;
const STATUS = { ...move('held', 'unknown', 'lookup'), field: 'order.status' };

const isSettled = (name: string, events: Events, first_seen_at = EARLIER) =>
  isDecided({ class: name, first_seen_at }, events);

/** The classes that a decision about the order may settle, by whether the finding is still true if the order is ours. */
const OF_ORDER = ['ID_COLLISION', 'IDENTITY_MISMATCH', 'MERCHANT_MISMATCH'];
const OF_RECORD = [
  'ADDRESS_CHANGED',
  'AMOUNT_MISMATCH',
  'PAIR_MISMATCH',
  'ORDER_REPLACED',
  'ORDER_REUSED',
  'TX_HASH_CHANGED',
  'TYPE_MISMATCH',
  'TERMINAL_REOPENED',
  'SILENT_CHANGE',
  'TERMS_CHANGED',
];
const OTHERS = Object.keys(FINDING_CLASSES).filter((name) => !DECIDABLE.includes(name));

describe('a finding that a decision about its order may settle', () => {
  it('is of one of these classes', () => {
    expect(DECIDABLE.toSorted()).toEqual(['CREATE_UNKNOWN', ...OF_ORDER, ...OF_RECORD].toSorted());
  });

  it('is settled from the states in which a person decides', () => {
    expect(statesToDecide('CREATE_UNKNOWN')).toEqual(['unknown', 'held']);
    for (const name of [...OF_ORDER, ...OF_RECORD]) expect([name, statesToDecide(name)]).toEqual([name, ['disputed']]);
    for (const name of OTHERS) expect([name, statesToDecide(name)]).toEqual([name, []]);
  });
});

describe('a decision about a disputed order', () => {
  it.each([
    ['abandoned', [...OF_ORDER, ...OF_RECORD]],
    ['open', OF_ORDER],
    ['final', OF_ORDER],
  ])('that makes it %s settles the findings that it answers, and no other', (state, classes) => {
    const settled = Object.keys(FINDING_CLASSES).filter((name) => isSettled(name, [move('disputed', state)]));
    expect(settled.toSorted()).toEqual(classes.toSorted());
  });
});

describe('a create with an unknown outcome', () => {
  it.each<[string, Events]>([
    ['when a person ends it', [move('unknown', 'held', 'lookup'), move('held', 'abandoned')]],
    ['when a person decides before it is held', [move('unknown', 'held'), move('held', 'accepted')]],
    ['whatever happens to the order afterwards', [move('held', 'pending'), move('pending', 'sending', 'create')]],
    ['whatever a status is called', [move('held', 'accepted'), STATUS]],
  ])('is decided %s', (_name, events) => {
    expect(isSettled('CREATE_UNKNOWN', events)).toBe(true);
  });

  it.each<[string, Events]>([
    ['while nothing has changed', []],
    ['while it is held', [move('unknown', 'held')]],
    ['when a look-up finds the order', [move('held', 'open', 'lookup')]],
    ['when the next create is unknown too', [move('held', 'pending'), move('sending', 'unknown', 'create')]],
    ['by another decision', [move(null, 'pending', 'insert'), move('pending', 'cancelled')]],
  ])('is not decided %s', (_name, events) => {
    expect(isSettled('CREATE_UNKNOWN', events)).toBe(false);
  });

  it('is not decided by a decision before it was first seen', () => {
    const decided = [EARLIER, NOW, LATER].map((seen) => isSettled('CREATE_UNKNOWN', [move('held', 'accepted')], seen));
    expect(decided).toEqual([true, true, false]);
  });
});
