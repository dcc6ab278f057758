import { InvalidArgumentError, type Command } from 'commander';
import {
  ConfigError,
  configOf,
  loadConfig,
  processEnvironment,
  type AccountSettings,
  type Config,
  type ConfigOptions,
} from '../../settings/config.ts';
import { accountOf } from './account.ts';
import { CommandError, EXIT } from './exit.ts';
import { extensionsOf, settingsOf } from './extensions.ts';
import * as type from '../../settings/values.ts';

/** The places that show the state of a daemon if the command cannot find the daemon. */
export const DAEMON_SHOWN =
  'its log and its ops endpoint (ops.listen, by default http://127.0.0.1:9464) show its state';

/** Throws `CommandError` with `DAEMON_SHOWN` if the settings are wrong. Its `cause` has the problems. */
export async function plainConfig(command: Command): Promise<Config> {
  try {
    return loadConfig({ ...(await configOptions(command)), requireExchange: false });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = `a running daemon keeps the settings that it read at its start: ${DAEMON_SHOWN}`;
    throw new CommandError(EXIT.config, `${error.message}\n${advice}`, { cause: error });
  }
}

/** Loads the settings of the command's account. Without `--url`, throws `ConfigError` if the account is unknown. */
export async function accountConfig(command: Command): Promise<AccountSettings> {
  const config = await plainConfig(command);
  const account = accountOf(command, config);
  const isElsewhere = urlsOf(command) !== undefined && !config.accounts.some(({ name }) => name === account);
  return isElsewhere ? { ...config, account } : configOf(config, account);
}

/** Adds `--url`: the command then asks the API of a process, and needs no database, exchange or key. */
export function addUrlOption(command: Command): Command {
  const read = optionOf(type.reader(type.apiUrl));
  return command.option(
    '--url <url>',
    'ask the API at this address, with a token; repeat it for each worker',
    (given: string, before: readonly string[] | undefined) => [...new Set([...(before ?? []), read(given)])],
  );
}

export function urlsOf(command: Command): readonly string[] | undefined {
  return command.optsWithGlobals<{ readonly url?: readonly string[] }>().url;
}

export async function configOptions(command: Command): Promise<ConfigOptions> {
  const { config: file } = command.optsWithGlobals<{ config?: string }>();
  return { env: processEnvironment(), cwd: process.cwd(), file, parts: await settingsOf(extensionsOf(command)) };
}

export function optionOf<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError(`It ${(error as Error).message}.`);
    }
  };
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return optionOf(type.reader(type.wholeNumber(min, max)));
}

export const duration = optionOf((text) => type.parseDuration(text));
