import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { registerConfig } from './cli/config.ts';
import { registerDb } from './cli/db.ts';
import { registerDemo } from './cli/demo.ts';
import { explainError } from './cli/exit.ts';
import { registerLookup } from './cli/lookup.ts';
import { registerOrders } from './cli/orders.ts';
import { registerReport } from './cli/report.ts';
import { registerRun } from './cli/run.ts';
import { registerSandbox } from './cli/sandbox.ts';
import { registerSync } from './cli/sync.ts';

// Database, socket and report files hold people's orders: nobody else reads them.
process.umask(0o077);
// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') end(error);
});

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const program = new Command('order-sync')
  .description("keeps a merchant's order table and a crypto/fiat exchange in step")
  .version(version)
  .option('--config <file>', 'settings to read instead of config/local.yaml')
  .addHelpText('after', '\nExample:\n  order-sync sync --json')
  .showHelpAfterError('(--help says how it is used, with an example)')
  .exitOverride();

const commands = [
  registerRun,
  registerSync,
  registerOrders,
  registerReport,
  registerLookup,
  registerDb,
  registerConfig,
  registerSandbox,
  registerDemo,
];
for (const register of commands) register(program);
overrideExits(program);

try {
  await program.parseAsync();
} catch (error) {
  end(error);
}

function end(error: unknown): void {
  const { code, message } = explainError(error);
  if (message !== '') process.stderr.write(`order-sync: ${message}\n`);
  process.exitCode = code;
}
// A supervisor's listener in this process (pm2 puts one there) would keep it open after its end.
if (process.connected) process.stdout.write('', () => process.exit());

/** Commander gives a subcommand the settings its parent has when it is made; ours are set afterwards. */
function overrideExits(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) overrideExits(child);
}
