import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { ORDER_STATES } from '../../domain/orders/states.ts';
import { importOrders, type ImportFormat, type ImportResult } from '../../flows/orders/import.ts';
import { asTable, printable } from '../../reports/formats/text.ts';
import { readOrder } from '../../store/orders.ts';
import { eventsOf, listOrders, receivedBody } from '../../store/reading.ts';
import type { Store } from '../../store/port.ts';
import { CommandError, EXIT } from '../exit.ts';
import { ACCOUNT, withStore } from '../options.ts';
import { registerDecisions } from './decide.ts';
import { registerExplain } from './explain.ts';

/** The options of `orders add` and the columns they fill. */
const ADD_OPTIONS = [
  ['--external-order-id <id>', 'external_order_id', 'order id in your system', true],
  ['--asset <decimal>', 'asset', 'amount, exact', true],
  ['--from <currency>', 'from_currency', 'currency given', true],
  ['--to <currency>', 'to_currency', 'currency taken', true],
  ['--asset-position <position>', 'asset_position', 'INPUT unless given', false],
  ['--order-type <type>', 'order_type', 'DEPOSIT unless given', false],
  ['--order-limit <decimal>', 'order_limit', 'limit (§2.6)', false],
  ['--payment-token <token>', 'payment_token', 'payment token (§2.6)', false],
  ['--provider-type <type>', 'provider_type', 'provider type (§2.6)', false],
  ['--crypto-address <address>', 'crypto_address', 'crypto address (§2.6)', false],
  ['--bonus <decimal>', 'bonus', 'bonus (§2.6)', false],
] as const;

const LIST_COLUMNS = ['id', 'asset', 'pair', 'state', 'status', 'updated', 'reason'];
const REVEAL = ['--reveal', 'payment tokens as they are'] as const;
const HIDDEN = '<hidden>';
/** The field in a body, which stays text. */
const TOKEN_IN_BODY = /("paymentToken"\s*:\s*)"(?:[^"\\]|\\.)*"/g;
/** The table's layout takes time with the square of its rows. */
const MOST_IN_TABLE = 1_000;
const OPTIONAL_COLUMNS = ADD_OPTIONS.filter(([, , , isRequired]) => !isRequired).map(([, column]) => column);
const IMPORT_HELP = `
Columns: external_order_id, asset, from_currency, to_currency, and, where wanted, ${OPTIONAL_COLUMNS.join(', ')}.
An order that is in the table already with the same content is passed over; with other content it is an error.

Examples:
  order-sync orders import january.csv
  shop-export | order-sync orders import - --format ndjson`;

/** `order-sync orders …`. */
export function registerOrders(program: Command): void {
  const orders = program
    .command('orders')
    .description('put orders in, look at them, decide about them')
    .addHelpText('after', '\nExample:\n  order-sync orders list --state held');
  registerAdd(program, orders);
  registerImport(program, orders);
  registerList(program, orders);
  registerShow(program, orders);
  registerExplain(program, orders);
  registerDecisions(program, orders);
}

function registerAdd(program: Command, orders: Command): void {
  const add = orders.command('add').description('inserts one order');
  for (const [flags, column, description, isRequired] of ADD_OPTIONS) {
    const option = new Option(flags, description).makeOptionMandatory(isRequired);
    option.attributeName = () => column;
    add.addOption(option);
  }
  add
    .addHelpText(
      'after',
      '\nExample:\n  order-sync orders add --external-order-id shop-1001 --asset 0.25 --from BTC --to EUR',
    )
    .action(async (fields: Record<string, string>) => {
      const input = Readable.from([JSON.stringify(fields)]);
      const result = await withStore(program, 'migrate', (store) => importOrders(store, ACCOUNT, input, 'ndjson'));
      const problems = result.problems.map(({ column, reason }) => `${column} ${reason}`);
      if (problems.length > 0) throw new CommandError(EXIT.data, `${problems.join('; ')}; nothing was inserted`);
      const id = JSON.stringify(fields['external_order_id']);
      process.stdout.write(
        result.inserted === 1 ? `${id} is inserted\n` : `${id} is there already, with this content\n`,
      );
    });
}

function registerImport(program: Command, orders: Command): void {
  const command = orders.command('import');
  command
    .description('inserts the rows of a file, all or none')
    .argument('<file>', 'CSV with a header, or NDJSON; - for standard input')
    .addOption(new Option('--format <format>', 'when the name does not tell').choices(['csv', 'ndjson']))
    .option('--json', 'print the counts as JSON')
    .addHelpText('after', IMPORT_HELP)
    .action(async (file: string, options: { format?: ImportFormat; json?: boolean }) => {
      const format = options.format ?? formatOf(file);
      if (format === undefined) {
        return command.error(`error: the name ${file} does not tell the form: give --format csv or --format ndjson`);
      }
      const input = await openInput(file);
      const progress = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
      const result = await withStore(program, 'migrate', (store) =>
        importOrders(store, ACCOUNT, input, format, (read) => progress?.(`${read} rows read`)),
      );
      progress?.clear();
      tell(result, file, options.json === true);
    });
}

interface ListOptions {
  readonly state?: string;
  readonly limit: number;
  readonly json?: boolean;
  readonly reveal?: boolean;
}

function registerList(program: Command, orders: Command): void {
  const command = orders.command('list');
  command
    .description('the newest orders')
    .addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES))
    .option('--limit <n>', `at most so many; a table has at most ${MOST_IN_TABLE}`, wholeNumber, 50)
    .option('--json', 'print JSON')
    .option(...REVEAL)
    .addHelpText('after', '\nExample:\n  order-sync orders list --state held')
    .action(async ({ state, limit, json, reveal }: ListOptions) => {
      if (json !== true && limit > MOST_IN_TABLE) {
        command.error(`error: a table has at most ${MOST_IN_TABLE} rows: give --json for more`);
      }
      const query = { account: ACCOUNT, state, limit: limit + 1 };
      const found = await withStore(program, 'current', (store) => listOrders(store.db, query));
      const rows = found.slice(0, limit).map((row) => (reveal === true ? row : withoutToken(row)));
      const lines = rows.map((row) => ({
        id: row.external_order_id,
        asset: row.asset,
        pair: `${row.from_currency}/${row.to_currency}`,
        state: row.state,
        status: row.order_status,
        updated: row.updated_at,
        reason: row.state_reason,
      }));
      process.stdout.write(json === true ? `${JSON.stringify(rows, null, 2)}\n` : asTable(lines, LIST_COLUMNS));
      if (found.length > limit) process.stderr.write(`there are more; --limit shows more than ${limit}\n`);
    });
}

function registerShow(program: Command, orders: Command): void {
  orders
    .command('show')
    .description('one order: its row, its history, and what the exchange said of it')
    .argument('<externalOrderId>')
    .option('--json', 'print JSON')
    .option(...REVEAL)
    .addHelpText('after', '\nExample:\n  order-sync orders show shop-1001')
    .action(async (externalOrderId: string, options: { json?: boolean; reveal?: boolean }) => {
      const all = await withStore(program, 'current', (store) => readAll(store, externalOrderId));
      const found = all === undefined || options.reveal === true ? all : withoutTokens(all);
      if (found === undefined) {
        throw new CommandError(EXIT.look, `there is no order ${JSON.stringify(externalOrderId)} in the table`);
      }
      process.stdout.write(options.json === true ? `${JSON.stringify(found, null, 2)}\n` : asSections(found));
    });
}

/** Everything the database has of one order. Bodies stay text: parsing them here would round their amounts. */
async function readAll({ db }: Store, externalOrderId: string) {
  const order = await readOrder(db, ACCOUNT, externalOrderId);
  if (order === undefined) return undefined;
  const events = await eventsOf(db, ACCOUNT, externalOrderId);
  const preOrder = (await receivedBody(db, 'pre_orders', ACCOUNT, externalOrderId)) ?? null;
  const record = (await receivedBody(db, 'order_records', ACCOUNT, externalOrderId)) ?? null;
  return { order, events, preOrder, record };
}

type Everything = NonNullable<Awaited<ReturnType<typeof readAll>>>;

function withoutTokens({ order, events, preOrder, record }: Everything): Everything {
  const hidden = (body: string | null) => body?.replaceAll(TOKEN_IN_BODY, `$1"${HIDDEN}"`) ?? null;
  return { order: withoutToken(order), events, preOrder: hidden(preOrder), record: hidden(record) };
}

function withoutToken<Row extends { payment_token: string | null }>(row: Row): Row {
  return row.payment_token === null ? row : { ...row, payment_token: HIDDEN };
}

function asSections({ order, events, preOrder, record }: Everything): string {
  const fields = Object.entries(order).filter(([, value]) => value !== null);
  const changes = events.map((event) => ({
    at: event.observed_at,
    field: event.field,
    from: event.old_value,
    to: event.new_value,
    source: event.source,
    reason: event.reason,
  }));
  return [
    asTable(fields.map(([field, value]) => ({ field, value: value as string | number }))),
    events.length === 0 ? 'history: nothing has happened yet\n' : asTable(changes),
    `pre-order: ${printable(preOrder ?? 'none')}\n`,
    `record: ${printable(record ?? 'none')}\n`,
  ].join('');
}

async function openInput(file: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  const handle = await open(file).catch((error: Error) => {
    throw new CommandError(EXIT.data, `the file cannot be read: ${error.message}`, { cause: error });
  });
  if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
  await handle.close();
  throw new CommandError(EXIT.data, `${file} is a folder; name a file`);
}

function tell(result: ImportResult, file: string, asJson: boolean): void {
  const { read, inserted, alreadyPresent, problemCount, problems } = result;
  for (const { line, column, reason } of problems) {
    const told = column === undefined ? reason : `${column}: ${reason}`;
    process.stderr.write(`${file}:${line}: ${printable(told)}\n`);
  }
  if (problemCount > 0) {
    const count = problemCount === 1 ? '1 problem' : `${problemCount} problems`;
    const more = problemCount > problems.length ? `, the first ${problems.length} are named above` : '';
    process.stderr.write(`${count}${more}; nothing was inserted; mend the file and import it again\n`);
    process.exitCode = EXIT.data;
  }
  const counts = { read, inserted, alreadyPresent, problems: problemCount };
  process.stdout.write(
    asJson ? `${JSON.stringify(counts)}\n` : `${read} read, ${inserted} inserted, ${alreadyPresent} already present\n`,
  );
}

function formatOf(file: string): ImportFormat | undefined {
  if (/\.csv$/i.test(file)) return 'csv';
  return /\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : undefined;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('A whole number from 1 is wanted.');
  return Number(text);
}
