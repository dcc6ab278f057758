import { InvalidArgumentError, type Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { parseDuration } from '../../config/values.ts';
import { purgePhotos } from '../../flows/clients/photos.ts';
import { asTable } from '../../reports/formats/text.ts';
import { listPhotos } from '../../store/photos.ts';
import { ACCOUNT, wholeNumber, withStore } from '../options.ts';

const LIST_COLUMNS = ['received', 'link', 'level', 'action', 'name', 'type', 'bytes', 'file'];

/** `order-sync photos list|purge`: the photos that were received. */
export function registerPhotos(program: Command): void {
  const photos = program
    .command('photos')
    .description('photos that the exchange has delivered')
    .addHelpText('after', '\nExample:\n  order-sync photos list');
  registerList(program, photos);
  registerPurge(program, photos);
}

function registerList(program: Command, photos: Command): void {
  photos
    .command('list')
    .description('the newest photos; file is the path in photos.folder')
    .argument('[linkId]', 'only those of this link')
    .option('--limit <n>', 'at most so many', wholeNumber, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync photos list 7f1c2a')
    .action(async (linkId: string | undefined, { limit, json }: { limit: number; json?: boolean }) => {
      const query = { account: ACCOUNT, linkId, limit: limit + 1 };
      const found = await withStore(program, 'current', (store) => listPhotos(store.db, query));
      const rows = found.slice(0, limit);
      const lines = rows.map((row) => ({
        received: row.received_at,
        link: row.link_id,
        level: row.level,
        action: row.action_id,
        name: row.original_name,
        type: row.type,
        bytes: row.size,
        file: row.stored_name,
      }));
      process.stdout.write(json === true ? `${JSON.stringify(rows, null, 2)}\n` : asTable(lines, LIST_COLUMNS));
      if (found.length > limit) process.stderr.write(`there are more; --limit shows more than ${limit}\n`);
    });
}

function registerPurge(program: Command, photos: Command): void {
  photos
    .command('purge')
    .description('takes photos away for good, files and rows')
    .requiredOption('--older-than <duration>', 'received longer ago than this: 12h, 90d', duration)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync photos purge --older-than 90d')
    .action(async ({ olderThan, json }: { olderThan: number; json?: boolean }) => {
      const purged = await withStore(program, 'current', (store, config) =>
        purgePhotos({ account: ACCOUNT, store, clock: systemClock(), photos: config.photos }, olderThan),
      );
      process.stdout.write(json === true ? `${JSON.stringify({ purged })}\n` : `${purged} photos are purged\n`);
    });
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(`It ${(error as Error).message}.`);
  }
}
