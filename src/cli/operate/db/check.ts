import type { Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { fieldsText } from '../../../reports/formats/terminal/fields.ts';
import { checkChains } from '../../../store/chain.ts';
import { readPosition, RESTORE_ADVICE, signOfRestore } from '../../../store/mark.ts';
import { checkIntegrity } from '../../../store/sqlite/backup.ts';
import { EXIT } from '../../shared/exit.ts';
import { screenOf } from '../../shared/screen.ts';
import { withStore } from '../../shared/store.ts';

const HELP = `
Checks that the file is sound, and that it is not older than its mark; with
--chain also that no event was changed, removed or put in. What it finds wrong
makes it end with 65.

Example:
  order-sync db check --chain`;

/** `order-sync db check`. */
export function define(command: Command): void {
  command
    .option('--chain', 'also check the chain of events: reads all of them')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async ({ chain: withChain, json }: { chain?: boolean; json?: boolean }) => {
      await withStore(command, 'current', async ({ address: path, db, mark }) => {
        checkIntegrity(path);
        const progress = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
        const chain = withChain === true ? await checkChains(db, (events) => progress?.(`${events} events`)) : null;
        progress?.clear();
        const named = mark.read() ?? null;
        const position = await readPosition(db);
        const older = signOfRestore(named ?? undefined, position) ?? null;
        const { broken } = chain ?? { broken: null };
        const rows = [
          { label: 'database', value: path },
          { label: 'file', value: 'sound' },
          { label: 'newest event', value: position.eventId },
          {
            label: 'mark',
            value: older ?? (named === null ? 'none yet' : `event ${named.eventId}, written ${named.at}`),
          },
          ...(chain === null
            ? []
            : [
                {
                  label: 'events',
                  value: broken === null ? `${chain.events}, one chain` : `${broken.id}: ${broken.why}`,
                },
              ]),
        ];
        const found = { path, newestEvent: position.eventId, mark: named, older, chain };
        process.stdout.write(json === true ? `${JSON.stringify(found)}\n` : fieldsText(rows, screenOf()));
        if (older !== null) {
          process.stderr.write(`${path} ${older}; ${RESTORE_ADVICE}\n`);
        }
        if (broken !== null)
          process.stderr.write(`event ${broken.id} breaks the chain: ${broken.why}; compare with a backup\n`);
        if (older !== null || broken !== null) process.exitCode = EXIT.data;
      });
    });
}
