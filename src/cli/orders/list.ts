import { Option, type Command } from 'commander';
import { ORDER_STATES } from '../../domain/orders/states.ts';
import { listOrders } from '../../store/listed-orders.ts';
import { addListOptions, printList, type ListOptions } from '../shared/list.ts';
import { ACCOUNT } from '../shared/options.ts';
import { withStore } from '../shared/store.ts';
import { REVEAL, withoutToken } from '../shared/tokens.ts';

/** `order-sync orders list`. */
export function define(command: Command): void {
  command.addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES));
  addListOptions(command)
    .option(...REVEAL)
    .addHelpText('after', '\nExample:\n  order-sync orders list --state held')
    .action(async ({ state, reveal, ...options }: ListOptions & { state?: string; reveal?: boolean }) => {
      const query = { account: ACCOUNT, state, limit: options.limit + 1 };
      const found = await withStore(command, 'current', (store) => listOrders(store.db, query));
      const shown = found.map((row) => (reveal === true ? row : withoutToken(row)));
      printList(shown, options, {
        id: (row) => row.external_order_id,
        asset: (row) => row.asset,
        pair: (row) => `${row.from_currency}/${row.to_currency}`,
        state: (row) => row.state,
        status: (row) => row.order_status,
        updated: (row) => row.updated_at,
        reason: (row) => row.state_reason,
      });
    });
}
