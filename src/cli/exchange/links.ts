import type { Command } from 'commander';
import { linkEvents } from '../../store/events.ts';
import { listLinks, readLink } from '../../store/links.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { rowWithHistory } from '../shared/answer.ts';
import { addListOptions, printList, type ListColumn, type ListOptions, print } from '../shared/print.ts';
import { withAccount, withAccounts } from '../shared/store.ts';

export function define(command: Command): void {
  // Otherwise the options of `show` would be taken for those of this command.
  command.enablePositionalOptions().option('--status <status>', 'only links with this status');
  addListOptions(command)
    .addHelpText('after', '\nExample:\n  order-sync links --status NOT_VERIFIED')
    .action(async ({ status, ...options }: ListOptions & { readonly status?: string }) => {
      const found = await withAccounts(command, ({ db }, account) =>
        listLinks(db, { account, status, limit: options.limit + 1 }),
      );
      const columns: readonly ListColumn<(typeof found)[number]>[] = [
        { label: 'link', of: (row) => row.link_id },
        { label: 'reference', of: (row) => row.reference },
        { label: 'status', of: (row) => row.status },
        { label: 'changed', kind: 'time', rank: 2, of: (row) => row.updated_at },
        { label: 'checked', kind: 'time', rank: 3, of: (row) => row.last_checked_at },
        { label: 'missing since', kind: 'time', rank: 1, of: (row) => row.missing_since },
      ];
      const empty = status === undefined ? 'no link is remembered' : 'no link that is remembered has this status';
      printList(command, found, options, columns, empty);
    });
  defineLinksShow(command.command('show').description('shows one client link and its history'));
}

function defineLinksShow(command: Command): void {
  command
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync links show 7f1c2a')
    .action(async (linkId: string, { json }: { json?: boolean }) => {
      const { link, events } = await withAccount(command, 'current', async ({ db }, { account }) => ({
        link: await readLink(db, account, linkId),
        events: await linkEvents(db, account, linkId),
      }));
      if (link === undefined) {
        const message = `the link ${JSON.stringify(linkId)} is not remembered; order-sync client follow remembers it`;
        throw new CommandError(EXIT.absent, message);
      }
      print(json, { link, events }, () => rowWithHistory(link, events), 2);
    });
}
