import type { Command } from 'commander';
import { loadConfig, processEnvironment, type Config, type ExchangeConfig } from '../config.ts';

/** The settings of a command that talks to the exchange. */
export function exchangeConfig(program: Command): ExchangeConfig {
  return loadConfig({ ...where(program), requireExchange: true });
}

/** The settings of a command that needs only the database. */
export function databaseConfig(program: Command): Config {
  return loadConfig({ ...where(program), requireExchange: false });
}

function where(program: Command) {
  return { env: processEnvironment(), cwd: process.cwd(), file: program.opts<{ config?: string }>().config };
}
