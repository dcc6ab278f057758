import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../settings/config.ts';
import type { Store } from '../../store/port.ts';
import { openStore, type OpenOptions } from '../../store/open.ts';
import { plainConfig } from './options.ts';

/** Opens the database of the settings while `work` runs. Says on stderr if it has made a new database. */
export async function withStore<Result>(
  command: Command,
  options: OpenOptions['expect'] | OpenOptions,
  work: (store: Store, config: Config) => Promise<Result>,
  given?: Config,
): Promise<Result> {
  const config = given ?? (await plainConfig(command));
  const { database } = config;
  const isNew = database.kind === 'sqlite' && !existsSync(database.path);
  const opening = typeof options === 'string' ? { expect: options } : options;
  const warn = (text: string) => void process.stderr.write(`${text}\n`);
  const store = await openStore(database, systemClock(), { warn, ...opening });
  if (isNew) process.stderr.write(`made a new database: ${database.address}\n`);
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}
