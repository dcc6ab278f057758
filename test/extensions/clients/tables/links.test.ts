import { beforeEach, describe, expect, it } from 'vitest';
import { decideChecked, decideRemembered, type LinkDecision } from '../../../../src/extensions/clients/link.ts';
import { after } from '../../../../src/base/instant.ts';
import {
  correctCheckTimes,
  linkEvents,
  FIRST_CHECK,
  linksToCheck,
  listLinks,
  readLink,
  saveLink,
} from '../../../../src/extensions/clients/tables/links.ts';
import type { Store } from '../../../../src/store/port.ts';
import { isSqlite, newTestDatabase, ofSqlite } from '../../../support/database.ts';
import type { Merchant } from '../../../support/merchant.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const account = 'default';

let store: Store;
/** Another program's connection: plain, with no settings of its own. */
let other: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  other = database.connect();
});

function made(linkId: string, at = NOW, status = 'NOT_VERIFIED'): LinkDecision {
  return decideRemembered(undefined, { account, link_id: linkId, status, reference: null, source: 'created' }, at);
}

const save = async (...decisions: LinkDecision[]) =>
  await store.writer.write(async (tx) => {
    for (const decision of decisions) await saveLink(tx, undefined, decision, new Date(decision.link.last_checked_at));
  });

describe('a remembered link', () => {
  it('comes back as it was written, ids, statuses and references verbatim', async () => {
    const told = { account, link_id: `it's "1"; 5`, status: '5', reference: 'ß%_ 007', source: 'followed' as const };
    const { link, events } = decideRemembered(undefined, told, NOW);
    const missing = { ...link, missing_since: after(NOW, 5).toISOString() };
    await save({ link: missing, events });
    expect(await readLink(store.db, account, told.link_id)).toEqual(missing);
  });

  it('is one row however often it is written, and keeps its time of creation and its source', async () => {
    await save(made('a'));
    const later = after(NOW, 1_000);
    const row = await readLink(store.db, account, 'a');
    const known = { ...row!, created_at: later.toISOString(), source: 'followed' };
    await save(decideChecked(known, { kind: 'found', status: 'VERIFIED' }, later));
    expect(other.prepare('select count(*) from links').pluck().get()).toBe(1);
    expect(await readLink(store.db, account, 'a')).toMatchObject({
      status: 'VERIFIED',
      created_at: NOW.toISOString(),
      source: 'created',
      updated_at: later.toISOString(),
    });
  });

  it('is written together with its events or not at all', async () => {
    other.exec(`create trigger no_events before insert on events begin select raise(abort, 'no events'); end`);
    await expect(save(made('a'))).rejects.toThrow('no events');
    expect(await readLink(store.db, account, 'a')).toBeUndefined();
  });

  it('has no column that an e-mail address would belong in', () => {
    const source = isSqlite()
      ? 'select name from pragma_table_info(?)'
      : 'select column_name from information_schema.columns where table_name = ?';
    const columns = (table: string) => other.prepare(source).pluck().all(table);
    expect([...columns('links'), ...columns('events')].join(' ')).not.toMatch(/mail|address/);
    expect(columns('links')).toHaveLength(9);
  });
});

describe('the history of links', () => {
  it('is read link by link, oldest first', async () => {
    const { link } = made('a');
    await save(made('a'), made('b'), decideChecked(link, { kind: 'not-found' }, after(NOW, 1_000)));
    const events = await linkEvents(store.db, account, 'a');
    expect(events.map(({ field, observed_at }) => [field, observed_at])).toEqual([
      ['status', NOW.toISOString()],
      ['missing', after(NOW, 1_000).toISOString()],
    ]);
  });
});

describe('links to check', () => {
  const query = { account, finalStatuses: [] as string[], before: after(NOW, 10_000), from: FIRST_CHECK, limit: 2 };

  it('come a page at a time, the longest waiting first, each once', async () => {
    await save(made('c'), made('b', after(NOW, 1)), made('a', after(NOW, 1)), made('d', after(NOW, 2)));
    const first = await linksToCheck(store.db, query);
    const second = await linksToCheck(store.db, { ...query, from: first[1]! });
    const third = await linksToCheck(store.db, { ...query, from: second[1]! });
    expect([first, second, third].map((page) => page.map(({ link_id }) => link_id))).toEqual([
      ['c', 'a'],
      ['b', 'd'],
      [],
    ]);
  });

  it('are those of this account that are not final and were not checked since', async () => {
    await save(made('open'), made('done', NOW, 'VERIFIED'), made('refused', NOW, 'REFUSED'));
    await save(made('just now', query.before), made('a moment ago', after(query.before, -1)));
    const foreign = made('foreign');
    await save({ ...foreign, link: { ...foreign.link, account: 'other' } });
    const ids = async (finalStatuses: string[]) =>
      (await linksToCheck(store.db, { ...query, finalStatuses, limit: 10 })).map(({ link_id }) => link_id);
    expect(await ids(['VERIFIED', 'REFUSED'])).toEqual(['open', 'a moment ago']);
    expect(await ids(['VERIFIED'])).toEqual(['open', 'refused', 'a moment ago']);
    expect(await ids([])).toEqual(['done', 'open', 'refused', 'a moment ago']);
  });

  it('are found in the index alone, however many final ones there are', ofSqlite('its plans'), () => {
    const plan = other
      .prepare(
        `explain query plan select link_id, last_checked_at from links where account = 'default'
         and last_checked_at < 'z' and (last_checked_at, link_id) > ('', '') and status not in ('VERIFIED')
         order by last_checked_at, link_id limit 200`,
      )
      .all() as { detail: string }[];
    expect(plan.map(({ detail }) => detail).join('\n')).toMatch(/^SEARCH links USING COVERING INDEX links_to_check/);
    expect(plan.map(({ detail }) => detail).join('\n')).not.toMatch(/TEMP B-TREE/);
  });

  it('include those whose check was written under a clock ahead of this one, once that is put right', async () => {
    await save(made('ahead', after(NOW, 1_000_000)), made('not ahead'));
    const moved = await store.writer.write((tx) =>
      correctCheckTimes(tx, { account, latest: after(NOW, 5), to: after(NOW, 2), limit: 10 }),
    );
    expect(moved).toBe(1);
    const found = await linksToCheck(store.db, query);
    expect(found).toEqual([
      { link_id: 'not ahead', last_checked_at: NOW.toISOString() },
      { link_id: 'ahead', last_checked_at: after(NOW, 2).toISOString() },
    ]);
  });
});

describe('the list of links', () => {
  it('has the newest first, of one status or of all, and no more than wanted', async () => {
    await save(made('a'), made('c', after(NOW, 2)), made('b', after(NOW, 1), 'VERIFIED'), made('d', after(NOW, 2)));
    const ids = async (limit: number, status?: string) =>
      (await listLinks(store.db, { account, status, limit })).map(({ link_id }) => link_id);
    expect(await ids(10)).toEqual(['c', 'd', 'b', 'a']);
    expect(await ids(2)).toEqual(['c', 'd']);
    expect(await ids(10, 'VERIFIED')).toEqual(['b']);
    expect(await ids(10, 'verified')).toEqual([]);
  });
});
