import { describe, expect, it } from 'vitest';
import { CONTRADICTION_KINDS, type Contradiction } from '../../../src/orders/rules/contradictions.ts';
import { decideLookup, describeDisputes, disputesOf } from '../../../src/orders/rules/follow.ts';
import { outcomeOf } from '../../../src/orders/rules/lookup.ts';
import type { Tracking } from '../../../src/orders/rules/tracking.ts';
import { found, newRecord, SETTINGS, trackingWith } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');

const contradiction = (kind: Contradiction['kind'], actual: string | null = 'other'): Contradiction => ({
  kind,
  expected: 'ours',
  actual,
});

function decide(
  tracking: Partial<Tracking>,
  contradictions: readonly Contradiction[],
  disputedBy = CONTRADICTION_KINDS,
) {
  const before = trackingWith({ attempts: 1, sentAt: NOW, ...tracking });
  const settings = { ...SETTINGS, disputedBy };
  return decideLookup(before, found({ modificationDate: '2026-01-05T11:00:00Z' }), NOW, 0.5, settings, contradictions);
}

describe('a contradiction', () => {
  it.each(CONTRADICTION_KINDS)('disputes the order if the settings say so: %s', (kind) => {
    const { tracking, keepsRecord } = decide({ state: 'accepted' }, [contradiction(kind)]);
    expect([tracking.state, tracking.modificationDate, keepsRecord]).toEqual(['disputed', null, true]);
    const others = CONTRADICTION_KINDS.filter((one) => one !== kind);
    expect(decide({ state: 'accepted' }, [contradiction(kind)], others).tracking.state).toBe('open');
  });

  it('disputes it also if the record is older than ours: it may be of another order', () => {
    const known = { state: 'open', modificationDate: '2026-01-05T11:30:00Z' } as const;
    expect(decide(known, []).tracking.staleDate).not.toBeNull();
    expect(decide(known, [contradiction('amount')]).tracking).toMatchObject({ ...known, state: 'disputed' });
  });

  it('that changes is said, and does not have the order looked up sooner', () => {
    const first = decide({ state: 'accepted' }, [contradiction('amount', '15')]).tracking;
    const same = { ...first, changedAt: new Date(0) };
    const next = decide(same, [contradiction('amount', '16')]);
    expect(next.tracking.stateReason).not.toBe(first.stateReason);
    expect([next.events, next.tracking.changedAt]).toEqual([[], new Date(0)]);
  });

  it.each(['', 'no JSON', '{}', '[null]', '["amount"]', '[["amount"]]'])('is not settled by %j', (oursDespite) => {
    expect(decide({ state: 'open', oursDespite }, [contradiction('amount')]).tracking.state).toBe('disputed');
  });
});

describe('a contradiction that a person settled', () => {
  const AMOUNT = contradiction('amount', '2.5');
  /** The contradictions that still dispute the order. */
  const left = (oursDespite: string | null, contradictions: readonly Contradiction[]) =>
    disputesOf({ oursDespite }, contradictions, SETTINGS);

  it('does not dispute the order again, however an amount is written, and every other contradiction does', () => {
    const settled = '[["amount","2.5"],["merchant","7"],["age",null]]';
    const same = [contradiction('amount', '2.50'), AMOUNT, contradiction('merchant', '7'), contradiction('age', null)];
    expect(left(settled, same)).toEqual([]);
    expect(left(null, same)).toEqual(same);
    const others = [
      contradiction('amount', '2.51'),
      contradiction('merchant', '7.0'),
      contradiction('pair', '7'),
      contradiction('age', '2.5'),
    ];
    expect(left(settled, others)).toEqual(others);
  });

  it('is read from the column, whatever else another program wrote there', () => {
    expect(left('[null,7,["amount","2.5"]]', [AMOUNT])).toEqual([]);
    for (const text of ['{"0":["amount","2.5"]}', '"x"', 'no JSON']) expect(left(text, [AMOUNT])).toEqual([AMOUNT]);
  });
});

describe('the reason of a dispute', () => {
  it.each<[Contradiction['kind'], string]>([
    ['merchant', 'merchant'],
    ['pair', 'pair'],
    ['type', 'type'],
    ['amount', 'amount'],
    ['id', 'external order id'],
  ])('names both values of the %s', (kind, name) => {
    expect(describeDisputes([{ kind, expected: 'x1', actual: 'x2' }])).toContain(
      `its ${name} is "x2", and ours is "x1"`,
    );
  });

  it('names when both orders were created, and each contradiction', () => {
    const age: Contradiction = { kind: 'age', expected: 'created after 10:00', actual: '09:00' };
    const why = describeDisputes([age, { kind: 'amount', expected: '1', actual: null }]);
    expect(why).toMatch(/created at "09:00", and ours was created after 10:00; its amount is "", and ours is "1"$/);
    expect(describeDisputes([{ kind: 'amount', expected: null, actual: '2' }])).toMatch(/and ours is ""$/);
  });
});

describe('the outcome of a final order', () => {
  it.each([
    ['is not known without the setting', [], [], 'DONE', null],
    ['is succeeded with one of its statuses', ['DONE'], [], 'DONE', 'succeeded'],
    ['is failed with another', ['DONE'], [], 'REFUSED', 'failed'],
    ['is failed with another that is known to be final', ['DONE'], ['DONE', 'REFUSED'], 'REFUSED', 'failed'],
    ['is not known if others are known to be final', ['DONE'], ['DONE', 'REFUSED'], 'UNHEARD', null],
    ['is by the status, letter by letter', ['DONE'], [], 'done', 'failed'],
  ] as const)('%s', (_name, succeededStatuses, finalStatuses, orderStatus, outcome) => {
    const settings = { ...SETTINGS, succeededStatuses, finalStatuses };
    expect(outcomeOf(newRecord({ orderStatus }), settings)).toBe(outcome);
  });

  it('is written with the end, and taken back when the order is open again or disputed', () => {
    const settings = { ...SETTINGS, finalStatuses: ['DONE'], succeededStatuses: ['DONE'] };
    const look = (before: Tracking, orderStatus: string, contradictions: readonly Contradiction[] = []) =>
      decideLookup(before, found({ orderStatus }), NOW, 0.5, settings, contradictions).tracking;
    const final = look(trackingWith({ state: 'open', attempts: 1 }), 'DONE');
    expect([final.state, final.outcome]).toEqual(['final', 'succeeded']);
    expect(look(final, 'REQUEST').outcome).toBeNull();
    expect(look(final, 'DONE', [contradiction('amount')]).outcome).toBeNull();
  });
});
