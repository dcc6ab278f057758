import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Clock } from '../../../clock.ts';
import { loadConfig, processEnvironment, type Config } from '../../../config/config.ts';
import { openStore } from '../../../store/open.ts';
import type { Store } from '../../../store/port.ts';
import type { Shop } from './shops.ts';

/** Where a demonstration takes place: a database and the settings of its daemons. */
export interface Stage extends AsyncDisposable {
  readonly folder: string;
  readonly settingsFile: string;
  readonly config: Config;
  readonly store: Store;
}

/** The things that a stage is made of. */
export interface StageOptions {
  readonly shops: readonly Shop[];
  /** The address of the exchange. */
  readonly exchangeUrl: string;
  readonly clock: Clock;
  /** A new SQLite file unless given. */
  readonly database?: Config['database'] | undefined;
  /** Leaves the folder and the tables behind. */
  readonly isKept: boolean;
  /** Where the dashboard is; nowhere unless given. */
  readonly opsListen: string | undefined;
}

/** Sets a demonstration up in a folder of its own. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { clock, isKept, database, opsListen = 'off' } = options;
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-demo-'));
  undo.defer(() => {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  });
  const settingsFile = join(folder, 'settings.yaml');
  const settings = stringify({
    ...SETTINGS,
    ops: { listen: opsListen },
    ...databaseSettings(folder, database),
    ...exchangeSettings(options),
    ...webhookSettings(folder),
  });
  writeFileSync(settingsFile, `# Settings of a demonstration. Its exchange ends with it.\n${settings}`, {
    mode: 0o600,
  });
  const config = loadConfig({ requireExchange: true, cwd: folder, env: {}, file: settingsFile });
  if (database !== undefined) {
    const { assertNoTables, dropTables } = await import('../../../store/postgres/tables.ts');
    const empty = undo.adopt(await openStore(database, clock, { expect: 'any' }), (opened) => opened.close());
    await assertNoTables(empty.db, database.address);
    undo.defer(async () => {
      if (!isKept) await dropTables(empty.db);
    });
  }
  const store = undo.adopt(await openStore(config.database, clock, { expect: 'migrate' }), (opened) => opened.close());
  const disposal = undo.move();
  return { folder, settingsFile, config, store, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

const SETTINGS = {
  ops: { listen: 'off' },
  schedule: { cron: '* * * * * *' },
  create: { verifyAfter: ['2s', '4s', '8s', '16s', '32s'] },
  follow: {
    finalStatuses: ['COMPLETED', 'REJECTED'],
    // The orders of the sandbox change each few seconds.
    worth: '250ms',
    succeededStatuses: ['COMPLETED'],
    openStatuses: ['REQUEST', 'IN_PROGRESS'],
    recheckFinalAfter: ['2s', '5s', '10s'],
  },
};

function exchangeSettings({ shops, exchangeUrl }: StageOptions): object {
  const exchange = { baseUrl: exchangeUrl, rate: { requests: 100 } };
  const [only] = shops;
  if (shops.length === 1 && only !== undefined) return { exchange: { ...exchange, apiKey: only.key } };
  const accounts = shops.map(({ account, key }) => [account, { exchange: { apiKey: key } }]);
  return { exchange, accounts: Object.fromEntries(accounts) as object };
}

function databaseSettings(folder: string, database: Config['database'] | undefined): object {
  if (database?.kind !== 'postgres') return { database: { url: `sqlite:${join(folder, 'demo.db')}` } };
  const { url, password, poolSize, tls, tlsCaFile } = database;
  return { database: { url, password, poolSize, tls, tlsCaFile, marks: join(folder, 'marks.db') } };
}

/** Receivers of events are the one thing that the environment says: a shop may listen to the demonstration. */
function webhookSettings(folder: string) {
  const endpoints = processEnvironment()['ORDER_SYNC_WEBHOOKS_ENDPOINTS'];
  if (endpoints === undefined) return {};
  const endpointsFile = join(folder, 'webhooks.json');
  writeFileSync(endpointsFile, endpoints, { mode: 0o600 });
  return { webhooks: { endpointsFile } };
}
