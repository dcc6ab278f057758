import type { Command } from 'commander';
import { listPhotos } from '../../../store/photos.ts';
import { addListOptions, printList, type ListOptions } from '../../shared/list.ts';
import { ACCOUNT } from '../../shared/options.ts';
import { withStore } from '../../shared/store.ts';

/** `order-sync photos list`: the photos that were received. */
export function define(command: Command): void {
  command.description('lists the newest photos; file is the path in photos.folder');
  addListOptions(command.argument('[linkId]', 'only those of this link'))
    .addHelpText('after', '\nExample:\n  order-sync photos list 7f1c2a')
    .action(async (linkId: string | undefined, options: ListOptions) => {
      const query = { account: ACCOUNT, linkId, limit: options.limit + 1 };
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
      });
    });
}
