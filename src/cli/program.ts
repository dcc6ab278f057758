import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { registerClient } from './client.ts';
import { registerConfig } from './config.ts';
import { registerCustomer } from './customer.ts';
import { registerDb } from './db.ts';
import { registerDemo } from './demo.ts';
import { registerIdv } from './idv.ts';
import { registerFindings } from './findings.ts';
import { registerLinks } from './links.ts';
import { registerLookup } from './lookup.ts';
import { registerOpenApi } from './openapi.ts';
import { registerOrders } from './orders.ts';
import { registerPhotos } from './photos.ts';
import { registerReport } from './report.ts';
import { registerRun } from './run.ts';
import { registerSandbox } from './sandbox.ts';
import { registerSdkToken } from './sdk-token.ts';
import { registerSync } from './sync.ts';

const COMMANDS = [
  registerRun,
  registerSync,
  registerOrders,
  registerReport,
  registerFindings,
  registerLookup,
  registerClient,
  registerIdv,
  registerCustomer,
  registerSdkToken,
  registerLinks,
  registerPhotos,
  registerDb,
  registerConfig,
  registerOpenApi,
  registerSandbox,
  registerDemo,
];

/** The command line with all its commands. Parsing throws `CommanderError` where it would end the process. */
export function createProgram(): Command {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const program = new Command('order-sync')
    .description("keeps a merchant's order table and a crypto/fiat exchange in step")
    .version(version)
    .option('--config <file>', 'settings to read instead of config/local.yaml')
    .addHelpText('after', '\nExample:\n  order-sync sync --json')
    .showHelpAfterError('(--help says how it is used, with an example)')
    // A client's address that was written in the wrong place stands in no error.
    .configureOutput({ outputError: (text, write) => write(text.replaceAll(/[^\s'"]+@[^\s'"]+/g, '<EMAIL>')) })
    .exitOverride();
  for (const register of COMMANDS) register(program);
  return program;
}
