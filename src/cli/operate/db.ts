import type { Command } from 'commander';
import { migrationStatus, type OpenOptions } from '../../store/sqlite/store.ts';
import { EXIT } from '../shared/exit.ts';
import { withStore } from '../shared/store.ts';

/** `order-sync db migrate`. */
export function defineMigrate(command: Command): void {
  define(command, 'migrate');
}

/** `order-sync db status`. */
export function defineStatus(command: Command): void {
  define(command, 'any');
}

/** Both print the same facts; `migrate` brings the database up to date before. */
function define(command: Command, expect: OpenOptions['expect']): void {
  command
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  order-sync db ${command.name()}`)
    .action(async ({ json }: { json?: boolean }) => {
      await withStore(command, expect, async (store) => {
        const { path } = store;
        const status = await migrationStatus(store);
        const text = `database: ${path}\napplied:  ${list(status.applied)}\npending:  ${list(status.pending)}\n`;
        process.stdout.write(json === true ? `${JSON.stringify({ path, ...status })}\n` : text);
        if (status.pending.length === 0) return;
        process.stderr.write(`${path} is not up to date; bring it up to date with: order-sync db migrate\n`);
        process.exitCode = EXIT.look;
      });
    });
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
