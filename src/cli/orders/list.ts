import { Option, type Command } from 'commander';
import { FINDING_CLASSES, type FindingClassName } from '../../domain/findings/classes.ts';
import { describeHold, stops, viewOf } from '../../domain/accounts/holds.ts';
import { ORDER_STATES, type OrderState } from '../../domain/orders/states.ts';
import { printable } from '../../reports/formats/text.ts';
import { readHolds } from '../../store/account-holds.ts';
import type { Database } from '../../store/port.ts';
import { listOrders } from '../../store/listed-orders.ts';
import type { OrderRow } from '../../store/order-columns.ts';
import { addOrderOptions, type OrderOptions } from '../shared/filters.ts';
import { accountColumn, addListOptions, printList, sayCut, type ListColumn, type ListOptions } from '../shared/list.ts';
import type { AccountOptions } from '../shared/account.ts';
import { addPeriodOptions, type PeriodOptions } from '../shared/period.ts';
import { withAccounts } from '../shared/store.ts';
import { REVEAL, withoutToken } from '../shared/tokens.ts';

const COLUMNS: readonly ListColumn<OrderRow>[] = [
  { label: 'id', of: (row) => row.external_order_id },
  { label: 'asset', kind: 'decimal', rank: 1, of: (row) => row.asset },
  { label: 'pair', of: (row) => `${row.from_currency}/${row.to_currency}` },
  { label: 'state', kind: 'state', of: (row) => row.state },
  { label: 'status', rank: 2, of: (row) => row.order_status },
  { label: 'updated', kind: 'time', rank: 4, of: (row) => row.updated_at },
  { label: 'reason', rank: 3, of: (row) => row.state_reason },
];

interface OrderListOptions extends AccountOptions, OrderOptions, PeriodOptions, ListOptions {
  readonly state?: OrderState;
  readonly class?: FindingClassName;
  readonly reveal?: boolean;
}

/** `order-sync orders list`. */
export function define(command: Command): void {
  command.description(
    'lists orders, the newest first; without --state those that are held, disputed or unknown come before',
  );
  addOrderOptions(command)
    .addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES))
    .addOption(
      new Option('--class <class>', 'only orders with an unresolved finding of this class').choices(
        Object.keys(FINDING_CLASSES),
      ),
    );
  addListOptions(addPeriodOptions(command))
    .option(...REVEAL)
    .addHelpText(
      'after',
      "\nExamples:\n  order-sync orders list --state held\n  order-sync orders list --order 'shop-10*' --pair BTC/EUR --from 2026-01-31",
    )
    .action(async (options: OrderListOptions) => {
      const { limit, json: _json, account: _account, reveal, ...filter } = options;
      const { rows, isCut, held } = await withAccounts(command, async ({ db }, account) => ({
        ...(await listOrders(db, { ...filter, account, limit: limit + 1 })),
        held: account === undefined ? [] : await pausesOf(db, account),
      }));
      const shown = rows.map((row) => (reveal === true ? row : withoutToken(row)));
      printList(shown, options, [...accountColumn(command), ...COLUMNS], emptyText(filter));
      for (const line of held) process.stderr.write(`${printable(line)}\n`);
      if (isCut) sayCut('--from and --to, or --order, look at others');
    });
}

/** Why orders of the account wait that are due. */
async function pausesOf(db: Database, account: string): Promise<readonly string[]> {
  const holds = await readHolds(db, account);
  return holds.filter((hold) => stops(hold, 'create')).map((hold) => describeHold(viewOf(hold), account));
}

function emptyText({ state, ...others }: Pick<OrderListOptions, 'state'>): string {
  if (Object.keys(others).length > 0) return 'no such order';
  return state === undefined ? 'there is no order' : `no order is ${state}`;
}
