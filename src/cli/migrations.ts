import type { Command } from 'commander';
import { readMove } from '../store/tables/moves.ts';
import { EXIT } from './shared/exit.ts';
import { withStore } from './shared/store.ts';
import { pasteable } from '../base/invocation.ts';

export function define(command: Command): void {
  const expect = command.name() === 'migrate' ? 'migrate' : 'any';
  if (expect === 'migrate') {
    command
      .option('--create-folder', 'make the folder of the database too')
      .option('--into-existing', 'make the tables even if the database has tables of another program');
  }
  command
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  order-sync db ${command.name()}`)
    .action(async ({ json, createFolder = false, intoExisting = false }: Readonly<Record<string, boolean>>) => {
      await withStore(command, { expect, createFolder, intoExisting }, async (store) => {
        const { address: path } = store;
        const { applied, pending } = await store.migrations();
        const [done, due] = [applied, pending].map((names) => names.join(', ') || 'none');
        const move = pending.length === 0 ? await readMove(store.db) : undefined;
        const moved =
          move === undefined ? '' : `${move.state.padEnd(9)} from ${move.source} to ${move.target}, ${move.at}\n`;
        const text = `database: ${path}\napplied:  ${done}\npending:  ${due}\n${moved}`;
        process.stdout.write(json === true ? `${JSON.stringify({ path, applied, pending, move })}\n` : text);
        if (pending.length === 0) return;
        process.stderr.write(pasteable(`${path} is not up to date; bring it up to date with: order-sync db migrate\n`));
        process.exitCode = EXIT.look;
      });
    });
}
