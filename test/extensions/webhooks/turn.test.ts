import { expect, it } from 'vitest';
import { afterRefusal, newDelivery, type Delivery } from '../../../src/extensions/webhooks/delivery.ts';
import type { EventRow } from '../../../src/extensions/feed/event.ts';
import { endOfTurn, subjectsOf } from '../../../src/extensions/webhooks/turn.ts';

const NOW = new Date('2026-05-01T12:00:00.000Z');
const endpoint = { name: 'shop', events: [] };
const FACTS = { now: NOW, takenAt: null, isFull: false };

function event(id: number, subject: string, isBehind = false): EventRow & { isBehind: boolean } {
  const what = { account: 'default', type: 'order.needs_attention', field: 'state', source: 'lookup' } as const;
  const none = { old_value: null, new_value: null, exchange_time: null, reason: null, actor: null };
  return { ...what, ...none, id, subject, observed_at: NOW.toISOString(), hash: '', isBehind };
}

const waiting = (id: number, subject: string) => newDelivery('shop', event(id, subject), 'waiting');
const refused = (id: number, subject: string) => afterRefusal(waiting(id, subject), 400, FACTS);
const dead = (id: number, subject: string) => afterRefusal(waiting(id, subject), 400, { ...FACTS, isFull: true });
const short = ({ event_id, status }: Delivery) => `${event_id} ${status}`;

it('events that are taken cost no row', () => {
  const page = [event(1, 'a'), event(2, 'b'), event(3, 'a')];
  const taken = new Map(page.map(({ id }) => [id, 'taken'] as const));
  const changes = { kept: [], ended: [], followed: [] };
  expect(endOfTurn({ endpoint, due: [], page }, taken, 0)).toEqual({ cursor: 3, changes });
});

it('the cursor moves over events that the endpoint does not want', () => {
  const page = [event(1, 'a'), event(2, 'b')];
  const turn = { endpoint: { ...endpoint, events: ['finding.*'] }, due: [], page };
  expect(subjectsOf(turn)).toEqual([]);
  expect(endOfTurn(turn, new Map(), 0)).toMatchObject({ cursor: 2, changes: { kept: [] } });
});

it('a refused event is a row, and so is each later one of its subject; others pass', () => {
  const page = [event(1, 'a'), event(2, 'b'), event(3, 'a'), event(4, 'c', true)];
  const results = new Map<number, 'taken' | Delivery>([
    [1, refused(1, 'a')],
    [2, 'taken'],
  ]);
  const { cursor, changes } = endOfTurn({ endpoint, due: [], page }, results, 0);
  expect([cursor, changes.kept.map(short)]).toEqual([4, ['1 retrying', '3 behind', '4 behind']]);
});

it('a dead letter keeps no later event of its subject back', () => {
  const page = [event(1, 'a'), event(2, 'a')];
  const results = new Map<number, 'taken' | Delivery>([
    [1, dead(1, 'a')],
    [2, 'taken'],
  ]);
  const { cursor, changes } = endOfTurn({ endpoint, due: [], page }, results, 0);
  expect([cursor, changes.kept.map(short), changes.followed]).toEqual([2, ['1 dead'], []]);
});

it('the cursor stays before events that were not sent; each event that was passed over is a row', () => {
  const page = [event(1, 'a'), event(2, 'b'), event(3, 'b'), event(4, 'c'), event(5, 'd')];
  const results = new Map([[4, 'taken']] as const);
  const { cursor, changes } = endOfTurn({ endpoint, due: [], page }, results, 0);
  expect([cursor, changes.kept.map(short)]).toEqual([4, ['1 waiting', '2 waiting', '3 behind']]);
  expect(endOfTurn({ endpoint, due: [], page }, new Map(), 0)).toMatchObject({ cursor: 0, changes: { kept: [] } });
});

it('a row whose event is taken, dead or not wanted any more makes way for the next one', () => {
  const due = [1, 2, 3].map((id) => ({ delivery: refused(id, `${id}`), event: event(id, `${id}`) }));
  const results = new Map<number, 'taken' | Delivery>([
    [1, 'taken'],
    [2, dead(2, '2')],
  ]);
  const { changes } = endOfTurn({ endpoint, due, page: [] }, results, 9);
  const texts = Object.values(changes).map((rows: readonly Delivery[]) => rows.map(short));
  expect(texts).toEqual([['2 dead'], ['1 retrying'], ['1 retrying', '2 retrying']]);
  const unwanted = endOfTurn({ endpoint: { ...endpoint, events: ['link.*'] }, due, page: [] }, new Map(), 9);
  expect(unwanted.changes.ended).toHaveLength(3);
});

it('events that the endpoint has not failed at are sent first, the next ones of the feed with them', () => {
  const failed = { delivery: refused(1, 'a'), event: event(1, 'a') };
  const left = { delivery: waiting(2, 'b'), event: event(2, 'b') };
  const page = [event(3, 'c'), event(4, 'a', true), event(5, 'c')];
  const order = subjectsOf({ endpoint, due: [failed, left], page }).map(({ events }) => events.map(({ id }) => id));
  expect(order).toEqual([[2], [3, 5], [1]]);
});
