import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { latenessOf, staysOf, type StatusEvent, statusKey } from '../../../src/extensions/pace/status.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';

let id = 0;

/** Changes of one moment, in seconds; `before` is the look-up before them. */
function change(
  at: number,
  before: number | null,
  fields: Record<string, [string | null, string | null]>,
  more: Partial<StatusEvent> = {},
) {
  return Object.entries(fields).map(([field, [oldValue, newValue]]) => ({
    id: (id += 1),
    field: field as StatusEvent['field'],
    oldValue,
    newValue,
    observedAt: at * SECOND,
    lookedUpBefore: before === null ? null : before * SECOND,
    exchangeTime: null,
    source: 'lookup',
    ...more,
  }));
}

const sent = () => [
  ...change(0, null, { state: ['pending', 'sending'] }, { source: 'create' }),
  ...change(1, null, { state: ['sending', 'accepted'] }, { source: 'create' }),
];
const taken = (at: number, before: number | null, more: Partial<StatusEvent> = {}) =>
  change(
    at,
    before,
    {
      'order.status': [null, 'REQUEST'],
      'cryptoTransaction.status': [null, 'NEW'],
      'fiatTransaction.status': [null, 'NEW'],
      state: ['accepted', 'open'],
    },
    more,
  );
const open = (orderStatus: string, fiatStatus = 'NEW') =>
  statusKey({ state: 'open', orderStatus, cryptoStatus: 'NEW', fiatStatus });
const seen = (events: readonly StatusEvent[], fromId = 0) =>
  staysOf(events, fromId).map(({ key, from, to }) => [key, from / SECOND, to / SECOND]);

describe('the stays of an order', () => {
  it('begin and end with its changes, each between the two looks at its end', () => {
    const events = [
      ...sent(),
      ...taken(31, 21),
      ...change(91, 61, { 'fiatTransaction.status': ['NEW', 'PAID'] }),
      ...change(301, 291, { 'order.status': ['REQUEST', 'DONE'], state: ['open', 'final'] }),
      ...change(901, 801, { state: ['final', 'open'], 'order.status': ['DONE', 'REQUEST'] }),
    ];
    expect(seen(events)).toEqual([
      ['accepted', 20, 30],
      [open('REQUEST'), 30, 60],
      [open('REQUEST', 'PAID'), 200, 210],
    ]);
  });

  it('begin without a look-up before', () => {
    expect(seen([...sent(), ...taken(31, null)])).toEqual([['accepted', 0, 30]]);
    expect(seen([...sent(), ...taken(31, -500)])).toEqual([['accepted', -501, 30]]);
  });

  it('are the ones that ended in the part of the history that is learned from', () => {
    const events = [...sent(), ...taken(31, 21), ...change(91, 61, { 'fiatTransaction.status': ['NEW', 'PAID'] })];
    expect(seen(events, events.at(-1)!.id)).toEqual([[open('REQUEST'), 30, 60]]);
  });

  it('of a history whose beginning is not read are those whose statuses are known', () => {
    const cut = [
      ...change(91, 61, { 'fiatTransaction.status': ['NEW', 'PAID'] }),
      ...change(191, 181, { 'fiatTransaction.status': ['PAID', 'SENT'] }),
      ...change(291, 281, {
        'order.status': ['A', 'B'],
        'cryptoTransaction.status': ['NEW', 'C'],
        state: ['open', 'disputed'],
      }),
      ...change(391, 381, { 'order.status': ['B', 'D'] }),
    ];
    const disputed = statusKey({ state: 'disputed', orderStatus: 'B', cryptoStatus: 'C', fiatStatus: 'SENT' });
    expect(seen(cut).map(([key]) => key)).toEqual([
      statusKey({ state: 'open', orderStatus: 'A', cryptoStatus: 'NEW', fiatStatus: 'SENT' }),
      disputed,
    ]);
  });

  it('of a whole history have no status if none ever changed', () => {
    const events = [
      ...change(31, 21, { 'order.status': [null, 'REQUEST'], state: ['accepted', 'open'] }),
      ...change(91, 61, { 'order.status': ['REQUEST', 'DONE'], state: ['open', 'final'] }),
    ];
    const bare = statusKey({ state: 'open', orderStatus: 'REQUEST', cryptoStatus: null, fiatStatus: null });
    expect(seen([...sent(), ...events])).toEqual([
      ['accepted', 20, 30],
      [bare, 30, 60],
    ]);
    // Of a history whose beginning was not read nothing is known.
    expect(seen(events)).toEqual([]);
  });

  it('of a row that was never sent begin with the order that answers for it', () => {
    const events = [
      ...change(31, null, { 'order.status': [null, 'A'], state: ['pending', 'disputed'] }),
      ...change(91, 61, { 'order.status': ['A', 'B'] }),
    ];
    const disputed = statusKey({ state: 'disputed', orderStatus: 'A', cryptoStatus: null, fiatStatus: null });
    expect(seen(events)).toEqual([[disputed, 30, 60]]);
  });

  it('are not taken for whole because an exchange calls a status pending', () => {
    const first = change(31, 21, { 'order.status': ['pending', 'A'], state: ['accepted', 'open'] });
    expect(seen([...first, ...change(91, 61, { state: ['open', 'final'] })])).toEqual([]);
  });

  it.each(['order.status', 'cryptoTransaction.status', 'fiatTransaction.status'])(
    'are left out if one status is not known: %s',
    (field) => {
      const end = change(91, 61, { state: ['open', 'final'] });
      expect(seen([...taken(31, 21), ...end])).toHaveLength(1);
      expect(seen([...taken(31, 21).filter((event) => event.field !== field), ...end])).toEqual([]);
    },
  );

  it('of an accepted pre-order need no status', () => {
    const accepted = change(1, null, { state: ['sending', 'accepted'] });
    expect(seen([...accepted, ...change(31, 21, { state: ['accepted', 'abandoned'] })])).toEqual([
      ['accepted', 20, 30],
    ]);
  });

  it('that a person or the program ended are told from the ones that the exchange ended', () => {
    const byPerson = change(61, 51, { state: ['accepted', 'abandoned'] }, { source: 'operator' });
    const givenUp = change(61, 51, { state: ['accepted', 'abandoned'] });
    for (const end of [byPerson, givenUp]) {
      expect(staysOf([...sent(), ...end], 0)).toMatchObject([{ key: 'accepted', isByExchange: false }]);
    }
    expect(staysOf([...sent(), ...taken(31, 21)], 0)).toMatchObject([{ isByExchange: true }]);
    const disputed = [...sent(), ...taken(31, 21), ...change(41, 31, { state: ['open', 'disputed'] })];
    const ours = change(61, 51, { state: ['disputed', 'open'] }, { source: 'operator' });
    const atOnce = [...change(61, 51, { 'order.status': ['REQUEST', 'DONE'] }), ...ours];
    for (const end of [ours, atOnce])
      expect(staysOf([...disputed, ...end], 0).at(-1)).toMatchObject({ state: 'disputed', isByExchange: false });
  });

  it('are ended by an exchange that calls a status abandoned', () => {
    const end = change(61, 51, { 'order.status': ['REQUEST', 'abandoned'] });
    expect(staysOf([...sent(), ...taken(31, 21), ...end], 0).at(-1)).toMatchObject({
      state: 'open',
      isByExchange: true,
    });
  });

  it.each([
    ['in between', 25, 6],
    ['a little before the look-up that found none, as clocks differ', 15, 10],
    ['a little ahead', 40, 0],
    ['a minute before that look-up', -39, 10],
    ['a minute ahead', 91, 0],
    ['longer before', -39.001, undefined],
    ['further ahead', 91.001, undefined],
    ['not there', undefined, undefined],
  ])('are known to have been seen late by the date of the exchange: %s', (_, date, late) => {
    const exchangeTime = date === undefined ? null : date * SECOND;
    const [stay] = staysOf([...sent(), ...taken(31, 21, { exchangeTime })], 0);
    expect(stay?.lateMs).toBe(late === undefined ? undefined : late * SECOND);
  });

  it('have no length if times cannot be read', () => {
    const broken = taken(31, null, { observedAt: Number.NaN, lookedUpBefore: Number.NaN, exchangeTime: MINUTE });
    expect(seen([...sent(), ...broken])).toEqual([['accepted', Number.NaN, Number.NaN]]);
    expect(staysOf([], 0)).toEqual([]);
  });
});

it('lateness is the mean, and the least time that 95 % do not exceed', () => {
  expect(latenessOf([])).toBeUndefined();
  expect(latenessOf([7])).toEqual({ changes: 1, meanMs: 7, p95Ms: 7 });
  expect(latenessOf(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual({
    changes: 100,
    meanMs: 50.5,
    p95Ms: 95,
  });
  fc.assert(
    fc.property(fc.array(fc.nat(1e9), { minLength: 1 }), (late) => {
      const { meanMs = 0, p95Ms = 0 } = latenessOf(late) ?? {};
      expect(late.filter((ms) => ms <= p95Ms).length / late.length).toBeGreaterThanOrEqual(0.95);
      expect(meanMs).toBeLessThanOrEqual(Math.max(...late) + 1e-3);
    }),
  );
});
