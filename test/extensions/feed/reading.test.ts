import { beforeEach, describe, expect, it } from 'vitest';
import { BEGINNING, cursorOf, writeCursor, type Place } from '../../../src/extensions/feed/event.ts';
import { placeOf, readPage, type FeedFilter } from '../../../src/extensions/feed/feed.ts';
import { appendToChain } from '../../../src/store/tables/chain.ts';
import { feedHeads, newestOfOrder } from '../../../src/extensions/feed/tables/events.ts';
import type { NewEvent, Store } from '../../../src/store/port.ts';
import { newTestDatabase } from '../../support/database.ts';

const ALL = { account: 'default' };

let store: Store;
beforeEach(async () => {
  store = await (await newTestDatabase()).open();
});

function event(subject: string, more: Partial<NewEvent> = {}): NewEvent {
  return {
    account: 'default',
    type: 'order',
    subject,
    field: 'state',
    old_value: null,
    new_value: 'pending',
    observed_at: '2026-01-05T12:00:00.000Z',
    looked_up_before: null,
    exchange_time: null,
    source: 'create',
    reason: null,
    actor: null,
    ...more,
  };
}

async function append(account: string, ...events: NewEvent[]): Promise<void> {
  await store.writer.write((tx) =>
    appendToChain(
      tx,
      account,
      events.map((one) => ({ ...one, account })),
    ),
  );
}

/** Reads from a place to the end. Returns the subjects of the events, and the place of the end. */
async function readOn(filter: FeedFilter, after: Place, limit: number) {
  const subjects: string[] = [];
  for (let [place, pages] = [after, 0]; ; pages += 1) {
    const page = await readPage(store.db, filter, place, limit);
    subjects.push(...page.events.map(({ data }) => ('externalOrderId' in data ? data.externalOrderId : '')));
    place = page.next;
    if (page.isEnd) return { subjects, place, pages };
  }
}

describe('a reader of the feed', () => {
  it('who is stopped after any event continues by its cursor: misses none, and gets none twice', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `o${index}`);
    await append('other', event('x'));
    for (const name of names) {
      await append('default', event(name));
      await append('other', event('x'));
    }
    const { events } = await readPage(store.db, ALL, BEGINNING, 100);
    for (const [index, last] of events.entries()) {
      const place = await placeOf(store.db, 'default', cursorOf(last));
      if ('reason' in place) expect.fail(place.message);
      expect((await readOn(ALL, place, 2)).subjects).toEqual(names.slice(index + 1));
    }
    expect((await readOn(ALL, BEGINNING, 3)).subjects).toEqual(names);
  });

  it('gets only the types or the order that it asked for, and ends with the feed', async () => {
    const wanted = `<script>'"--`;
    for (let round = 0; round < 3; round += 1) {
      await append('default', event('a'), event(wanted), event(wanted, { type: 'finding.opened', field: 'X' }));
      await append('default', event('l', { type: 'link' }), event('default', { type: 'account', field: 'hold' }));
    }
    const [head] = await feedHeads(store.db, 'default');
    const ofOrder = await readOn({ ...ALL, externalOrderId: wanted }, BEGINNING, 2);
    expect(ofOrder.subjects).toEqual(Array.from({ length: 6 }, () => wanted));
    expect(ofOrder.place).toEqual({ id: head?.id, hash: head?.hash });
    const findings = await readOn({ ...ALL, externalOrderId: wanted, types: ['finding.opened'] }, BEGINNING, 2);
    expect(findings.subjects).toHaveLength(3);
    const changes = await readOn({ ...ALL, types: ['order.state_changed'] }, BEGINNING, 4);
    expect(changes.subjects).toEqual(['a', wanted, 'a', wanted, 'a', wanted]);
    expect(changes.place).toEqual(ofOrder.place);
    const newest = await newestOfOrder(store.db, { account: 'default', externalOrderId: wanted, limit: 3 });
    expect(newest.map(({ type }) => type)).toEqual(['finding.opened', 'order', 'finding.opened']);
  });

  it('of a rare type gets no page that looks at more than 10,000 events, and gets on', async () => {
    await append(
      'default',
      ...Array.from({ length: 12_000 }, () => event('a')),
      event('rare', { field: 'order.status' }),
    );
    const filter: FeedFilter = { ...ALL, types: ['order.status_changed'] };
    const first = await readPage(store.db, filter, BEGINNING, 5);
    expect([first.events, first.isEnd]).toEqual([[], false]);
    expect(first.head.id - first.next.id).toBe(2_001);
    const { subjects, pages } = await readOn(filter, first.next, 5);
    expect([subjects, pages]).toEqual([['rare'], 0]);
  });
});

describe('a cursor', () => {
  beforeEach(() => append('default', event('a'), event('b')));

  it('is refused when it is ahead of the feed', async () => {
    const [head] = await feedHeads(store.db, 'default');
    expect(await placeOf(store.db, 'default', String((head?.id ?? 0) + 1))).toMatchObject({ reason: 'cursor-ahead' });
    expect(await placeOf(store.db, 'nobody', '1')).toMatchObject({ reason: 'cursor-ahead' });
  });

  it('is refused when its event is another one here, as in a database that was put back or in another account', async () => {
    const { events } = await readPage(store.db, ALL, BEGINNING, 2);
    const [first = expect.fail()] = events;
    const changed = writeCursor({ id: first.cursor, hash: '0'.repeat(64) });
    expect(await placeOf(store.db, 'default', changed)).toMatchObject({ reason: 'cursor-of-another' });
    await append('other', event('c'));
    expect(await placeOf(store.db, 'other', cursorOf(first))).toMatchObject({ reason: 'cursor-of-another' });
    expect(await placeOf(store.db, 'default', cursorOf(first))).toMatchObject({ id: first.cursor });
    expect(await placeOf(store.db, 'default', String(first.cursor))).toMatchObject({ id: first.cursor });
  });

  it.each(['', '-1', '1e3', '1.5', '1.', '9'.repeat(16), "1' or 1=1", '<script>', '1.XYZ00000'])(
    'is refused when it is none: %j',
    async (text) => {
      expect(await placeOf(store.db, 'default', text)).toMatchObject({ reason: 'cursor-unreadable' });
    },
  );

  it('may be the end of the feed: then only what comes is read', async () => {
    const place = await placeOf(store.db, 'default', 'head');
    if ('reason' in place) expect.fail(place.message);
    await append('default', event('c'));
    expect((await readOn(ALL, place, 10)).subjects).toEqual(['c']);
  });
});
