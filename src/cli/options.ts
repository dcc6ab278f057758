import { existsSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import { systemClock } from '../clock.ts';
import { loadConfig, processEnvironment, type Config, type ExchangeConfig } from '../config/config.ts';
import type { Store } from '../store/port.ts';
import { openStore, type OpenOptions } from '../store/sqlite/store.ts';

/** The one account of this version. */
export const ACCOUNT = 'default';

/** The settings of a command that talks to the exchange. */
export function exchangeConfig(program: Command): ExchangeConfig {
  return loadConfig({ ...where(program), requireExchange: true });
}

/** Opens the database of the settings for as long as `work` takes. Says so when it has made a new one. */
export async function withStore<Result>(
  program: Command,
  expect: OpenOptions['expect'],
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig({ ...where(program), requireExchange: false });
  const { path } = config.database;
  const isNew = !existsSync(path);
  const store = await openStore(path, systemClock(), { expect });
  if (isNew) process.stderr.write(`made a new database: ${path}\n`);
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/** The value of an option that is a whole number. Throws `InvalidArgumentError`. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('A whole number from 1 is wanted.');
  return Number(text);
}

function where(program: Command) {
  return { env: processEnvironment(), cwd: process.cwd(), file: program.opts<{ config?: string }>().config };
}
