import { Option, type Command } from 'commander';
import { examples } from '../../commands/options.ts';
import { withAccount } from '../../commands/store.ts';
import { type ImportFormat, addFileOptions, openFile } from '../../commands/files.ts';
import { addOrder } from '../add.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { systemClock } from '../../../base/clock.ts';
import { importOrders, type ImportResult } from '../import.ts';
import { printable } from '../../../base/words.ts';
import { terminalLine } from '../../../cli/shared/progress.ts';
import { print } from '../../commands/print.ts';
import { counted } from '../../documents/words.ts';

export const define = { add: defineAdd, import: defineImport };

const COLUMNS = [
  ['--external-order-id <id>', 'external_order_id', 'order id in your system', true],
  ['--asset <decimal>', 'asset', 'amount, exact', true],
  ['--from <currency>', 'from_currency', 'currency given', true],
  ['--to <currency>', 'to_currency', 'currency taken', true],
  ['--asset-position <position>', 'asset_position', 'INPUT unless given', false],
  ['--order-type <type>', 'order_type', 'DEPOSIT unless given', false],
  ['--order-limit <decimal>', 'order_limit', 'limit of the pre-order', false],
  ['--payment-token <token>', 'payment_token', 'payment token of the pre-order; the process list shows it', false],
  ['--provider-type <type>', 'provider_type', 'provider type of the pre-order', false],
  ['--crypto-address <address>', 'crypto_address', 'crypto address of the pre-order', false],
  ['--bonus <decimal>', 'bonus', 'bonus of the pre-order', false],
] as const;

function defineAdd(command: Command): void {
  for (const [flags, column, text, isRequired] of COLUMNS) {
    const option = new Option(flags, text).makeOptionMandatory(isRequired);
    option.attributeName = () => column;
    command.addOption(option);
  }
  command
    .addHelpText(...examples('orders add --external-order-id shop-1001 --asset 0.25 \\\n    --from BTC --to EUR'))
    .action(async ({ account: _account, ...fields }: Record<string, string>) => {
      const added = await withAccount(command, 'migrate', (store, { account }) => addOrder({ store, account }, fields));
      if ('why' in added) throw new CommandError(EXIT.data, `${added.why}; nothing was inserted`);
      const said = added.kind === 'inserted' ? 'is inserted' : 'is there already, with this content';
      process.stdout.write(`${JSON.stringify(added.externalOrderId)} ${said}\n`);
    });
}

const HELP = `
Required columns: external_order_id, asset, from_currency, to_currency.
Optional columns: asset_position, order_type, order_limit, payment_token,
provider_type, crypto_address, bonus.
An order that is in the table already with the same content is skipped. With
other content it is an error.

Examples:
  order-sync orders import january.csv
  shop-export | order-sync orders import - --format ndjson
  order-sync orders import missing-time.csv --may-have-been-sent`;

type Shown = { readonly json?: boolean | undefined; readonly mayHaveBeenSent?: boolean | undefined };

function defineImport(command: Command): void {
  addFileOptions(command)
    .option('--may-have-been-sent', 'after a restore: rows are looked up, and not sent')
    .option('--json', 'print the counts as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, { format: given, ...shown }: Shown & { format?: ImportFormat }) => {
      const { format, input } = await openFile(command, file, given);
      const line = await terminalLine();
      const result = await withAccount(command, 'migrate', (store, { account, create }) =>
        importOrders(store, account, input, {
          format,
          assumeSent: shown.mayHaveBeenSent === true ? { clock: systemClock(), settings: create } : undefined,
          onProgress: (read) => line?.(`${read} rows read`),
        }),
      );
      line?.clear();
      printResult(result, file, shown);
    });
}

function printResult(result: ImportResult, file: string, { json, mayHaveBeenSent = false }: Shown): void {
  const { read, inserted, alreadyPresent, assumedSent, problemCount, problems } = result;
  for (const { line, column, problem } of problems) {
    const text = column === undefined ? problem : `${column}: ${problem}`;
    process.stderr.write(`${file}:${line}: ${printable(text)}\n`);
  }
  if (problemCount > 0) {
    const more = problemCount > problems.length ? `, the first ${problems.length} are named above` : '';
    const advice = 'nothing was inserted; correct the file and import it again';
    process.stderr.write(`${counted(problemCount, 'problem')}${more}; ${advice}\n`);
    process.exitCode = EXIT.data;
  }
  const counts = { read, inserted, alreadyPresent, problems: problemCount, ...(mayHaveBeenSent && { assumedSent }) };
  const assumed = mayHaveBeenSent ? `, ${assumedSent} assumed to be sent` : '';
  print(json, counts, () => `${read} read, ${inserted} inserted, ${alreadyPresent} already present${assumed}\n`);
}
