import type { Command } from 'commander';
import { readMove } from '../../../store/moves.ts';
import { EXIT } from '../../shared/exit.ts';
import { withStore } from '../../shared/store.ts';

interface Options {
  readonly json?: boolean;
  readonly createFolder?: boolean;
  readonly intoExisting?: boolean;
}

/** `order-sync db migrate` and `db status`: both print the same facts, after `migrate` has brought the database up to date. */
export function define(command: Command): void {
  const expect = command.name() === 'migrate' ? 'migrate' : 'any';
  if (expect === 'migrate') {
    command
      .option('--create-folder', 'make the folder of the database too')
      .option('--into-existing', 'make the tables in a database that has those of another program');
  }
  command
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  order-sync db ${command.name()}`)
    .action(async ({ json, createFolder = false, intoExisting = false }: Options) => {
      await withStore(command, { expect, createFolder, intoExisting }, async (store) => {
        const { address: path } = store;
        const status = await store.migrations();
        const move = status.pending.length === 0 ? await readMove(store.db) : undefined;
        const moved =
          move === undefined ? '' : `${move.state.padEnd(9)} from ${move.source} to ${move.target}, ${move.at}\n`;
        const text = `database: ${path}\napplied:  ${list(status.applied)}\npending:  ${list(status.pending)}\n${moved}`;
        process.stdout.write(
          json === true ? `${JSON.stringify({ path, ...status, ...(move !== undefined && { move }) })}\n` : text,
        );
        if (status.pending.length === 0) return;
        process.stderr.write(`${path} is not up to date; bring it up to date with: order-sync db migrate\n`);
        process.exitCode = EXIT.look;
      });
    });
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
