import { InvalidArgumentError, type Command } from 'commander';
import { loadConfig, processEnvironment, type ConfigOptions, type ExchangeConfig } from '../../config/config.ts';
import { parseDuration } from '../../config/values.ts';

/** The one account of this version. */
export const ACCOUNT = 'default';

/** Loads the settings of a command that talks to the exchange. Throws `ConfigError`. */
export function exchangeConfig(command: Command): ExchangeConfig {
  return loadConfig({ ...configOptions(command), requireExchange: true });
}

/** The places where a command finds its settings. */
export function configOptions(command: Command): ConfigOptions {
  const { config: file } = command.optsWithGlobals<{ config?: string }>();
  return { env: processEnvironment(), cwd: process.cwd(), file };
}

/** Reads the value of an option that is a whole number from 1. Throws `InvalidArgumentError`. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1.');
  return Number(text);
}

/** Reads the value of an option that is a duration, in milliseconds. Throws `InvalidArgumentError`. */
export function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(`It ${(error as Error).message}.`);
  }
}
