import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPass } from '../../../../src/orders/create.ts';
import {
  dashboardReader,
  RANGES,
  type DashboardFacts,
  type RangeName,
} from '../../../../src/extensions/health/dashboard/read-facts.ts';
import { orderPath } from '../../../../src/extensions/health/dashboard/markup.ts';
import { moneyText } from '../../../../src/extensions/health/dashboard/front/orders.ts';
import { moneyGroup } from '../../../../src/extensions/reports/summary.ts';
import { judgeStatus } from '../../../../src/extensions/health/status/problems.ts';
import type { FailOver } from '../../../../src/accounts/rules/fail-over.ts';
import { decideFindings } from '../../../../src/findings/rules/finding.ts';
import { saveFailOver } from '../../../../src/store/tables/fail-overs.ts';
import { saveFindings } from '../../../../src/store/tables/findings.ts';
import { endHolds, setHold } from '../../../../src/store/tables/account-holds.ts';
import { readOverview } from '../../../../src/extensions/health/tables/overview.ts';
import { configOf } from '../../../../src/settings/config.ts';
import { decideOrders } from '../../../../src/extensions/operate/decide-orders.ts';
import { storyOf } from '../../../../src/extensions/reports/story/read-story.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { acceptedOrders, scriptedProgram, type TestProgram } from '../../../support/test-program.ts';
import { testOps } from '../../../support/ops-endpoint.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { withSettings } from '../../../support/settings.ts';

const NEVER = new AbortController().signal;
const HOSTILE = `"'><script>alert(1)</script>`;

describe('the dashboard of a program', () => {
  it('shows the orders by state, and a pause at the moment it is there', async () => {
    const { program, get } = await testOps();
    program.insert({ external_order_id: 'shop-1' }, { external_order_id: 'shop-2', asset: 'x' });
    await createPass(program.app, NEVER);
    expect(await stateOf(get, 'accepted')).toBe('1');
    expect(await stateOf(get, 'invalid')).toBe('1');
    const now = program.clock.now();
    const hold = { kind: 'all-paused', since: now, until: null, reason: HOSTILE, actor: 'kim' } as const;
    await program.app.store.writer.write((tx) => setHold(tx, 'default', hold, now));
    program.clock.advance(2_000);
    const page = await (await get('/')).text();
    expect(page).toContain('order-sync resume --reason TEXT');
    expect(page).not.toContain('<script>alert');
  });

  it('reads the database once for all who look at the same moment', async () => {
    const { program, get } = await testOps();
    const pages = await Promise.all([1, 2, 3].map(async () => await (await get('/')).text()));
    program.insert({ external_order_id: 'shop-1' });
    pages.push(await (await get('/')).text());
    expect(new Set(pages).size).toBe(1);
    program.clock.advance(2_000);
    expect(await (await get('/')).text()).not.toBe(pages[0]);
  });

  it('says that the settings file has changed since the daemon read it', async () => {
    const file = join(temporaryFolder(), 'shop.yaml');
    writeFileSync(file, 'log: { level: warn }\n', { mode: 0o600 });
    const { program, get } = await testOps({ environment: { ORDER_SYNC_CONFIG: file } });
    const isNamed = async () => (await (await get('/')).text()).includes(file);
    expect(await isNamed()).toBe(false);
    utimesSync(file, 0, 0);
    program.clock.advance(2_000);
    expect(await isNamed()).toBe(true);
  });

  it('advises on a finding as the story of its order does, also after a decision', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    answers.set('a', record('a', { creationDate: '2024-03-01T10:00:00Z' }));
    await lookUp();
    const seenAt = program.clock.now().toISOString();
    const advised = async (openSince: string | null) => {
      program.clock.advance(60_000);
      const { troubles } = await readerOf(program)('default', '24h');
      const { story } = (await storyOf(program.app.store, configOf(program.config, 'default'), 'a', {
        asOf: program.clock.now(),
      }))!;
      const { advice = '', since } = troubles.find(({ about }) => about.class === 'ID_COLLISION')!;
      expect(since).toBe(openSince);
      expect(story.next.filter((line) => line.includes('--as ours'))).toHaveLength(
        advice.includes('--as ours') ? 1 : 0,
      );
      return { advice, isTold: story.next.some((line) => line.endsWith(advice)) };
    };
    expect(await advised(seenAt)).toMatchObject({
      advice: expect.stringContaining('--as ours') as string,
      isTold: false,
    });
    const action = { judgement: { kind: 'abandoned' }, actor: 'anna', reason: 'r' } as const;
    await Array.fromAsync(decideOrders(program.app, [{ externalOrderId: 'a' }], action));
    expect(await advised(null)).toMatchObject({ isTold: true });
  });

  it('names the fail-over and its account in the command about orders in doubt', async () => {
    const { program } = await scriptedProgram();
    const now = program.clock.now();
    const found = { class: 'FAIL_OVER', expected: 'every commit from before fail-over 7', actual: '1' } as const;
    await program.app.store.writer.write(async (tx) => {
      for (const id of [3, 7]) await saveFailOver(tx, 'default', { id } as FailOver, now);
      const changes = decideFindings([], [found], ['FAIL_OVER']);
      await saveFindings(tx, { account: 'default', externalOrderId: null }, changes, now);
    });
    const { troubles } = await readerOf(program)('default', '24h');
    const { advice } = troubles.find(({ about }) => about.class === 'FAIL_OVER')!;
    expect(advice).toMatch(/^Ask .* --failover 7 --sent --file /);
  });

  it('puts unknown outcomes that a person has decided last, and counts their money with their state alone', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => ({ status: 500 });
    program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    await createPass(program.app, NEVER);
    const judgement = { kind: 'not-created', mayDuplicate: true } as const;
    const action = { judgement, actor: 'anna', reason: 'r' };
    await Array.fromAsync(decideOrders(program.app, [{ externalOrderId: 'a' }], action));
    const { troubles } = await readerOf(program)('default', '24h');
    const [open, decided] = troubles.filter(({ about }) => about.class === 'CREATE_UNKNOWN');
    expect(open).toMatchObject({ code: 'finding', count: 1, stake: { amounts: [] } });
    expect(open?.advice).toContain('by itself');
    expect(decided).toMatchObject({ code: 'decided', count: 1, advice: '' });
    expect(troubles.at(-1)).toBe(decided);
    expect(troubles.find(({ code }) => code === 'unknown')?.stake?.amounts).toHaveLength(1);
  });

  it('counts the money and the age of a class without the orders that a person has decided', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a', 'b']);
    const currencyPair = { fromCurrency: 'BTC', toCurrency: 'EUR' };
    const exchangeOperation = { currencyPair, inputAsset: 7 };
    const other = (id: string) => record(id, { creationDate: '2024-03-01T10:00:00Z', exchangeOperation });
    answers.set('a', other('a'));
    await lookUp();
    answers.set('b', other('b'));
    await lookUp();
    const seenAt = program.clock.now().toISOString();
    const by = { actor: 'anna', reason: 'r' } as const;
    for (const [externalOrderId, kind] of [
      ['a', 'abandoned'],
      ['b', 'ours'],
    ] as const) {
      await Array.fromAsync(decideOrders(program.app, [{ externalOrderId }], { judgement: { kind }, ...by }));
    }
    const { troubles } = await readerOf(program)('default', '24h');
    const [open, decided] = troubles.filter(({ about }) => about.class === 'AMOUNT_MISMATCH');
    expect(open).toMatchObject({ count: 1, since: seenAt, concerned: { status: 'undecided' } });
    expect(open?.stake?.amounts).toEqual([{ currency: 'BTC', amount: '1.5' }]);
    expect(open?.remedy).toContain('--status undecided');
    expect(decided).toMatchObject({ code: 'decided', count: 1, concerned: { status: 'decided' } });
    expect(decided?.remedy).toBe('order-sync findings ack --class AMOUNT_MISMATCH --decided --reason TEXT');
  });

  it('is read once at a time, however long a reading takes and whoever looks meanwhile', async () => {
    const { program, activities } = await testOps();
    const waiting = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    let reads = 0;
    const disk = async () => {
      reads += 1;
      begun.resolve(undefined);
      return await waiting.promise;
    };
    const read = readerOf(program, disk, activities);
    const first = read(undefined, '24h');
    await begun.promise;
    program.clock.advance(60_000);
    const second = read(undefined, '24h');
    waiting.resolve(undefined);
    expect(await second).toBe(await first);
    expect(reads).toBe(1);
  });

  it('is of one moment, whatever is written while it is read', async () => {
    const { get } = await testOps({
      instead: (program) => ({
        store: {
          ...program.app.store,
          async snapshot() {
            const snapshot = await program.app.store.snapshot();
            program.insert({ external_order_id: 'late' });
            return snapshot;
          },
        },
      }),
    });
    const page = await (await get('/')).text();
    expect([page.includes('There are no orders yet'), page.includes('0 orders were inserted')]).toEqual([true, true]);
  });

  it.each([
    ['1h', 12],
    ['24h', 24],
    ['7d', 28],
    ['constructor', 24],
  ] as const)('counts what orders did in the range %s', async (range, steps) => {
    const { program, ops, activities } = await testOps();
    program.insert({ external_order_id: 'shop-1' });
    await createPass(program.app, NEVER);
    const page = await (await fetch(`${ops.url}/?range=${range}`)).text();
    expect(/aria-current="true">([^<]+)/.exec(page)?.[1]).toBe({ 12: '1 hour', 24: '24 hours', 28: '7 days' }[steps]);
    const own = { activities, accounts: { names: ['default'] }, heedDecision: async () => {} };
    const about = { version: '0.0.0', startedAt: '2026-01-05T10:00:00.000Z' };
    const readings = { disk: async () => undefined, overview: async () => ({ overview: null, failure: '' }) };
    const read = dashboardReader({ ...program.app, config: program.config, ...own, ...about, readings });
    const { activity } = await read('default', Object.hasOwn(RANGES, range) ? (range as RangeName) : '24h');
    expect(activity?.starts).toHaveLength(steps);
    // All happened in the step that is not over yet.
    for (const orders of [activity?.moves.inserted, activity?.moves.accepted]) {
      expect(orders).toEqual([...Array.from({ length: steps - 1 }, () => 0), 1]);
    }
  });

  it('adds the amounts of accounts since one time if one account has too many orders', async () => {
    const { program } = await scriptedProgram();
    const [account] = program.config.accounts;
    const config = { ...program.config, accounts: ['default', 'b'].map((name) => ({ ...account!, name })) };
    const now = program.clock.now().getTime();
    const insert = (name: string, orders: number, since: number) => {
      const rows = Array.from({ length: orders }, (_, index) => {
        return `('${name}', 'o${index}', '${new Date(since + index).toISOString()}', '1', '${name}', 'EUR')`;
      });
      program.merchant.exec(`insert into merchant_orders
        (account, external_order_id, created_at, asset, from_currency, to_currency) values ${rows.join(', ')}`);
    };
    insert('default', 5_002, now - 60_000);
    insert('b', 3, now - 120_000);
    const { activity } = await readerOf({ ...program, config })(undefined, '24h');
    const counts = activity?.money.map(({ pair, orders }) => [pair, orders]);
    expect([activity?.moneySince, counts]).toEqual([
      new Date(now - 60_000 + 1).toISOString(),
      [['default/EUR', 5_001]],
    ]);
  });

  it('tells the newest changes of an order in one line', async () => {
    const { program, get } = await testOps();
    program.insert({ external_order_id: 'shop-1' });
    await createPass(program.app, NEVER);
    const [, list = ''] = /<ol class="panel events"[^>]*>(.*?)<\/ol>/s.exec(await (await get('/')).text()) ?? [];
    expect(list.match(/<li>/g)).toHaveLength(1);
    expect(list.replaceAll(/<[^>]+>/g, '')).toContain('shop-1 pending → sending → accepted');
  });

  it('says with a problem what money is at stake, exactly', async () => {
    const { program, get } = await testOps();
    for (const asset of ['0.1', '0.200000000000000000001']) program.insert({ external_order_id: asset, asset });
    const now = program.clock.now();
    const hold = { kind: 'key-refused', since: now, until: null, reason: 'HTTP 401', actor: null } as const;
    await program.app.store.writer.write((tx) => setHold(tx, 'default', hold, now));
    const text = (await (await get('/')).text()).replaceAll(/<[^>]+>/g, '');
    expect(text).toContain('2 orders wait to be sent: 0.300000000000000000001\u00a0BTC');
  });

  it('says which program answers, for which account, at which exchange, and since when', async () => {
    const { program, get } = await testOps();
    program.clock.advance(7_200_000);
    const [, bar = ''] = /<p id="program" data-live>(.*?)<\/p>/s.exec(await (await get('/')).text()) ?? [];
    const text = bar.replaceAll(/<[^>]+>/g, '');
    expect(text).toMatch(
      /^sandbox version 0\.0\.0 account default running since [\d: -]+ UTC \(2 h\) as of [\d: -]+ UTC$/,
    );
  });

  it('has a page for what is not there if a browser asks, and JSON for programs', async () => {
    const { get } = await testOps();
    for (const path of ['/nothing', '/orders/a/b']) {
      const page = await get(path, { accept: 'text/html,*/*;q=0.8' });
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(await page.text()).toContain('<a href="/">');
      const answer = await get(path);
      expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ status: 'refused' })]);
    }
  });

  it.each([
    ['the beginning of ids', 'shop', ['shop-1', 'shop-10', 'shop-2']],
    ['an id', 'shop-2', ['shop-2']],
    ['quotes and markup', HOSTILE, [HOSTILE]],
    ['what is no id', '%', []],
    ['SQL', "' or 1=1 --", []],
    ['10,000 characters', 'x'.repeat(10_000), []],
    ['a character that no text has', '\0', []],
  ])('finds orders by %s', async (_name, query, found) => {
    const { program, get } = await testOps();
    for (const id of ['shop-1', 'shop-2', 'shop-10', HOSTILE]) program.insert({ external_order_id: id });
    const answer = await get(`/orders?${new URLSearchParams({ q: query }).toString()}`);
    const page = await answer.text();
    const links = [...page.matchAll(/href="\/orders\/([^?"]*)\?/g)].map(([, id = '']) =>
      decodeURIComponent(id.replaceAll('&#39;', "'")),
    );
    expect([answer.status, links]).toEqual([200, found]);
    expect(page).not.toContain('<script>alert');
  });

  it('shows the story of an order, whatever its id', async () => {
    const { program, get } = await testOps();
    program.insert({ external_order_id: HOSTILE });
    await createPass(program.app, NEVER);
    const answer = await get(`/orders/${encodeURIComponent(HOSTILE)}?account=default`);
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(page).not.toContain('<script>alert');
    expect(page).toContain('id="timeline"');
    expect(answer.headers.get('content-security-policy')).toContain("style-src 'self';");
    expect(page).not.toMatch(/<style| style=/);
  });

  it.each(['', '.', '..'])('shows the story of an order whose id can be no part of a path: "%s"', async (id) => {
    const { program, get } = await testOps();
    program.insert({ external_order_id: id });
    const { pathname, search } = new URL(orderPath({ externalOrderId: id, account: 'default' }) ?? '', 'http://x');
    const answer = await get(pathname + search);
    expect([answer.status, (await answer.text()).includes('id="timeline"')]).toEqual([200, true]);
  });

  it.each([
    '/orders/nobody',
    '/orders/nobody?account=default',
    '/?account=nobody',
    `/?account=${encodeURIComponent(HOSTILE)}`,
  ])('has no page for what is not there: %s', async (path) => {
    const { get } = await testOps();
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await answer.text()).not.toContain('<script>alert');
  });

  it.each([null, 'succeeded'])('says of final orders whose outcome no setting tells which one does: %s', (outcome) => {
    const part = {
      account: 'default',
      from_currency: 'BTC',
      to_currency: 'EUR',
      asset_position: 'INPUT',
    };
    const final = { state: 'final', outcome, order_status: null, orders: 1, asset: '1', unreadable: 0 };
    const money = [moneyGroup({ ...part, ...final }, { outputPosition: undefined })];
    const page = moneyText({ activity: { starts: [], money, moneySince: null } } as unknown as DashboardFacts);
    expect(page.includes('follow.succeededStatuses')).toBe(outcome === null);
  });

  it('shows no secret and nothing of a person', async () => {
    const { program, get } = await testOps();
    program.insert({ external_order_id: 'shop-1' });
    program.merchant.exec(
      "update merchant_orders set crypto_address = 'canary-address', payment_token = 'canary-token' where external_order_id = 'shop-1'",
    );
    await createPass(program.app, NEVER);
    for (const path of ['/', '/orders?q=shop', '/orders/shop-1?account=default']) {
      const page = await (await get(path)).text();
      expect(page).not.toMatch(/canary/);
      expect(page).not.toContain(program.config.exchange.apiKey);
    }
  });
});

async function stateOf(get: (path: string) => Promise<Response>, state: string): Promise<string | undefined> {
  const page = await (await get('/')).text();
  return new RegExp(`<strong>(\\d+)</strong> <span>${state}</span>`).exec(page)?.[1];
}

describe('the first line of the dashboard', () => {
  it('says that all is well if order-sync status does, and never otherwise', async () => {
    const endpoint = { name: 'shop', url: 'https://shop.example', secrets: [], events: [], allowPrivate: false };
    const webhooks = { endpoints: [endpoint] };
    const { program, get } = await testOps({
      instead: ({ config }) => ({ config: withSettings(config, { ops: { listen: LOOPBACK }, webhooks }) }),
    });
    const { db, writer } = program.app.store;
    const isWell = async () => {
      program.clock.advance(2_000);
      const now = program.clock.now();
      const overview = await readOverview(db, { account: 'default', ...webhooks, now });
      const status = {
        asOf: now.toISOString(),
        database: '',
        daemon: DAEMON,
        driver: null,
        olderState: null,
        databaseAheadMs: null,
        overview,
      };
      const isWellHere = (await (await get('/')).text()).includes('<div class="verdict good">');
      expect(isWellHere).toBe(judgeStatus(status).end === 'well');
      return isWellHere;
    };
    expect(await isWell()).toBe(true);
    program.insert({ external_order_id: 'a' });
    expect(await isWell()).toBe(true);
    program.clock.advance(10 * 60_000);
    expect(await isWell()).toBe(false);
    await createPass(program.app, NEVER);
    expect(await isWell()).toBe(true);
    for (const kind of ['creates-paused', 'guarded', 'key-refused', 'forbidden', 'rate-limited'] as const) {
      const now = program.clock.now();
      await writer.write((tx) =>
        setHold(tx, 'default', { kind, since: now, until: null, reason: 'r', actor: null }, now),
      );
      expect(await isWell()).toBe(kind === 'rate-limited');
      await writer.write((tx) => endHolds(tx, 'default', [kind], { reason: 'r', actor: null, now }));
    }
    for (const counts of ['{"orders":{"unknown":1}}', '{"orders":{"held":1}}', '{"findings":{"STUCK":1}}']) {
      program.merchant.exec(`update event_heads set counts = '${counts}'`);
      expect(await isWell()).toBe(false);
    }
    program.merchant.exec(`update event_heads set counts = '{"findings":{"STATUS_UNMAPPED":1}}'`);
    expect(await isWell()).toBe(true);
    const receiver = program.merchant.prepare(
      `insert into webhook_endpoints (name, since, failing_since) values ('shop', '', ?)
        on conflict (name) do update set failing_since = excluded.failing_since`,
    );
    for (const [ageMs, isGood] of [
      [4 * 60_000, true],
      [6 * 60_000, false],
    ] as const) {
      receiver.run(new Date(program.clock.now().getTime() - ageMs).toISOString());
      expect(await isWell()).toBe(isGood);
    }
  });
});

function readerOf(
  program: TestProgram,
  disk: () => Promise<undefined> = async () => undefined,
  activities = program.activities,
): ReturnType<typeof dashboardReader> {
  const own = { activities, accounts: { names: ['default'] }, heedDecision: async () => {} };
  const readings = { disk, overview: async () => ({ overview: null, failure: '' }) };
  const about = { version: '0.0.0', startedAt: '2026-01-05T10:00:00.000Z' };
  return dashboardReader({ ...program.app, config: program.config, ...own, ...about, readings });
}

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const RATE = { spent: 0, requests: 1, intervalMs: 1_000 };
const DAEMON = {
  pid: 1,
  version: '',
  startedAt: '',
  owned: 1,
  driven: 1,
  rate: RATE,
  unwritten: null,
  opsFailure: null,
  seenLate: { count: 0, p50Ms: 0, p99Ms: 0 },
  overdue: null,
  accounts: [],
};
