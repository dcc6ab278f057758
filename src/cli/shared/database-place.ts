import type { Command } from 'commander';
import { ConfigError, loadConfig, type Config } from '../../config/config.ts';
import { databaseUrl } from '../../config/database-url.ts';
import { reader } from '../../config/values.ts';
import { CommandError, EXIT } from './exit.ts';
import { configOptions } from './options.ts';

const FORMS = { sqlite: 'sqlite:PATH', postgres: 'postgres://USER@HOST/DATABASE' } as const;

/** A place of one kind. */
type Place<Kind> = Config['database'] & { readonly kind: Kind };

/** The place that an argument names, with the settings of how it is reached. An error does not quote it: it may hold a password. */
export function placeOf<Kind extends keyof typeof FORMS>(
  command: Command,
  kind: Kind,
  url: string,
  name: string,
): Place<Kind> {
  let problem = `must be ${FORMS[kind]}`;
  try {
    if (reader(databaseUrl)(url).kind === kind) return configuredPlace(command, url) as Place<Kind>;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    problem = (error as Error).message;
  }
  throw new CommandError(EXIT.usage, `${name} ${problem}`);
}

function configuredPlace(command: Command, url: string): Config['database'] {
  const { env, ...options } = configOptions(command);
  const { ORDER_SYNC_DATABASE_URL_FILE: _url, ORDER_SYNC_WORKERS_INSTANCES_FILE: _instances, ...others } = env;
  // As many workers as the other database may have would contradict a file.
  const named = { ...others, ORDER_SYNC_DATABASE_URL: url, ORDER_SYNC_WORKERS_INSTANCES: '1' };
  return loadConfig({ ...options, env: named, requireExchange: false }).database;
}
