import { Option, type Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { systemClock } from '../../clock.ts';
import { importOrders, type ImportFormat, type ImportResult } from '../../flows/orders/import.ts';
import { printable } from '../../reports/formats/text.ts';
import { EXIT } from '../shared/exit.ts';
import { withAccount } from '../shared/store.ts';
import { formatOf, openInput } from './input.ts';

const HELP = `
Columns: external_order_id, asset, from_currency, to_currency, and, where
wanted, asset_position, order_type, order_limit, payment_token, provider_type,
crypto_address, bonus.
An order that is in the table already with the same content is passed over; with
other content it is an error.

Examples:
  order-sync orders import january.csv
  shop-export | order-sync orders import - --format ndjson
  order-sync orders import missing-time.csv --may-have-been-sent`;

interface Options {
  readonly format?: ImportFormat;
  readonly json?: boolean | undefined;
  readonly mayHaveBeenSent?: boolean | undefined;
}

/** `order-sync orders import`. */
export function define(command: Command): void {
  command
    .argument('<file>', 'CSV with a header, or NDJSON; - for standard input')
    .addOption(
      new Option('--format <format>', 'where the name of the file does not tell it').choices(['csv', 'ndjson']),
    )
    .option('--may-have-been-sent', 'after a restore: rows are looked up and held, and not sent')
    .option('--json', 'print the counts as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, { format = formatOf(file), json, mayHaveBeenSent }: Options) => {
      if (format === undefined) {
        return command.error(`error: the name ${file} does not tell the format: give --format csv or --format ndjson`);
      }
      const input = await openInput(file);
      const progress = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
      const result = await withAccount(command, 'migrate', (store, { account, create }) =>
        importOrders(store, account, input, {
          format,
          assumeSent: mayHaveBeenSent === true ? { clock: systemClock(), settings: create } : undefined,
          onProgress: (read) => progress?.(`${read} rows read`),
        }),
      );
      progress?.clear();
      print(result, file, { json, mayHaveBeenSent });
    });
}

function print(result: ImportResult, file: string, { json, mayHaveBeenSent = false }: Options): void {
  const { read, inserted, alreadyPresent, assumedSent, problemCount, problems } = result;
  for (const { line, column, reason } of problems) {
    const text = column === undefined ? reason : `${column}: ${reason}`;
    process.stderr.write(`${file}:${line}: ${printable(text)}\n`);
  }
  if (problemCount > 0) {
    const count = problemCount === 1 ? '1 problem' : `${problemCount} problems`;
    const more = problemCount > problems.length ? `, the first ${problems.length} are named above` : '';
    process.stderr.write(`${count}${more}; nothing was inserted; correct the file and import it again\n`);
    process.exitCode = EXIT.data;
  }
  const counts = { read, inserted, alreadyPresent, problems: problemCount, ...(mayHaveBeenSent && { assumedSent }) };
  const assumed = mayHaveBeenSent ? `, ${assumedSent} taken for sent` : '';
  const text = `${read} read, ${inserted} inserted, ${alreadyPresent} already present${assumed}`;
  process.stdout.write(`${json === true ? JSON.stringify(counts) : text}\n`);
}
