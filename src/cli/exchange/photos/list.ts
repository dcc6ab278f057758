import type { Command } from 'commander';
import { listAwaited, listPhotos } from '../../../store/photos.ts';
import { addListOptions, printList, type ListOptions } from '../../shared/list.ts';
import { ACCOUNT } from '../../shared/options.ts';
import { withStore } from '../../shared/store.ts';

interface PhotoListOptions extends ListOptions {
  readonly awaited?: boolean;
}

/** `order-sync photos list`: the photos that were received, or the deliveries that have not come. */
export function define(command: Command): void {
  command.description('lists the newest photos; file is the path in photos.folder, refused is why there is none');
  addListOptions(command.argument('[linkId]', 'only those of this link'))
    .option('--awaited', 'the deliveries that were asked for and have not come')
    .addHelpText('after', '\nExample:\n  order-sync photos list 7f1c2a\n  order-sync photos list --awaited')
    .action(async (linkId: string | undefined, options: PhotoListOptions) => {
      const query = { account: ACCOUNT, linkId, limit: options.limit + 1 };
      if (options.awaited === true) {
        const awaited = await withStore(command, 'current', (store) => listAwaited(store.db, query));
        printList(awaited, options, {
          asked: (row) => row.created_at,
          link: (row) => row.link_id,
          level: (row) => row.level,
          action: (row) => row.action_id,
          'taken until': (row) => row.expires_at,
        });
        return;
      }
      const found = await withStore(command, 'current', (store) => listPhotos(store.db, query));
      printList(found, options, {
        received: (row) => row.received_at,
        link: (row) => row.link_id,
        level: (row) => row.level,
        action: (row) => row.action_id,
        name: (row) => row.original_name,
        type: (row) => row.type,
        bytes: (row) => row.size,
        file: (row) => row.stored_name,
        refused: (row) => row.refusal,
      });
    });
}
