import { describe, expect, it } from 'vitest';
import { createPass } from '../../../../src/orders/create.ts';
import { followPass } from '../../../../src/orders/follow.ts';
import { decideOrders } from '../../../../src/extensions/operate/decide-orders.ts';
import { setHold } from '../../../../src/store/tables/account-holds.ts';
import { type FindingRow } from '../../../../src/store/tables/findings.ts';
import { readOverview } from '../../../../src/extensions/health/tables/overview.ts';
import { correctCounts } from '../../../../src/extensions/restore/tables/counts.ts';
import { echo, NOT_FOUND, record, refusal } from '../../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../../support/test-program.ts';
import { DAY, MINUTE } from '../../../support/tracking.ts';
import { acknowledge } from '../../../../src/extensions/operate/tables/findings.ts';

const NEVER = new AbortController().signal;

/** Numbers that look random, the same in each run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const FINAL = { status: 'DONE', completionDate: '2026-01-05T12:00:00Z', serverDate: '2026-01-05T12:00:00Z' };

/** Plays a few days of an exchange that answers in all ways, with a person who decides now and then. */
async function played(seed: number): Promise<TestProgram> {
  const random = chance(seed);
  const anyOf = <Item>(...items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const { program, exchange } = await scriptedProgram({ environment: { ORDER_SYNC_CREATE_VERIFY_AFTER: '[1m, 1h]' } });
  exchange.answer = (request) => {
    const id = request.externalOrderId;
    if (request.method === 'POST') return anyOf(echo(request, { id }), echo(request, { id }), refusal(400), 'reset');
    const input = anyOf('1.5', '1.5', '2.5');
    return anyOf(NOT_FOUND, record(id, { input }), record(id, { input, ...FINAL }), refusal(500));
  };
  for (let day = 0; day < 6; day += 1) {
    for (let order = 0; order < 6; order += 1)
      program.insert({ external_order_id: `${day}-${order}`, asset: anyOf('1.5', '1.5', 'x') });
    await createPass(program.app, NEVER);
    program.clock.advance(anyOf(MINUTE, DAY));
    await followPass(program.app, anyOf('due', 'all'), NEVER);
    await decide(program, random);
  }
  return program;
}

async function decide(program: TestProgram, random: () => number): Promise<void> {
  const by = { actor: 'a', reason: 'r' } as const;
  const { db, writer } = program.app.store;
  const orders = await db.selectFrom('merchant_orders').select(['external_order_id', 'state']).execute();
  for (const { external_order_id: externalOrderId, state } of orders) {
    if (random() > 0.3) continue;
    if (state === 'invalid')
      program.merchant.exec(`delete from merchant_orders where external_order_id = '${externalOrderId}'`);
    if (state !== 'held' && state !== 'accepted') continue;
    const judgement = { kind: 'abandoned' } as const;
    await Array.fromAsync(decideOrders(program.app, [{ externalOrderId }], { ...by, judgement }));
  }
  const findings: FindingRow[] = await db.selectFrom('findings').selectAll().where('status', '=', 'open').execute();
  for (const finding of findings)
    if (random() < 0.3)
      await writer.write(async (tx) => await acknowledge(tx, finding, { ...by, now: program.clock.now() }));
}

/** The rows of the tables, counted one by one. */
async function counted({ app }: TestProgram) {
  const { db } = app.store;
  const orders = await db.selectFrom('merchant_orders').select('state').execute();
  const findings = await db.selectFrom('findings').select('class').where('status', '=', 'open').execute();
  const count = (names: readonly string[]) =>
    Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
  return { orders: count(orders.map((row) => row.state)), findings: count(findings.map((row) => row.class)) };
}

describe('the counts that are kept', () => {
  it.each([1, 2, 3])('are those of the rows, whatever happened to them (%i)', async (seed) => {
    const program = await played(seed);
    const rows = await counted(program);
    expect(Object.keys(rows.orders).length).toBeGreaterThan(3);
    for (const account of ['default', undefined]) {
      const overview = await readOverview(program.app.store.db, { account, endpoints: [], now: program.clock.now() });
      expect(overview.accounts).toEqual([{ account: 'default', ...rows }]);
      expect(overview.orders).toMatchObject(rows.orders);
      expect(Object.fromEntries(overview.findings.map((one) => [one.class, one.open]))).toEqual(rows.findings);
    }
  });
});

describe('counts that somebody has changed', () => {
  it('are corrected, and others left as they are', async () => {
    const program = await played(1);
    const { store } = program.app;
    const rows = await counted(program);
    expect(await correctCounts(store)).toEqual([]);
    for (const counts of ['{"orders":{"final":99}}', '{}']) {
      program.merchant.exec(`update event_heads set counts = '${counts}'`);
      expect(await correctCounts(store)).toEqual(['default']);
      const { accounts } = await readOverview(store.db, {
        account: 'default',
        endpoints: [],
        now: program.clock.now(),
      });
      expect(accounts).toEqual([{ account: 'default', ...rows }]);
    }
    expect(await correctCounts(store)).toEqual([]);
  });
});

describe('an overview', () => {
  it('says since when an order is in its state, whatever changed of it later', async () => {
    const { program, exchange } = await scriptedProgram();
    let status = 'NEW';
    exchange.answer = ({ externalOrderId: id, ...request }) =>
      request.method === 'POST'
        ? echo({ externalOrderId: id, ...request }, { id })
        : record(id, { orderType: 'WITHDRAWAL', status });
    program.insert({ external_order_id: 'wrong', asset: '1.5' });
    await createPass(program.app, NEVER);
    program.clock.advance(MINUTE);
    await followPass(program.app, 'all', NEVER);
    const since = program.clock.now().toISOString();
    program.clock.advance(DAY);
    status = 'LATER';
    await followPass(program.app, 'all', NEVER);
    const { db } = program.app.store;
    const { updated_at } = await db.selectFrom('merchant_orders').select('updated_at').executeTakeFirstOrThrow();
    const { attention } = await readOverview(db, { account: 'default', endpoints: [], now: program.clock.now() });
    expect(updated_at > since).toBe(true);
    expect(attention).toMatchObject([{ externalOrderId: 'wrong', state: 'disputed', since }]);
  });

  it('names what waits, and for how long', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => {
      if (request.method !== 'POST') return NOT_FOUND;
      program.clock.advance(5_000);
      return 'reset';
    };
    program.insert({ external_order_id: 'lost' });
    await createPass(program.app, NEVER);
    const lostAt = program.clock.now().toISOString();
    program.clock.advance(MINUTE);
    const since = program.clock.now();
    const hold = { kind: 'all-paused', since, until: null, reason: 'r', actor: 'a' } as const;
    await program.app.store.writer.write(async (tx) => await setHold(tx, 'default', hold, since));
    program.insert({ external_order_id: 'waiting' });
    program.merchant.exec("insert into merchant_orders (account, external_order_id) values ('another', 'other')");
    const overview = await readOverview(program.app.store.db, { account: 'default', endpoints: [], now: since });
    expect(overview).toMatchObject({
      orders: { pending: 1, unknown: 1, final: 0 },
      oldestPending: { externalOrderId: 'waiting' },
      oldestUnknown: { externalOrderId: 'lost', since: lostAt },
      findings: [{ class: 'CREATE_UNKNOWN', severity: 'error', open: 1 }],
      holds: [{ account: 'default', kind: 'all-paused', since: since.toISOString(), actor: 'a' }],
      attention: [],
      lastEventAt: since.toISOString(),
    });
    expect(overview.newest[0]).toMatchObject({ type: 'account.paused' });
    const all = await readOverview(program.app.store.db, { account: undefined, endpoints: [], now: since });
    expect(all.orders).toMatchObject({ pending: 2, unknown: 1 });
    expect(all.accounts.map(({ account }) => account)).toEqual(['another', 'default']);
  });

  it('counts rows of accounts that the settings do not name and that no worker owns, while they wait', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => echo(request);
    const { store } = program.app;
    const read = async (...names: readonly string[]) => {
      const drivenAccounts = names.map((name) => ({ name }));
      const query = { account: 'default', endpoints: [], drivenAccounts, now: program.clock.now() };
      return (await readOverview(store.db, query)).otherAccounts;
    };
    expect(await read()).toEqual([]);
    program.insert({ external_order_id: 'a' });
    const inserted =
      "insert into merchant_orders (account, external_order_id) values ('defualt', 'a'), ('defualt', 'b')";
    program.merchant.exec(inserted);
    expect(await read('default')).toEqual([{ account: 'defualt', orders: 2 }]);
    expect(await read('defualt', 'default')).toEqual([]);
    program.merchant.exec("update account_owners set holder = 'w' where account = 'default'");
    expect((await read()).map(({ account }) => account)).not.toContain('default');
    program.merchant.exec("delete from merchant_orders where account = 'defualt'");
    expect(await read('default')).toEqual([]);
  });

  it('tells findings that a person has settled by a decision from others', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => 'reset';
    program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    await createPass(program.app, NEVER);
    const read = async () => {
      const query = { account: 'default', endpoints: [], now: program.clock.now() };
      return (await readOverview(program.app.store.db, query)).findings;
    };
    expect(await read()).toEqual([expect.objectContaining({ open: 2, decided: undefined })]);
    const judgement = { kind: 'not-created', mayDuplicate: true } as const;
    const action = { judgement, actor: 'anna', reason: 'r' };
    await Array.fromAsync(decideOrders(program.app, [{ externalOrderId: 'a' }], action));
    expect(await read()).toMatchObject([{ class: 'CREATE_UNKNOWN', open: 2, decided: 1 }]);
  });

  it('reads holds of each kind, however many accounts have one of another kind', async () => {
    const { program } = await scriptedProgram();
    const now = program.clock.now();
    for (let account = 0; account < 102; account += 1) {
      const kind = account === 101 ? 'key-refused' : 'rate-limited';
      const hold = { kind, since: now, until: now, reason: 'r', actor: null } as const;
      await program.app.store.writer.write(async (tx) => await setHold(tx, `${1_000 + account}`, hold, now));
    }
    const { holds } = await readOverview(program.app.store.db, { account: undefined, endpoints: [], now });
    expect(holds.filter(({ kind }) => kind === 'rate-limited')).toHaveLength(100);
    expect(holds.at(-1)).toMatchObject({ account: '1101', kind: 'key-refused' });
  });

  it('counts new invalid orders, and none that is old, was corrected or retried', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => echo(request);
    const { store } = program.app;
    const read = async (account?: string) => {
      const { newInvalid } = await readOverview(store.db, { account, endpoints: [], now: program.clock.now() });
      return newInvalid;
    };
    const insert = async (...ids: readonly string[]) => {
      program.insert(...ids.map((external_order_id) => ({ external_order_id, asset: 'x' })));
      await createPass(program.app, NEVER);
    };
    await insert('old');
    program.clock.advance(DAY + 1);
    expect(await read()).toBeNull();
    const since = program.clock.now().toISOString();
    await insert('a', 'b');
    program.clock.advance(MINUTE);
    await insert('c');
    for (const account of ['default', undefined]) expect(await read(account)).toEqual({ orders: 3, since });
    expect(await read('another')).toBeNull();
    program.merchant.exec("update merchant_orders set asset = '1' where external_order_id = 'a'");
    expect(await read()).toMatchObject({ orders: 2 });
    const judgement = { kind: 'retry', mayDuplicate: false } as const;
    await Array.fromAsync(
      decideOrders(program.app, [{ externalOrderId: 'b' }], { judgement, actor: 'a', reason: 'r' }),
    );
    expect(await read()).toMatchObject({ orders: 1 });
    program.clock.advance(DAY);
    expect(await read()).toBeNull();
  });

  it('counts a new invalid order beside any number of old ones', async () => {
    const { program } = await scriptedProgram();
    const { merchant, clock, app } = program;
    const since = clock.now().toISOString();
    const old = new Date(clock.now().getTime() - 2 * DAY).toISOString();
    merchant.exec(`with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 10000)
      insert into merchant_orders (external_order_id, created_at) select cast(i as varchar), '${old}' from numbers`);
    merchant.exec(`insert into merchant_orders (external_order_id, created_at) values ('new', '${since}')`);
    merchant.exec(`update merchant_orders set state = 'invalid', next_action_at = null, revision = revision + 1`);
    merchant.exec(`insert into event_heads (account, id, hash, counts)
      values ('default', 1, '', '{"orders":{"invalid":10001},"findings":{}}')`);
    const { newInvalid } = await readOverview(app.store.db, { account: 'default', endpoints: [], now: clock.now() });
    expect(newInvalid).toEqual({ orders: 1, since });
  });
});
