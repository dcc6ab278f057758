import { readFileSync } from 'node:fs';
import { Command } from 'commander';

type Load = () => Promise<(program: Command) => void>;

/** In the order of the help. Each is loaded when it is named: to load them all takes longer than most commands do. */
const COMMANDS: ReadonlyMap<string, Load> = new Map([
  ['run', async () => (await import('./operate/run.ts')).registerRun],
  ['sync', async () => (await import('./operate/sync.ts')).registerSync],
  ['orders', async () => (await import('./orders/orders.ts')).registerOrders],
  ['report', async () => (await import('./report/report.ts')).registerReport],
  ['findings', async () => (await import('./operate/findings.ts')).registerFindings],
  ['lookup', async () => (await import('./exchange/lookup.ts')).registerLookup],
  ['pre-order', async () => (await import('./exchange/pre-order.ts')).registerPreOrder],
  ['client', async () => (await import('./exchange/client.ts')).registerClient],
  ['idv', async () => (await import('./exchange/idv.ts')).registerIdv],
  ['customer', async () => (await import('./exchange/customer.ts')).registerCustomer],
  ['sdk-token', async () => (await import('./exchange/sdk-token.ts')).registerSdkToken],
  ['links', async () => (await import('./exchange/links.ts')).registerLinks],
  ['photos', async () => (await import('./exchange/photos.ts')).registerPhotos],
  ['db', async () => (await import('./operate/db.ts')).registerDb],
  ['config', async () => (await import('./operate/config.ts')).registerConfig],
  ['openapi', async () => (await import('./operate/openapi.ts')).registerOpenApi],
  ['sandbox', async () => (await import('./sandbox/sandbox.ts')).registerSandbox],
  ['demo', async () => (await import('./sandbox/demo.ts')).registerDemo],
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
