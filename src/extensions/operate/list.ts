import { Option, type Command } from 'commander';
import { addOrderOptions, addPeriodOptions, examples, REVEAL, withoutToken } from '../commands/options.ts';
import type { OrderOptions, PeriodOptions } from '../commands/options.ts';
import { addListOptions, printList, printLong, warnOfCutList } from '../commands/print.ts';
import type { ListColumn, ListOptions } from '../commands/print.ts';
import { absentOrder } from '../commands/absent-order.ts';
import { withAccounts, withAccount } from '../commands/store.ts';
import type { FindingClassName } from '../../findings/rules/classes.ts';
import { CLASSES } from './finding-classes.ts';
import { describeRestraint, stops, viewOf } from '../../accounts/rules/restraints.ts';
import { ORDER_STATES, type OrderState } from '../../orders/rules/states.ts';
import { printable } from '../../base/words.ts';
import { readHolds } from '../../store/tables/account-holds.ts';
import type { AccountSettings } from '../../settings/config.ts';
import type { Database } from '../../store/port.ts';
import { listOrders, orderEvents } from './tables/listed-orders.ts';
import type { OrderRow } from '../../store/orders/order-columns.ts';
import { headlineOf, headlineSentence } from '../documents/headline.ts';
import { styled } from '../../cli/shared/terminal.ts';
import { readOrder } from '../../store/orders/orders.ts';
import { readPreOrder, readRecord } from '../../store/tables/order-records.ts';
import { answerText, rowWithHistory } from '../commands/answer.ts';
import { screenOf } from '../../cli/shared/help.ts';
import { pasteable } from '../../base/invocation.ts';

export const define = { list: defineList, show: defineShow };

const COLUMNS: readonly ListColumn<OrderRow>[] = [
  { label: 'id', isId: true, of: (row) => row.external_order_id },
  { label: 'asset', kind: 'decimal', of: (row) => row.asset },
  { label: 'pair', rank: 2, of: (row) => `${row.from_currency}/${row.to_currency}` },
  { label: 'state', kind: 'state', rank: 1, of: (row) => row.state },
  { label: 'headline', of: headlineOf },
  { label: 'status', rank: 3, of: (row) => row.order_status },
  { label: 'updated', kind: 'time', rank: 5, of: (row) => row.updated_at },
  { label: 'reason', rank: 4, of: (row) => row.state_reason },
];

interface OrderListOptions extends OrderOptions, PeriodOptions, ListOptions {
  readonly state?: OrderState;
  readonly class?: FindingClassName;
  readonly reveal?: boolean;
}

function defineList(command: Command): void {
  const order = 'the newest first; if --state is not set, held, disputed and unknown orders come first';
  addOrderOptions(command.description(`lists orders, ${order}`))
    .addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES))
    .addOption(new Option('--class <class>', 'only orders with an unresolved finding of this class').choices(CLASSES));
  addListOptions(addPeriodOptions(command))
    .option(...REVEAL)
    .addHelpText(
      ...examples('orders list --state held', "orders list --order 'shop-10*' --pair BTC/EUR --from 2026-01-31"),
    )
    .action(async (options: OrderListOptions) => {
      const { limit, json: _json, account: _account, reveal, ...filter } = options;
      const { rows, isCut, held } = await withAccounts(command, async ({ db }, account) => ({
        ...(await listOrders(db, { ...filter, account, limit: limit + 1 })),
        held: account === undefined ? [] : await pausesOf(db, account),
      }));
      const { state, ...more } = filter;
      const none = state === undefined ? 'there is no order' : `no order is ${state}`;
      const shown = rows.map((row) => (reveal === true ? row : withoutToken(row)));
      await printList(command, shown, options, COLUMNS, Object.keys(more).length > 0 ? 'no such order' : none);
      for (const line of held) process.stderr.write(`${printable(pasteable(line))}\n`);
      const others =
        filter.order === undefined ? 'older orders with --from and --to, or with' : 'fewer orders with a longer';
      if (isCut) warnOfCutList(`search ${others} --order`);
    });
}

async function pausesOf(db: Database, account: string): Promise<readonly string[]> {
  const holds = await readHolds(db, account);
  return holds.filter((hold) => stops(hold, 'create')).map((hold) => describeRestraint(viewOf(hold), account));
}

function defineShow(command: Command): void {
  command
    .argument('<externalOrderId>')
    .option('--json', 'print JSON')
    .option(...REVEAL)
    .addHelpText(...examples('orders show shop-1001'))
    .action(async (id: string, { json, reveal }: { json?: boolean; reveal?: boolean }) => {
      const shown = await withAccount(command, 'current', ({ db }, settings) => readAll(db, settings, id, reveal));
      await printLong(json, shown, () => asSections(shown));
    });
}

/** Reads an order with history, pre-order and record. Bodies stay text, because parsing would round amounts. */
async function readAll(db: Database, settings: AccountSettings, id: string, reveal = false) {
  const { account } = settings;
  const order = await readOrder(db, account, id);
  if (order === undefined) throw await absentOrder(db, settings, id);
  const events = await orderEvents(db, account, id);
  const preOrder = (await readPreOrder(db, account, id)) ?? null;
  const record = (await readRecord(db, account, id))?.body ?? null;
  if (reveal) return { order, events, preOrder, record };
  const { withoutTokens } = await import('../documents/hidden-tokens.ts');
  const hidden = (body: string | null) => (body === null ? null : withoutTokens(body));
  return { order: withoutToken(order), events, preOrder: hidden(preOrder), record: hidden(record) };
}

function asSections({ order, events, preOrder, record }: Awaited<ReturnType<typeof readAll>>): string {
  const screen = screenOf();
  const bold = (text: string) => styled('bold', text, screen);
  const answer = (name: string, body: string | null) =>
    body === null ? `\n${name}: none\n` : `\n${bold(`${name}, as received`)}\n${answerText(body, screen)}`;
  const head = `${bold(`${headlineSentence(order)}.`)}\n\n${rowWithHistory(order, events)}`;
  return head + answer('pre-order', preOrder) + answer('record', record);
}
