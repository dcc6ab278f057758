import type { Command } from 'commander';
import { systemClock } from '../clock.ts';
import { migrationStatus, openStore } from '../store/store.ts';
import { databaseConfig } from './options.ts';

/** `order-sync db migrate` and `db status`. */
export function registerDb(program: Command): void {
  const db = program.command('db').description('the database');
  for (const [name, description, expect] of [
    ['migrate', 'makes the database, or brings it up to date', 'migrate'],
    ['status', 'which migrations the database has', 'any'],
  ] as const) {
    db.command(name)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  order-sync db ${name}`)
      .action(async (options: { json?: boolean }) => {
        const { path } = databaseConfig(program).database;
        const store = await openStore(path, systemClock(), { expect });
        const status = await migrationStatus(store);
        await store.close();
        const text = `${path}\napplied: ${list(status.applied)}\npending: ${list(status.pending)}\n`;
        process.stdout.write(options.json === true ? `${JSON.stringify({ path, ...status })}\n` : text);
      });
  }
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
