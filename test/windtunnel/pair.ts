import type pg from 'pg';
import {
  OWNER,
  PASSWORD,
  startPostgres,
  startStandby,
  type PostgresServer,
  type Standby,
} from '../support/postgres-server.ts';
import type { Ground } from './ground.ts';
import { postgresShop } from './shop.ts';
import { openWay, type Way } from './way.ts';

const NAME = 'tunnel';

/** A primary and its streaming standby, with a way for each of two workers. All ways lead to the primary at first. */
export interface Pair extends Ground {
  readonly ways: readonly [Way, Way];
  readonly standby: Standby;
  /** The address of the database on a worker's own way. */
  url(worker: 0 | 1): string;
  /** The shop's own connections. */
  readonly pool: pg.Pool;
  /** The primary is lost. */
  crash(): Promise<void>;
  /** Promotes the standby, and has the shop write there; a synchronous one gets a standby of its own. */
  promote(): Promise<void>;
}

/** Starts a primary and a standby; with `isSynchronous` its commits wait for that. */
export async function startPair(bin: string, isSynchronous: boolean): Promise<Pair> {
  await using undo = new AsyncDisposableStack();
  const shops: ReturnType<typeof postgresShop>[] = [];
  // A commit that waits for a standby ends with its server, and not before.
  undo.defer(async () => void (await Promise.all(shops.map((one) => one[Symbol.asyncDispose]()))));
  const primary = undo.use(await startPostgres(bin));
  await run(primary, [`create database ${NAME} owner ${OWNER}`, `grant pg_read_all_stats to ${OWNER}`]);
  const standby = undo.use(await startStandby(bin, primary));
  if (isSynchronous) await waitForStandby(primary);
  const ways = [undo.use(await openWay(primary.port)), undo.use(await openWay(primary.port))] as const;
  let shop = postgresShop(primary, NAME);
  shops.push(shop);
  const url = (worker: 0 | 1) => `postgres://${OWNER}@127.0.0.1:${ways[worker].port}/${NAME}`;
  const disposal = undo.move();
  return {
    ways,
    standby,
    url,
    database: { url: url(0), password: PASSWORD, poolSize: 8, synchronousStandbys: isSynchronous ? 1 : 0 },
    get shop() {
      return shop;
    },
    get pool() {
      return shop.pool;
    },
    crash: () => primary.stop('immediate'),
    async promote() {
      await standby.promote();
      if (isSynchronous) {
        disposal.use(await startStandby(bin, standby));
        await waitForStandby(standby);
      }
      shop = postgresShop(standby, NAME);
      shops.push(shop);
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/** Has commits wait for the standby from now on. */
async function waitForStandby(server: PostgresServer): Promise<void> {
  await run(server, [`alter system set synchronous_standby_names = 'standby'`, 'select pg_reload_conf()']);
  while (!(await run(server, [`select exists (select from pg_stat_replication where sync_state = 'sync') as is`])));
}

/** Runs statements as the superuser; true if the last one says so. */
async function run(server: PostgresServer, statements: readonly string[]): Promise<boolean> {
  const admin = server.admin();
  try {
    let is: boolean | undefined;
    for (const sql of statements) is = (await admin.query<{ is?: boolean }>(sql)).rows[0]?.is;
    return is === true;
  } finally {
    await admin.end();
  }
}
