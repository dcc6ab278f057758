import { expect, it } from 'vitest';
import { endpointWaitMs, outcomeOf, parkedWaitMs, takesType } from '../../../src/domain/events/delivery.ts';

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
])('a status of %s says that an event is %s', (status, kind) => {
  expect(outcomeOf(status).kind).toBe(kind);
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
});

it('takes the types of a filter, and all where it is empty', () => {
  expect(takesType([], 'photos.received')).toBe(true);
  expect(takesType(['order.*'], 'order.state_changed')).toBe(true);
  expect(takesType(['order.*'], 'finding.opened')).toBe(false);
  expect(takesType(['finding.opened'], 'finding.resolved')).toBe(false);
});
