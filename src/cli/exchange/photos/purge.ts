import type { Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { purgePhotos } from '../../../flows/clients/photos.ts';
import { counted } from '../../../reports/formats/words.ts';
import { duration } from '../../shared/options.ts';
import { withAccount } from '../../shared/store.ts';

/** `order-sync photos purge`: deletes photos that were received long ago. */
export function define(command: Command): void {
  command
    .requiredOption('--older-than <duration>', 'received longer ago than this: 12h, 90d', duration)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync photos purge --older-than 90d')
    .action(async ({ olderThan, json }: { olderThan: number; json?: boolean }) => {
      const purged = await withAccount(command, 'current', (store, { account, photos }) =>
        purgePhotos({ account, store, clock: systemClock(), photos }, olderThan),
      );
      process.stdout.write(json === true ? `${JSON.stringify({ purged })}\n` : `${counted(purged, 'photo')} purged\n`);
    });
}
