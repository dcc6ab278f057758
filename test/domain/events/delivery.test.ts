import { expect, it } from 'vitest';
import {
  endpointWaitMs,
  LAST_PARKED_WAIT_MS,
  outcomeOf,
  parkedWaitMs,
  ROW_TYPES,
  subjectKindOf,
  takesType,
} from '../../../src/domain/events/delivery.ts';

const HOUR = 3_600_000;

it.each([
  [200, 'taken'],
  [204, 'taken'],
  [301, 'unavailable'],
  [307, 'unavailable'],
  [400, 'refused'],
  [401, 'refused'],
  [404, 'refused'],
  [408, 'unavailable'],
  [410, 'refused'],
  [422, 'refused'],
  [429, 'unavailable'],
  [500, 'unavailable'],
  [503, 'unavailable'],
  [101, 'unavailable'],
  [199, 'unavailable'],
  [299, 'taken'],
  [300, 'unavailable'],
  [399, 'unavailable'],
  [499, 'refused'],
])('a status of %s says that an event is %s', (status, kind) => {
  expect(outcomeOf(status).kind).toBe(kind);
});

it('lays a failure of the endpoint to the event only where it may be the cause', () => {
  expect(outcomeOf(301)).toEqual({ kind: 'unavailable', cause: expect.stringContaining('301') as string });
  expect(outcomeOf(429, 5_000)).toEqual({
    kind: 'unavailable',
    cause: expect.stringContaining('429') as string,
    retryAfterMs: 5_000,
  });
  expect(outcomeOf(500)).toStrictEqual({
    kind: 'unavailable',
    cause: expect.stringContaining('500') as string,
    status: 500,
  });
  expect(outcomeOf(404, 5_000)).toEqual({ kind: 'refused', status: 404 });
});

it('waits for an endpoint from 5 s to an hour, and as long as it asks within that', () => {
  expect([1, 2, 3, 4].map((tries) => endpointWaitMs(tries))).toEqual([5_000, 10_000, 20_000, 40_000]);
  expect([20, 100_000].map((tries) => endpointWaitMs(tries))).toEqual([HOUR, HOUR]);
  expect([endpointWaitMs(1, 60_000), endpointWaitMs(1, 9 * HOUR), endpointWaitMs(4, 1)]).toEqual([
    60_000,
    HOUR,
    40_000,
  ]);
});

it('tries a refused event ten times within 24 h', () => {
  const waits = Array.from({ length: 10 }, (_, index) => parkedWaitMs(index + 1) ?? 0);
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(24 * HOUR);
  expect(parkedWaitMs(11)).toBeUndefined();
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
  expect([waits[0], waits[1], LAST_PARKED_WAIT_MS]).toEqual([60_000, 240_000, waits[9]]);
});

it.each([
  ['order', ['order', 'order.needs_attention', 'finding.opened', 'finding.resolved', 'finding.acknowledged']],
  ['link', ['link', 'photos']],
  ['account', ['account']],
] as const)('keeps in order what is about the same %s', (kind, types) => {
  expect(ROW_TYPES[kind].toSorted()).toEqual(types.toSorted());
  expect(types.map(subjectKindOf)).toEqual(types.map(() => kind));
});

it('takes the types of a filter, and all where it is empty', () => {
  expect(takesType([], 'photos.received')).toBe(true);
  expect(takesType(['order.*'], 'order.state_changed')).toBe(true);
  expect(takesType(['order.*'], 'finding.opened')).toBe(false);
  expect(takesType(['finding.opened'], 'finding.resolved')).toBe(false);
  expect(takesType(['orders.*'], 'order.state_changed')).toBe(false);
  expect(takesType(['photos.received', 'finding.opened'], 'finding.opened')).toBe(true);
  expect(takesType(['order.'], 'order.state_changed')).toBe(false);
  expect(takesType(['order.state'], 'order.state_changed')).toBe(false);
});
