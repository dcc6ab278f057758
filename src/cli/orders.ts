import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { systemClock } from '../clock.ts';
import { ORDER_STATES } from '../domain/order.ts';
import { importOrders, type ImportFormat, type ImportResult } from '../flows/import.ts';
import { asTable } from '../reports/format.ts';
import { readOrder } from '../store/orders.ts';
import { eventsOf, listOrders, receivedBody } from '../store/reading.ts';
import { openStore, type Store } from '../store/store.ts';
import { EXIT } from './exit.ts';
import { databaseConfig } from './options.ts';

const ACCOUNT = 'default';
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

/** `order-sync orders add|import|list|show`. */
export function registerOrders(program: Command): void {
  const orders = program.command('orders').description('put orders in and look at them');
  registerAdd(program, orders);
  registerImport(program, orders);
  registerList(program, orders);
  registerShow(program, orders);
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
      const input = Readable.from([`${JSON.stringify(fields)}\n`]);
      await withStore(program, 'migrate', async (store) => {
        tell(await importOrders(store, ACCOUNT, input, 'ndjson'), 'orders add', false);
      });
    });
}

function registerImport(program: Command, orders: Command): void {
  orders
    .command('import')
    .description('inserts the rows of a file, all or none; columns are those of merchant_orders')
    .argument('<file>', 'CSV or NDJSON; - for standard input')
    .addOption(new Option('--format <format>', 'when the name does not tell').choices(['csv', 'ndjson']))
    .option('--json', 'print the counts as JSON')
    .addHelpText('after', '\nExample:\n  order-sync orders import january.csv')
    .action(async (file: string, options: { format?: ImportFormat; json?: boolean }) => {
      const format = options.format ?? formatOf(file);
      const progress = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
      await withStore(program, 'migrate', async (store) => {
        const input = file === '-' ? process.stdin : createReadStream(file);
        const result = await importOrders(store, ACCOUNT, input, format, (read) => progress?.(`${read} rows read`));
        progress?.clear();
        tell(result, file, options.json === true);
      });
    });
}

function registerList(program: Command, orders: Command): void {
  orders
    .command('list')
    .description('the newest orders')
    .addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES))
    .option('--limit <n>', 'at most so many', wholeNumber, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync orders list --state held')
    .action(async (options: { state?: string; limit: number; json?: boolean }) => {
      await withStore(program, 'current', async (store) => {
        const rows = await listOrders(store.db, { account: ACCOUNT, state: options.state, limit: options.limit });
        const lines = rows.map((row) => ({
          id: row.external_order_id,
          asset: row.asset,
          pair: `${row.from_currency}/${row.to_currency}`,
          state: row.state,
          status: row.order_status,
          updated: row.updated_at,
          reason: row.state_reason,
        }));
        process.stdout.write(options.json === true ? `${JSON.stringify(rows, null, 2)}\n` : asTable(lines));
      });
    });
}

function registerShow(program: Command, orders: Command): void {
  orders
    .command('show')
    .description('one order: its row, its history, and what the exchange said of it')
    .argument('<externalOrderId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync orders show shop-1001')
    .action(async (externalOrderId: string, options: { json?: boolean }) => {
      await withStore(program, 'current', async (store) => {
        const row = await readOrder(store.db, ACCOUNT, externalOrderId);
        if (row === undefined) {
          process.stderr.write(`there is no order ${JSON.stringify(externalOrderId)} in the table\n`);
          process.exitCode = EXIT.look;
          return;
        }
        const events = await eventsOf(store.db, ACCOUNT, externalOrderId);
        const preOrder = await receivedBody(store.db, 'pre_orders', ACCOUNT, externalOrderId);
        const record = await receivedBody(store.db, 'order_records', ACCOUNT, externalOrderId);
        if (options.json === true) {
          // Bodies stay text: parsing them here would round their amounts.
          process.stdout.write(`${JSON.stringify({ order: row, events, preOrder, record }, null, 2)}\n`);
          return;
        }
        const shown = Object.entries(row).filter(([, value]) => value !== null);
        process.stdout.write(asTable(shown.map(([field, value]) => ({ field, value }))));
        process.stdout.write(
          asTable(
            events.map(({ observed_at, field, old_value, new_value, source, reason }) => ({
              at: observed_at,
              field,
              from: old_value,
              to: new_value,
              source,
              reason,
            })),
          ),
        );
        process.stdout.write(`pre-order: ${preOrder ?? 'none'}\nrecord: ${record ?? 'none'}\n`);
      });
    });
}

async function withStore(
  program: Command,
  expect: 'migrate' | 'current',
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await openStore(databaseConfig(program).database.path, systemClock(), { expect });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

function tell(result: ImportResult, file: string, asJson: boolean): void {
  const { read, inserted, alreadyPresent, problemCount, problems } = result;
  for (const problem of problems) process.stderr.write(`${file}:${problem}\n`);
  if (problemCount > 0) {
    process.stderr.write(`${problemCount} problems, nothing was inserted; mend them and import again\n`);
    process.exitCode = EXIT.data;
  }
  const counts = { read, inserted, alreadyPresent, problems: problemCount };
  process.stdout.write(
    asJson ? `${JSON.stringify(counts)}\n` : `${read} read, ${inserted} inserted, ${alreadyPresent} already present\n`,
  );
}

function formatOf(file: string): ImportFormat {
  if (file.endsWith('.csv')) return 'csv';
  if (/\.(ndjson|jsonl)$/.test(file)) return 'ndjson';
  throw new InvalidArgumentError(`${file} does not tell its form; give --format csv or --format ndjson`);
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 is wanted');
  return Number(text);
}
