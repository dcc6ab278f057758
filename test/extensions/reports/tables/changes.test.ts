import { beforeEach, describe, expect, it } from 'vitest';
import { newestEventId } from '../../../../src/store/tables/chain.ts';
import { changesOf, type ChangesScope } from '../../../../src/extensions/reports/tables/changes.ts';
import type { Store } from '../../../../src/store/port.ts';
import { eventWriter } from '../../../support/events.ts';
import { newTestDatabase } from '../../../support/database.ts';
import type { Merchant } from '../../../support/merchant.ts';

const DAY_MS = 86_400_000;
const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');
const EVERYTHING: ChangesScope = { account: 'default', lastId: Number.MAX_SAFE_INTEGER };

let store: Store;
let merchant: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  merchant = database.connect();
});

/** A number of events, one a minute from the beginning of the year on. */
function put(count: number, account = 'default'): void {
  const write = eventWriter(merchant);
  const event = { account, external_order_id: 'a', field: 'order.status' };
  merchant.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      write({ ...event, new_value: String(index), observed_at: new Date(BEGIN + index * 60_000).toISOString() });
    }
  })();
}

async function values(scope: ChangesScope): Promise<(string | null)[]> {
  const all: (string | null)[] = [];
  for await (const change of changesOf(store.db, scope)) all.push(change.new_value);
  return all;
}

describe('the changes of a period', () => {
  it('are all of them, once each, in the order in which they were recorded, however many', async () => {
    put(5_000);
    const lastId = await newestEventId(store.db, 'default');
    expect(lastId).toBe(5_000);
    const all = await values({ ...EVERYTHING, lastId });
    expect(all).toEqual(Array.from({ length: 5_000 }, (_, index) => String(index)));
  });

  it('begin at its beginning and end before its end', async () => {
    put(3 * 1_440);
    const from = new Date(BEGIN + DAY_MS).toISOString();
    const to = new Date(BEGIN + 2 * DAY_MS).toISOString();
    const day = await values({ ...EVERYTHING, from, to, lastId: await newestEventId(store.db, 'default') });
    expect([day.length, day[0], day.at(-1)]).toEqual([1_440, '1440', '2879']);
  });

  it('are those of the account, recorded until the report began', async () => {
    put(10);
    const lastId = await newestEventId(store.db, 'default');
    put(5, 'other');
    put(7);
    expect(await values({ ...EVERYTHING, lastId })).toHaveLength(10);
    expect(await values({ ...EVERYTHING, lastId: await newestEventId(store.db, 'default') })).toHaveLength(17);
  });

  it('are none if nothing has happened', async () => {
    expect(await newestEventId(store.db, 'default')).toBe(0);
    expect(await values({ ...EVERYTHING, lastId: 0 })).toEqual([]);
  });
});
