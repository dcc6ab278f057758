import { expect, it } from 'vitest';
import {
  afterFailure,
  afterRefusal,
  AT_ONCE,
  endpointWaitMs,
  isAtFault,
  newDelivery,
  outcomeOf,
  takesType,
  type Delivery,
} from '../../../src/extensions/webhooks/delivery.ts';
import type { EventRow } from '../../../src/extensions/feed/event.ts';

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

it('lays a failure of the endpoint to the event only if it may be the cause', () => {
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

const NOW = new Date('2026-05-01T12:00:00.000Z');
const EVENT = {
  id: 7,
  account: 'default',
  type: 'order',
  subject: 'a',
  observed_at: '2026-05-01T11:00:00.000Z',
} as EventRow;
const FACTS = { now: NOW, takenAt: NOW, isFull: false };
const waitMs = ({ next_attempt_at: at }: Delivery) => Date.parse(at ?? '') - NOW.getTime();

it('tries a refused event ten times within 24 h; then it is a dead letter', () => {
  let row = newDelivery('shop', EVENT, 'waiting');
  const waits: number[] = [];
  for (let attempts = 1; attempts <= 10; attempts += 1) {
    row = afterRefusal(row, 400, FACTS);
    expect(row).toMatchObject({ status: 'retrying', attempts, answer: 400, since: NOW.toISOString() });
    waits.push(waitMs(row));
  }
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(24 * HOUR);
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
  expect(waits.slice(0, 2)).toEqual([60_000, 240_000]);
  const [isLast, takesNothing] = [FACTS, { ...FACTS, takenAt: null }];
  expect(afterRefusal(row, 410, isLast)).toMatchObject({
    status: 'dead',
    next_attempt_at: null,
    answer: 410,
    attempts: 11,
  });
  // The endpoint has taken no other event since the first refusal: it may refuse all.
  const before = { ...FACTS, takenAt: new Date(NOW.getTime() - 1) };
  for (const facts of [takesNothing, before]) {
    const again = afterRefusal(row, 400, facts);
    expect([again.status, waitMs(again)]).toEqual(['retrying', waits[9]]);
  }
});

it('tells since when a refused event is retried: since its first refusal', () => {
  const first = afterRefusal(newDelivery('shop', EVENT, 'waiting'), 400, FACTS);
  const later = { ...FACTS, now: new Date(NOW.getTime() + HOUR) };
  expect(afterRefusal(first, 400, later)).toMatchObject({ attempts: 2, since: NOW.toISOString() });
});

it('has an event due at once, before any time of a retry, unless it is behind another of its subject', () => {
  const due = (['waiting', 'behind'] as const).map((status) => newDelivery('shop', EVENT, status).next_attempt_at);
  expect(due).toEqual([AT_ONCE, null]);
  expect(AT_ONCE < new Date(-8.64e15).toISOString()).toBe(true);
});

it('retries the events of no more orders than an endpoint may have refused', () => {
  const isFull = { ...FACTS, isFull: true };
  const first = newDelivery('shop', EVENT, 'waiting');
  expect(afterRefusal(first, 400, isFull)).toMatchObject({ status: 'dead', attempts: 1, since: NOW.toISOString() });
  expect(afterRefusal(afterRefusal(first, 400, FACTS), 400, isFull)).toMatchObject({ status: 'retrying', attempts: 2 });
});

it('lays a failure to an event at which the endpoint has failed before, and has taken others since', () => {
  const row = newDelivery('shop', EVENT, 'waiting');
  expect([row.since, row.next_attempt_at]).toEqual([EVENT.observed_at, AT_ONCE]);
  expect(isAtFault(row, NOW)).toBe(false);
  const failed = afterFailure(row, NOW);
  expect(failed).toMatchObject({
    status: 'waiting',
    attempts: 0,
    next_attempt_at: AT_ONCE,
    since: row.since,
  });
  const retried = afterRefusal(row, 400, FACTS);
  expect(afterFailure(retried, NOW)).toMatchObject({ status: 'retrying', next_attempt_at: NOW.toISOString() });
  expect([null, new Date(NOW.getTime() - 1), NOW].map((at) => isAtFault(failed, at))).toEqual([false, false, true]);
});

it('takes the types of a filter, and all if it is empty', () => {
  expect(takesType([], 'photos.received')).toBe(true);
  expect(takesType(['order.*'], 'order.state_changed')).toBe(true);
  expect(takesType(['order.*'], 'finding.opened')).toBe(false);
  expect(takesType(['finding.opened'], 'finding.resolved')).toBe(false);
  expect(takesType(['orders.*'], 'order.state_changed')).toBe(false);
  expect(takesType(['photos.received', 'finding.opened'], 'finding.opened')).toBe(true);
  expect(takesType(['order.'], 'order.state_changed')).toBe(false);
  expect(takesType(['order.state'], 'order.state_changed')).toBe(false);
});
