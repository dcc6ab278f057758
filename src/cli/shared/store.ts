import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { loadConfig, type Config } from '../../config/config.ts';
import type { Store } from '../../store/port.ts';
import { openStore, type OpenOptions } from '../../store/open.ts';
import { configOptions } from './options.ts';

/** Opens the database of the settings for as long as `work` takes. Says so on stderr when it has made a new one. */
export async function withStore<Result>(
  command: Command,
  options: OpenOptions['expect'] | OpenOptions,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig({ ...configOptions(command), requireExchange: false });
  const { database } = config;
  const isNew = database.kind === 'sqlite' && !existsSync(database.path);
  const store = await openStore(database, systemClock(), typeof options === 'string' ? { expect: options } : options);
  if (isNew) process.stderr.write(`made a new database: ${database.address}\n`);
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}
