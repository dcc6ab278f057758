import type { Command } from 'commander';
import { asTable } from '../../reports/formats/text.ts';
import { linkEvents } from '../../store/events.ts';
import { listLinks, readLink } from '../../store/links.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { historyLines } from '../shared/history.ts';
import { addListOptions, printList, type ListOptions } from '../shared/list.ts';
import { ACCOUNT } from '../shared/options.ts';
import { withStore } from '../shared/store.ts';

/** `order-sync links` and `links show`: the client links that are remembered. */
export function define(command: Command): void {
  // Otherwise the options of `show` would be taken for those of this command.
  command.enablePositionalOptions().option('--status <status>', 'only links with this status');
  addListOptions(command)
    .addHelpText('after', '\nExample:\n  order-sync links --status NOT_VERIFIED')
    .action(async ({ status, ...options }: ListOptions & { readonly status?: string }) => {
      const query = { account: ACCOUNT, status, limit: options.limit + 1 };
      const found = await withStore(command, 'current', (store) => listLinks(store.db, query));
      printList(found, options, {
        link: (row) => row.link_id,
        reference: (row) => row.reference,
        status: (row) => row.status,
        changed: (row) => row.updated_at,
        checked: (row) => row.last_checked_at,
        'missing since': (row) => row.missing_since,
      });
    });
  defineLinksShow(command.command('show').description('shows one client link and its history'));
}

function defineLinksShow(command: Command): void {
  command
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync links show 7f1c2a')
    .action(async (linkId: string, { json }: { json?: boolean }) => {
      const { link, events } = await withStore(command, 'current', async ({ db }) => ({
        link: await readLink(db, ACCOUNT, linkId),
        events: await linkEvents(db, ACCOUNT, linkId),
      }));
      if (link === undefined) {
        const name = JSON.stringify(linkId);
        throw new CommandError(EXIT.look, `the link ${name} is not remembered; order-sync client follow remembers it`);
      }
      if (json === true) return void process.stdout.write(`${JSON.stringify({ link, events }, null, 2)}\n`);
      const fields = Object.entries(link).filter(([, value]) => value !== null);
      process.stdout.write(asTable(fields.map(([field, value]) => ({ field, value }))) + asTable(historyLines(events)));
    });
}
