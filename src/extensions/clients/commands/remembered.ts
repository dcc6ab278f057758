import type { Command } from 'commander';
import { examples } from '../../commands/options.ts';
import { withAccount, withAccounts } from '../../commands/store.ts';
import { systemClock } from '../../../base/clock.ts';
import { purgePhotos } from '../photos.ts';
import { clientsSettings } from '../settings.ts';
import { linkEvents, listLinks, readLink } from '../tables/links.ts';
import { listAwaited, listPhotos } from '../tables/photos.ts';
import { rowWithHistory } from '../../commands/answer.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { duration } from '../../../cli/shared/options.ts';
import { addListOptions, print, printList, type ListColumn, type ListOptions } from '../../commands/print.ts';
import { counted } from '../../documents/words.ts';

export const define = { links: defineLinks, list: definePhotos, purge: definePurge };

function defineLinks(command: Command): void {
  // Without positional options, commander reads the options of `show` as options of this command.
  command.enablePositionalOptions().option('--status <status>', 'only links with this status');
  addListOptions(command)
    .addHelpText(...examples('exchange links --status NOT_VERIFIED'))
    .action(async ({ status, ...options }: ListOptions & { readonly status?: string }) => {
      const found = await withAccounts(command, ({ db }, account) =>
        listLinks(db, { account, status, limit: options.limit + 1 }),
      );
      const columns: readonly ListColumn<(typeof found)[number]>[] = [
        { label: 'link', isId: true, of: (row) => row.link_id },
        { label: 'reference', of: (row) => row.reference },
        { label: 'status', of: (row) => row.status },
        { label: 'changed', kind: 'time', rank: 2, of: (row) => row.updated_at },
        { label: 'checked', kind: 'time', rank: 3, of: (row) => row.last_checked_at },
        { label: 'missing since', kind: 'time', rank: 1, of: (row) => row.missing_since },
      ];
      const empty = status === undefined ? 'no link is remembered' : 'no link that is remembered has this status';
      await printList(command, found, options, columns, empty);
    });
  defineLinksShow(command.command('show').description('shows one client link and its history'));
}

function defineLinksShow(command: Command): void {
  command
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText(...examples('exchange links show 7f1c2a'))
    .action(async (linkId: string, { json }: { json?: boolean }) => {
      const { link, events } = await withAccount(command, 'current', async ({ db }, { account }) => ({
        link: await readLink(db, account, linkId),
        events: await linkEvents(db, account, linkId),
      }));
      if (link === undefined) {
        const message = `the link ${JSON.stringify(linkId)} is not remembered; order-sync exchange client follow remembers it`;
        throw new CommandError(EXIT.absent, message);
      }
      print(json, { link, events }, () => rowWithHistory(link, events), 2);
    });
}

function definePhotos(command: Command): void {
  command.description(
    'lists the newest photos; file is the path in photos.folder, refused is the reason if there is no file',
  );
  addListOptions(command.argument('[linkId]', 'only those of this link'))
    .option('--awaited', 'the deliveries that were asked for and have not come')
    .addHelpText(...examples('exchange photos list 7f1c2a', 'exchange photos list --awaited'))
    .action(async (linkId: string | undefined, options: ListOptions & { awaited?: boolean }) => {
      const query = { linkId, limit: options.limit + 1 };
      if (options.awaited === true) {
        const awaited = await withAccounts(command, ({ db }, account) => listAwaited(db, { ...query, account }));
        const columns: readonly ListColumn<(typeof awaited)[number]>[] = [
          { label: 'asked', kind: 'time', of: (row) => row.created_at },
          { label: 'link', isId: true, of: (row) => row.link_id },
          { label: 'level', of: (row) => row.level },
          { label: 'action', rank: 1, of: (row) => row.action_id },
          { label: 'request', rank: 3, of: (row) => row.request_id },
          { label: 'accepted until', kind: 'time', rank: 2, of: (row) => row.expires_at },
        ];
        return await printList(command, awaited, options, columns, 'no delivery is awaited');
      }
      const found = await withAccounts(command, ({ db }, account) => listPhotos(db, { ...query, account }));
      const columns: readonly ListColumn<(typeof found)[number]>[] = [
        { label: 'received', kind: 'time', rank: 1, of: (row) => row.received_at },
        { label: 'link', isId: true, of: (row) => row.link_id },
        { label: 'level', rank: 2, of: (row) => row.level },
        { label: 'action', rank: 4, of: (row) => row.action_id },
        { label: 'request', rank: 7, of: (row) => row.request_id },
        { label: 'name', rank: 3, of: (row) => row.original_name },
        { label: 'type', rank: 5, of: (row) => row.type },
        { label: 'bytes', kind: 'count', rank: 6, of: (row) => row.size },
        { label: 'file', of: (row) => row.stored_name },
        { label: 'refused', of: (row) => row.refusal },
      ];
      await printList(command, found, options, columns, 'no photo was received');
    });
}

function definePurge(command: Command): void {
  command
    .requiredOption('--older-than <duration>', 'received longer ago than this: 12h, 90d', duration)
    .option('--json', 'print JSON')
    .addHelpText(...examples('exchange photos purge --older-than 90d'))
    .action(async ({ olderThan, json }: { olderThan: number; json?: boolean }) => {
      const { folder, purged, notFound } = await withAccount(command, 'current', async (store, config) => ({
        folder: clientsSettings.of(config).photos.folder,
        ...(await purgePhotos({ account: config.account, config, store, clock: systemClock() }, olderThan)),
      }));
      print(json, { purged, notFound }, () => `${counted(purged, 'photo')} purged\n`);
      if (notFound === 0) return;
      const stayed = `${counted(notFound, 'photo')} stayed, because the files are not in ${folder}`;
      throw new CommandError(EXIT.look, `${stayed}; run the command on the machine whose photos.folder has the files`);
    });
}
