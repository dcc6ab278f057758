import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AmountField } from '../../../src/base/decimal.ts';
import { ORDER_STATES } from '../../../src/orders/rules/states.ts';
import { findOverdue, isUnchecked, judgedIn, STUCK_AFTER_MS, type OrderAge } from '../../../src/findings/rules/age.ts';
import { DAY, HOUR, MINUTE } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const SETTINGS = { orderMissingAfter: DAY, freshFor: DAY, stuckAfter: 2 * DAY };
const GIVEN = { inputAsset: '1.5', outputAsset: null, fromCurrency: 'BTC', toCurrency: 'EUR' };

const ago = (ms: number) => new Date(NOW.getTime() - ms);

/** An open order that was looked up a moment ago, with these differences. */
function ageWith(changes: Partial<OrderAge> = {}): OrderAge {
  const moment = ago(MINUTE);
  return {
    state: 'open',
    assetPosition: 'INPUT',
    record: GIVEN,
    sentAt: ago(HOUR),
    changedAt: moment,
    lastLookupAt: moment,
    resends: 0,
    failOver: null,
    staleDate: null,
    ...changes,
  };
}

const classesOf = (changes: Partial<OrderAge>) =>
  findOverdue(ageWith(changes), NOW, SETTINGS).map((finding) => finding.class);

describe('what time alone brings', () => {
  it('is nothing for an order that was just looked up and has changed', () => {
    expect(classesOf({})).toEqual([]);
  });

  it.each<[string, Partial<OrderAge>, string[]]>([
    ['an unknown outcome', { state: 'unknown' }, ['CREATE_UNKNOWN']],
    ['a held order', { state: 'held' }, ['CREATE_UNKNOWN']],
    ['an unknown outcome for which a fail-over has a finding', { state: 'unknown', failOver: 7 }, []],
    ['a create in flight', { state: 'sending', lastLookupAt: null }, []],
    ['a second create in flight', { state: 'sending', resends: 1 }, ['CREATE_UNKNOWN']],
    ['a second create that waits', { state: 'pending', resends: 1 }, ['CREATE_UNKNOWN']],
    ['a second create that was accepted', { state: 'accepted', record: null, resends: 1 }, []],
    ['no order a day after the create', { state: 'accepted', record: null, sentAt: ago(DAY) }, ['ORDER_MISSING']],
    ['no order just before that', { state: 'accepted', record: null, sentAt: ago(DAY - 1) }, []],
    ['no change for longer than usual', { changedAt: ago(2 * DAY + 1) }, ['STUCK']],
    ['no change for as long as is usual', { changedAt: ago(2 * DAY) }, []],
    ['an open order without the time of a change', { changedAt: null }, []],
    ['a final order that does not change', { state: 'final', changedAt: ago(900 * DAY) }, []],
    ['an accepted order that does not change', { state: 'accepted', record: null, changedAt: ago(900 * DAY) }, []],
    ['a look-up too long ago', { lastLookupAt: ago(DAY + 1) }, ['UNCHECKED']],
    ['a look-up that is just fresh', { lastLookupAt: ago(DAY) }, []],
    ['no look-up, sent long ago', { state: 'accepted', lastLookupAt: null, sentAt: ago(DAY - 1) }, []],
    [
      'no look-up since it was sent',
      { state: 'held', lastLookupAt: null, sentAt: ago(DAY + 1) },
      ['CREATE_UNKNOWN', 'UNCHECKED'],
    ],
    [
      'an unknown outcome that was not looked up for long',
      { state: 'unknown', lastLookupAt: ago(DAY + 1) },
      ['CREATE_UNKNOWN', 'UNCHECKED'],
    ],
    [
      'no look-up, sent as long ago as is fresh',
      { state: 'accepted', lastLookupAt: null, sentAt: ago(DAY) },
      ['ORDER_MISSING'],
    ],
    ['an order that was taken over and never looked up', { lastLookupAt: null, sentAt: null }, ['UNCHECKED']],
    ['a pre-order that a person found', { state: 'accepted', record: null, sentAt: null }, []],
    ['a record without the other currency', { record: { ...GIVEN, fromCurrency: null } }, ['UNCHECKED']],
    ['a look-up at a time that cannot be read', { lastLookupAt: new Date('') }, ['UNCHECKED']],
    ['a final order looked up at such a time', { state: 'final', lastLookupAt: new Date('') }, ['UNCHECKED']],
    ['an unknown outcome sent at such a time', { state: 'unknown', sentAt: new Date('') }, ['CREATE_UNKNOWN']],
    ['an answer with an older record', { staleDate: '2026-01-05T11:00:00Z' }, ['UNCHECKED']],
    [
      'such an answer without the time of a look-up',
      { lastLookupAt: null, staleDate: '2026-01-05T11:00:00Z' },
      ['UNCHECKED'],
    ],
    ['such an answer about a final order', { state: 'final', staleDate: '2026-01-05T11:00:00Z' }, ['UNCHECKED']],
    ['another position', { assetPosition: 'OUTPUT' }, ['UNCHECKED']],
    ['a record without an amount', { record: { ...GIVEN, inputAsset: null } }, ['UNCHECKED']],
    ['a record without a currency', { state: 'final', record: { ...GIVEN, toCurrency: null } }, ['UNCHECKED']],
    ['no record that can be read', { record: null }, ['UNCHECKED']],
    ['a final order that was looked up long ago', { state: 'final', lastLookupAt: ago(900 * DAY) }, []],
    ['a row that waits to be sent', { state: 'pending', lastLookupAt: null, sentAt: null }, []],
    ['a rejected row', { state: 'rejected', lastLookupAt: null }, []],
  ])('%s', (_name, changes, classes) => {
    expect(classesOf(changes)).toEqual(classes);
  });

  it.each<[Partial<OrderAge>, string, string]>([
    [{ state: 'unknown' }, 'a known outcome', `sent ${ago(HOUR).toISOString()}, unknown`],
    [{ state: 'unknown', sentAt: null }, 'a known outcome', 'sent never, unknown'],
    [{ state: 'held', sentAt: new Date('') }, 'a known outcome', 'sent a time that cannot be read, held'],
    [{ state: 'accepted', sentAt: ago(DAY) }, 'an order', `none since ${ago(DAY).toISOString()}`],
    [{ changedAt: ago(3 * DAY) }, 'a change', `none since ${ago(3 * DAY).toISOString()}`],
    [{ lastLookupAt: ago(2 * DAY) }, 'a look-up that is fresh', ago(2 * DAY).toISOString()],
    [{ assetPosition: 'OUTPUT' }, 'a record that can be compared', 'the amount of position OUTPUT'],
    [{ record: null }, 'a record that can be compared', 'no inputAsset'],
    [{ record: { ...GIVEN, toCurrency: null } }, 'a record that can be compared', 'no currencyPair'],
  ])('names what was expected, and what is: %o', (changes, expected, actual) => {
    expect(findOverdue(ageWith(changes), NOW, SETTINGS)).toMatchObject([{ expected, actual }]);
  });

  it('names the date of a record that contradicts ours', () => {
    const [found] = findOverdue(ageWith({ staleDate: '2026-01-05T11:00:00Z' }), NOW, SETTINGS);
    expect(found).toMatchObject({
      expected: 'the newest record',
      actual: expect.stringContaining('11:00:00Z') as string,
    });
  });

  it('tells of a disputed order nothing about our create', () => {
    const classes = ['CREATE_UNKNOWN', 'STUCK'] as const;
    expect([judgedIn('disputed', classes), judgedIn('open', classes)]).toEqual([['STUCK'], classes]);
  });

  it('takes an order of the position OUTPUT as checked if the amount is known that it refers to, and is given', () => {
    const order = ageWith({ assetPosition: 'OUTPUT', record: { ...GIVEN, inputAsset: null, outputAsset: '100' } });
    const isUncheckedAs = (outputPosition?: AmountField) => isUnchecked(order, NOW, { ...SETTINGS, outputPosition });
    expect([undefined, 'outputAsset' as const, 'inputAsset' as const].map(isUncheckedAs)).toEqual([true, false, true]);
  });

  it('counts an order as unchecked in a report at once, and finds it so only after a while', () => {
    const order = ageWith({ state: 'accepted', record: null, lastLookupAt: null });
    expect([isUnchecked(order, NOW, SETTINGS), findOverdue(order, NOW, SETTINGS)]).toEqual([true, []]);
  });

  it('finds an order unchecked only if a report counts it so', () => {
    const time = fc.option(fc.integer({ min: 0, max: 3 * DAY }).map(ago));
    const order = fc.record<OrderAge>({
      state: fc.constantFrom(...ORDER_STATES),
      assetPosition: fc.constantFrom('INPUT', 'OUTPUT', null),
      record: fc.constantFrom(GIVEN, { ...GIVEN, inputAsset: null }, null),
      sentAt: time,
      changedAt: time,
      lastLookupAt: time,
      resends: fc.nat({ max: 2 }),
      failOver: fc.constantFrom(null, 7),
      staleDate: fc.constantFrom(null, '2026-01-05T11:00:00Z'),
    });
    fc.assert(
      fc.property(order, (any) => {
        const isFound = findOverdue(any, NOW, SETTINGS).some((finding) => finding.class === 'UNCHECKED');
        expect(isFound && !isUnchecked(any, NOW, SETTINGS)).toBe(false);
      }),
    );
  });
});

it('an order is stuck after a day, unless changes are known to take longer', () => {
  expect(STUCK_AFTER_MS).toBe(DAY);
});
