import { readFileSync } from 'node:fs';
import { Command } from 'commander';

type Load = () => Promise<(program: Command) => void>;

/** In the order of the help. Each is loaded when it is named: to load them all takes longer than most commands do. */
const COMMANDS: ReadonlyMap<string, Load> = new Map([
  ['run', async () => (await import('./run.ts')).registerRun],
  ['sync', async () => (await import('./sync.ts')).registerSync],
  ['orders', async () => (await import('./orders.ts')).registerOrders],
  ['report', async () => (await import('./report.ts')).registerReport],
  ['findings', async () => (await import('./findings.ts')).registerFindings],
  ['lookup', async () => (await import('./lookup.ts')).registerLookup],
  ['pre-order', async () => (await import('./pre-order.ts')).registerPreOrder],
  ['client', async () => (await import('./client.ts')).registerClient],
  ['idv', async () => (await import('./idv.ts')).registerIdv],
  ['customer', async () => (await import('./customer.ts')).registerCustomer],
  ['sdk-token', async () => (await import('./sdk-token.ts')).registerSdkToken],
  ['links', async () => (await import('./links.ts')).registerLinks],
  ['photos', async () => (await import('./photos.ts')).registerPhotos],
  ['db', async () => (await import('./db.ts')).registerDb],
  ['config', async () => (await import('./config.ts')).registerConfig],
  ['openapi', async () => (await import('./openapi.ts')).registerOpenApi],
  ['sandbox', async () => (await import('./sandbox.ts')).registerSandbox],
  ['demo', async () => (await import('./demo.ts')).registerDemo],
]);

/**
 * The command line, with the command that `args` name; with all where they name none. Parsing throws `CommanderError`
 * where it would end the process.
 */
export async function createProgram(args: readonly string[] = []): Promise<Command> {
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
  for (const register of await Promise.all(named(args).map((load) => load()))) register(program);
  return program;
}

function named(args: readonly string[]): readonly Load[] {
  const [first = '', second = '', third = ''] = args;
  const name = first === '--config' ? third : first.startsWith('--config=') ? second : first;
  const load = COMMANDS.get(name);
  return load === undefined ? [...COMMANDS.values()] : [load];
}
