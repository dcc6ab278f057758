import type { Command } from 'commander';
import { migrationStatus } from '../../store/sqlite/store.ts';
import { EXIT } from '../exit.ts';
import { withStore } from '../options.ts';

/** `order-sync db migrate` and `db status`. */
export function registerDb(program: Command): void {
  const db = program
    .command('db')
    .description('the database')
    .addHelpText('after', '\nExample:\n  order-sync db status');
  for (const [name, description, expect] of [
    ['migrate', 'makes the database, or brings it up to date', 'migrate'],
    ['status', 'which migrations the database has; exit 1 when some are pending', 'any'],
  ] as const) {
    db.command(name)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  order-sync db ${name}`)
      .action(async (options: { json?: boolean }) => {
        await withStore(program, expect, async (store) => {
          const { path } = store;
          const status = await migrationStatus(store);
          const text = `database: ${path}\napplied:  ${list(status.applied)}\npending:  ${list(status.pending)}\n`;
          process.stdout.write(options.json === true ? `${JSON.stringify({ path, ...status })}\n` : text);
          if (status.pending.length === 0) return;
          process.stderr.write(`${path} is not up to date; bring it up to date with: order-sync db migrate\n`);
          process.exitCode = EXIT.look;
        });
      });
  }
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
