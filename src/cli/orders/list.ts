import { Option, type Command } from 'commander';
import { ORDER_STATES } from '../../domain/orders/states.ts';
import { listOrders } from '../../store/listed-orders.ts';
import type { OrderRow } from '../../store/order-columns.ts';
import { addListOptions, printList, type ListColumn, type ListOptions } from '../shared/list.ts';
import { ACCOUNT } from '../shared/options.ts';
import { withStore } from '../shared/store.ts';
import { REVEAL, withoutToken } from '../shared/tokens.ts';

const COLUMNS: readonly ListColumn<OrderRow>[] = [
  { label: 'id', of: (row) => row.external_order_id },
  { label: 'asset', kind: 'decimal', of: (row) => row.asset },
  { label: 'pair', of: (row) => `${row.from_currency}/${row.to_currency}` },
  { label: 'state', kind: 'state', of: (row) => row.state },
  { label: 'status', rank: 1, of: (row) => row.order_status },
  { label: 'updated', kind: 'time', rank: 3, of: (row) => row.updated_at },
  { label: 'reason', rank: 2, of: (row) => row.state_reason },
];

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
      printList(shown, options, COLUMNS, state === undefined ? 'there is no order' : `no order is ${state}`);
    });
}
