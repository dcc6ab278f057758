import type { Command } from 'commander';
import { type Config, ConfigError, type ConfigOptions, loadConfig } from '../../settings/config.ts';
import { configOptions } from '../../cli/shared/options.ts';
import { schemaOf } from '../../settings/schema.ts';
import { reader } from '../../settings/values.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';

const FORMS = { sqlite: 'sqlite:PATH', postgres: 'postgres://USER@HOST/DATABASE' } as const;

/** Returns the settings of the database at `url`. No error quotes `url`, because `url` may contain a password. */
export async function placeOf<Kind extends keyof typeof FORMS>(
  command: Command,
  kind: Kind,
  url: string,
  name: string,
): Promise<Extract<Config['database'], { readonly kind: Kind }>> {
  let problem = `must be ${FORMS[kind]}`;
  try {
    const options = await configOptions(command);
    if (reader(schemaOf(options).general.type.shape.database.shape.url)(url).kind === kind)
      return configuredPlace(options, url) as Awaited<ReturnType<typeof placeOf<Kind>>>;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    problem = (error as Error).message;
  }
  throw new CommandError(EXIT.usage, `${name} ${problem}`);
}

/** Replaces the settings of workers and standbys, because the configured values may not fit the database at `url`. */
const NEUTRAL_SETTINGS = { ORDER_SYNC_WORKERS_INSTANCES: '1', ORDER_SYNC_DATABASE_READ_FROM: 'primary' };

function configuredPlace({ env, ...options }: ConfigOptions, url: string): Config['database'] {
  const named: NodeJS.ProcessEnv = { ...env, ...NEUTRAL_SETTINGS, ORDER_SYNC_DATABASE_URL: url };
  for (const name of [...Object.keys(NEUTRAL_SETTINGS), 'ORDER_SYNC_DATABASE_URL']) delete named[`${name}_FILE`];
  return loadConfig({ ...options, env: named, requireExchange: false }).database;
}

/** Throws `ConfigError` with the advice `instead` if the database is PostgreSQL. */
export function sqlitePath({ database }: Pick<Config, 'database'>, instead: string): string {
  if (database.kind === 'sqlite') return database.path;
  throw new ConfigError(`this is for SQLite, and database.url names ${database.address}: ${instead}`);
}
