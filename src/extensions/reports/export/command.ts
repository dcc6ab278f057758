import { Option, type Command } from 'commander';
import { withAccounts } from '../../commands/store.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';
import { exportSection } from './export.ts';
import type { Row, Section } from '../../documents/document.ts';
import { OUTCOMES } from '../reconciliation/rows.ts';
import type { ExportFilter } from '../tables/exported-orders.ts';
import { chooseFormat, isFolder, writeReport } from '../../commands/output.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { readPair, addByOption, addPeriodOptions, REVEAL } from '../../commands/options.ts';

/** A workbook is made in memory, and its rows are long. */
const MOST_IN_XLSX = 10_000;

const FORMATS = ['csv', 'ndjson', 'xlsx'] as const;

interface ExportOptions extends Omit<ExportFilter, 'account'> {
  readonly format?: (typeof FORMATS)[number];
  readonly out?: string;
  readonly reveal?: boolean;
}

export function define(command: Command): void {
  const format = new Option('--format <format>', 'unless given, the name of --out tells it, or else csv');
  addByOption(addPeriodOptions(command, 'orders'))
    .option('--pair <pair>', 'only orders of this pair, such as BTC/EUR', readPair)
    .addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES))
    .addOption(new Option('--outcome <outcome>', 'only orders with this outcome').choices(OUTCOMES))
    .addOption(format.choices(FORMATS))
    .option('--out <file>', 'write to a file, made readable for you alone, instead of stdout')
    .option(...REVEAL)
    .addHelpText('after', '\nExample:\n  order-sync orders export --by completion --from 2026-01-01 --out january.csv')
    .action(async ({ format: given, out, reveal, ...filter }: ExportOptions) => {
      if (isFolder(out)) command.error('error: --out is a folder: name a file');
      const chosen = chooseFormat(FORMATS, given, out) ?? 'csv';
      await withAccounts(command, async ({ db }, account) => {
        const section = exportSection(db, { ...filter, account }, reveal === true);
        const rows = chosen === 'xlsx' ? atMost(section.rows, MOST_IN_XLSX) : section.rows;
        const document = { schema: null, title: 'Orders', facts: [], sections: [{ ...section, rows }], charts: [] };
        await writeReport(document, { format: chosen, out });
      });
    });
}

/** Throws if there are more rows, because a file that lacks orders must not look complete. */
async function* atMost(rows: Section['rows'], most: number): AsyncGenerator<Row> {
  let count = 0;
  for await (const row of rows) {
    count += 1;
    if (count > most) {
      const message = `an .xlsx file takes at most ${most} orders: choose fewer, or give --format csv`;
      throw new CommandError(EXIT.usage, message);
    }
    yield row;
  }
}
