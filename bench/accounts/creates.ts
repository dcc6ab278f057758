import type pg from 'pg';
import { startStandby } from '../../test/support/postgres-server.ts';
import { startChild, startEngine, startSandboxChild } from '../child.ts';
import { middle, type Figure } from '../figures.ts';
import { insertOrders, orderOf } from '../orders.ts';
import type { Round, Took } from '../round.ts';
import { makeDatabase, type ServerBench } from './server.ts';

const TARGETS = { aSecond: 1_000, aSecondReplicated: 400, cpuOfSqlite: 2 };
type Side = 'engine' | 'sqlite' | 'bare';

/**
 * Creates a second of one worker, every intent and result synced to the disk, in turns with the engine on SQLite and with a loop of
 * bare requests; and then with a synchronous standby beside the server, which every intent must be on.
 */
export async function measureCreates(bench: ServerBench): Promise<Figure[]> {
  const { folder, path, sizes, say } = bench;
  await using sandbox = await startSandboxChild(folder);
  const { url } = sandbox.ready;
  await using sqlite = await startEngine(folder, url, path);
  await using bare = await startChild<Round, Took>('./bare.ts', [url], { folder, name: 'bare' });
  const database = await makeDatabase(bench, 'creates');
  const measure = async (name: string, isReplicated: boolean) => {
    const environment = { ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS: isReplicated ? '1' : '0' };
    await using engine = await startEngine(folder, url, database, environment);
    const took: Record<Side, Took>[] = [];
    // Round 0 warms all sides up.
    for (let round = 0; round <= sizes.rounds; round += 1) {
      const batch = `${name}${round}`;
      await insert(bench, batch);
      insertOrders(path, batch, sizes.orders);
      const create = { kind: 'create', batch, count: sizes.orders, aheadMs: 0 } as const;
      const one = {
        engine: await engine.ask(create),
        sqlite: await sqlite.ask(create),
        bare: await bare.ask({ ...create, batch: `bare-${batch}` }),
      };
      if (round > 0) took.push(one);
      say(`accounts: creates, ${name}, round ${round} of ${sizes.rounds}`);
    }
    return { name, rates: ratesOf(took, sizes.orders), took };
  };
  const alone = await measure('alone', false);
  await using standby = await startStandby(bench.bin, bench.server, 'standby');
  say(`accounts: a standby receives on port ${standby.port}`);
  await withAdmin(bench, 'postgres', async (admin) => {
    await admin.query('grant pg_read_all_stats to order_sync');
    await admin.query(`alter system set synchronous_standby_names = 'ANY 1 (standby)'`);
    await admin.query('select pg_reload_conf()');
  });
  const replicated = await measure('replicated', true);
  await withAdmin(bench, 'postgres', async (admin) => {
    await admin.query('alter system reset synchronous_standby_names');
    await admin.query('select pg_reload_conf()');
  });
  return figuresOf(alone.rates, replicated.rates, alone.took, sizes.orders);
}

function figuresOf(
  alone: Readonly<Record<Side, number[]>>,
  replicated: Readonly<Record<Side, number[]>>,
  took: readonly Record<Side, Took>[],
  count: number,
): Figure[] {
  const cpu = (side: Side) => took.map((one) => one[side].cpuMs / count);
  const ratio = took.map(({ engine, sqlite }) => engine.cpuMs / sqlite.cpuMs);
  const unit = 'orders/s';
  return [
    { name: 'PostgreSQL: create, engine', unit, ...middle(alone.engine), target: { atLeast: TARGETS.aSecond } },
    {
      name: 'PostgreSQL: create, engine, with a synchronous standby',
      unit,
      ...middle(replicated.engine),
      target: { atLeast: TARGETS.aSecondReplicated },
    },
    { name: 'SQLite: create, engine beside it', unit, ...middle(alone.sqlite) },
    { name: 'PostgreSQL: create, bare got beside it', unit, ...middle(alone.bare) },
    { name: 'PostgreSQL: create, CPU of the engine', unit: 'ms/order', ...middle(cpu('engine')) },
    { name: 'PostgreSQL: create, CPU of bare got', unit: 'ms/order', ...middle(cpu('bare')) },
    {
      name: 'create, CPU on PostgreSQL / on SQLite',
      unit: '',
      ...middle(ratio),
      target: { atMost: TARGETS.cpuOfSqlite },
    },
  ];
}

function ratesOf(took: readonly Record<Side, Took>[], count: number): Record<Side, number[]> {
  const rates = (side: Side) => took.map((one) => (count * 1_000) / one[side].ms);
  return { engine: rates('engine'), sqlite: rates('sqlite'), bare: rates('bare') };
}

async function insert(bench: ServerBench, batch: string): Promise<void> {
  const orders = Array.from({ length: bench.sizes.orders }, (_, index) => orderOf(batch, index));
  await withAdmin(bench, 'creates', async (shop) => {
    await shop.query(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
        select "externalOrderId", asset, "fromCurrency", "toCurrency" from jsonb_to_recordset($1::jsonb)
        as o ("externalOrderId" text, asset text, "fromCurrency" text, "toCurrency" text)`,
      [JSON.stringify(orders)],
    );
  });
}

async function withAdmin(
  { server }: ServerBench,
  database: string,
  work: (admin: pg.Pool) => Promise<void>,
): Promise<void> {
  const admin = server.admin(database);
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
