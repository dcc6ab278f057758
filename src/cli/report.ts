import { writeFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { asCsv, asJson, asTable, type ReportRows } from '../reports/format.ts';
import { summarize, SUMMARY_COLUMNS } from '../reports/summary.ts';
import { summaryRows } from '../store/reading.ts';
import { ACCOUNT, withStore } from './options.ts';

type Format = (rows: ReportRows, columns: readonly string[]) => string;
const FORMATS: Readonly<Record<string, Format>> = { table: asTable, csv: asCsv, json: asJson };

interface ReportOptions {
  readonly from?: string;
  readonly to?: string;
  readonly format: string;
  readonly json?: boolean;
  readonly out?: string;
}

/** `order-sync report summary`. */
export function registerReport(program: Command): void {
  const summary = program
    .command('report')
    .description('reports from the database')
    .addHelpText('after', '\nExample:\n  order-sync report summary')
    .command('summary');
  summary
    .description('counts and exact sums by pair, state and status')
    .option('--from <time>', 'only orders inserted at or after it (UTC, ISO 8601)', time)
    .option('--to <time>', 'only orders inserted before it', time)
    .addOption(new Option('--format <format>', 'how it is written').choices(Object.keys(FORMATS)).default('table'))
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .option('--out <file>', 'write to a file, made readable for you alone, instead of stdout')
    .addHelpText('after', '\nExample:\n  order-sync report summary --from 2026-01-01 --format csv --out january.csv')
    .action(async ({ from, to, format, json, out }: ReportOptions) => {
      if (from !== undefined && to !== undefined && from >= to) summary.error('error: --from must be before --to');
      const filter = { account: ACCOUNT, from, to };
      const lines = await withStore(program, 'current', (store) => summarize(summaryRows(store.db, filter)));
      const write = FORMATS[json === true ? 'json' : format] ?? asTable;
      const text = write(
        lines.map((line) => ({ ...line })),
        SUMMARY_COLUMNS,
      );
      if (out === undefined) process.stdout.write(text);
      else writeFileSync(out, text, { mode: 0o600 });
    });
}

/** A day, which begins at midnight, or a time of it; in UTC, whatever the machine's time zone is. */
function time(text: string): string {
  const [, day, clock = 'T00:00'] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?$/.exec(text) ?? [];
  const read = new Date(`${day}${clock}Z`);
  // A day that the month does not have would otherwise be one of the next month.
  if (Number.isNaN(read.getTime()) || !read.toISOString().startsWith(`${day}T`)) {
    throw new InvalidArgumentError('Write a time such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  }
  return read.toISOString();
}
