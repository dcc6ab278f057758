import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { stringify } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { startSandbox, type LoggedRequest } from '../../src/extensions/sandbox/server.ts';
import { Workers } from '../../test/windtunnel/workers.ts';
import { KEY } from '../settings.ts';
import { makeDatabase, type ServerBench } from './server.ts';

/** Each shop inserts an order so often. */
const INSERT_EVERY_MS = 1_000;
const LOOK_MS = 50;
/** A take-over that is slower than this will not happen. */
const LONGEST_MS = 120_000;

/** A worker that lives, as the database has it, and its accounts. */
export interface SeenWorker {
  readonly holder: string;
  readonly accounts: readonly string[];
}

/** Shops, the busy ones of which insert orders all the time, and workers that share them. */
export interface Shops extends AsyncDisposable {
  readonly workers: Workers;
  /** Connections of the superuser. */
  readonly admin: pg.Pool;
  /** Inserts an order in each busy account. */
  insert(): Promise<void>;
  /** Has the busy shops insert an order each second from now on. */
  begin(): void;
  /** Reads who drives which account. */
  seen(): Promise<readonly SeenWorker[]>;
  /**
   * Waits until each account has an owner and no worker has more than one account over another; returns how long it took, NaN if it did not
   * happen.
   */
  untilFair(workers: number): Promise<number>;
}

export interface ShopsOptions {
  readonly accounts: number;
  /** Every account by default. */
  readonly busy?: readonly string[];
  /** Settings of the accounts; those of the program hold otherwise. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly onRequest?: (account: string, request: LoggedRequest) => void;
}

/** A look at each tick of each second, and a rate that does not bind. */
export const HURRY = { schedule: { cron: '* * * * * *' }, rate: { requests: 1_000 } };

/** Opens shops on a new database, each with its own key at a sandbox in this process. */
export async function openShops(
  bench: ServerBench,
  name: string,
  { accounts: count, busy, settings: { rate, ...others } = {}, onRequest = () => {} }: ShopsOptions,
): Promise<Shops> {
  await using undo = new AsyncDisposableStack();
  const url = await makeDatabase(bench, name);
  const folder = join(bench.folder, name);
  mkdirSync(folder);
  const accounts = Array.from({ length: count }, (_, index) => accountOf(index));
  const [apiKey = '', ...otherKeys] = accounts.map(keyOf);
  const sandbox = undo.adopt(
    await startSandbox({
      apiKey,
      otherKeys,
      clock: systemClock(),
      random: seededRandom(1),
      speed: 20,
      onRequest: (request) => onRequest(request.externalOrderId?.split(':')[0] ?? '', request),
    }),
    (exchange) => exchange.close(),
  );
  const settings = {
    database: { url },
    ...others,
    exchange: { baseUrl: sandbox.url, ...(rate === undefined ? {} : { rate }) },
    ops: { listen: 'off' },
    follow: {
      finalStatuses: ['COMPLETED', 'REJECTED'],
      openStatuses: ['REQUEST', 'IN_PROGRESS'],
      recheckFinalAfter: [],
    },
    accounts: Object.fromEntries(accounts.map((account) => [account, { exchange: { apiKey: keyOf(account) } }])),
  };
  const file = join(folder, 'settings.yaml');
  writeFileSync(file, stringify(settings), { mode: 0o600 });
  const admin = undo.adopt(bench.server.admin(name), (pool) => pool.end());
  const workers = undo.use(
    new Workers({ folder, settingsFile: file, fail: (what) => void process.stderr.write(`${what}\n`) }),
  );
  const isOver = new AbortController();
  const insert = inserterOf(admin, busy ?? accounts);
  let inserting: Promise<void> | undefined;
  undo.defer(async () => {
    isOver.abort();
    await inserting;
  });
  const disposal = undo.move();
  const seen = () => seenWorkers(admin);
  return {
    workers,
    admin,
    insert,
    begin: () => void (inserting = insertAllTheTime(insert, isOver.signal)),
    seen,
    async untilFair(wanted) {
      const start = performance.now();
      while (performance.now() - start < LONGEST_MS) {
        const sizes = (await seen()).map((worker) => worker.accounts.length);
        const isDriven = sizes.reduce((sum, size) => sum + size, 0) === count;
        if (sizes.length === wanted && isDriven && Math.max(...sizes) - Math.min(...sizes) <= 1) {
          return performance.now() - start;
        }
        await delay(LOOK_MS);
      }
      return Number.NaN;
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/** The name of an account by its number, from 0 on. */
export function accountOf(index: number): string {
  return `shop-${index + 1}`;
}

function keyOf(account: string): string {
  return `${KEY}-${account}`;
}

function inserterOf(shops: pg.Pool, accounts: readonly string[]): () => Promise<void> {
  let number = 0;
  return async () => {
    number += 1;
    await shops.query(
      `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency)
        select account, account || ':' || $2::text, '1.5', 'BTC', 'EUR' from unnest($1::text[]) as account`,
      [accounts, String(number)],
    );
  };
}

async function insertAllTheTime(insert: () => Promise<void>, isOver: AbortSignal): Promise<void> {
  while (!isOver.aborted) {
    await insert();
    await delay(INSERT_EVERY_MS, undefined, { signal: isOver }).catch(() => undefined);
  }
}

/** The workers whose heartbeat continues. */
async function seenWorkers(admin: pg.Pool): Promise<readonly SeenWorker[]> {
  const { rows } = await admin.query<SeenWorker>(
    `select w.holder, coalesce(array_agg(o.account) filter (where o.account is not null), '{}') as accounts
      from workers w left join account_owners o on o.holder = w.holder
      where w.units is not null
        and w.seen_until > to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      group by w.holder`,
  );
  return rows;
}
