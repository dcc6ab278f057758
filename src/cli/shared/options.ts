import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  configOf,
  loadConfig,
  processEnvironment,
  type AccountSettings,
  type Config,
  type ConfigOptions,
} from '../../config/config.ts';
import { accountOf } from './account.ts';
import * as type from '../../config/values.ts';

/** Loads the settings of a command that is about all accounts. Throws `ConfigError`. */
export function plainConfig(command: Command): Config {
  return loadConfig({ ...configOptions(command), requireExchange: false });
}

/** Loads the settings of the account that a command is about. Throws `ConfigError`, also where it is not in the settings. */
export function accountConfig(command: Command): AccountSettings {
  const config = plainConfig(command);
  return configOf(config, accountOf(command, config));
}

/** The places where a command finds its settings. */
export function configOptions(command: Command): ConfigOptions {
  const { config: file } = command.optsWithGlobals<{ config?: string }>();
  return { env: processEnvironment(), cwd: process.cwd(), file };
}

/** Makes a reader of an option's value. It throws `InvalidArgumentError` with the reason that `read` throws. */
export function optionOf<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError(`It ${(error as Error).message}.`);
    }
  };
}

/** Makes a reader of an option's value that is a whole number. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return optionOf(type.reader(type.wholeNumber(min, max)));
}

/** Reads the value of an option that is a duration, in milliseconds. */
export const duration = optionOf((text) => type.parseDuration(text));

/** An option that is a duration, with its default as it is typed. */
export function durationOption(flags: string, text: string, usual: string): Option {
  return new Option(flags, text).argParser(duration).default(duration(usual), usual);
}
