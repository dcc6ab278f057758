import { writeFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { systemClock } from '../clock.ts';
import { asCsv, asJson, asTable, type ReportRows } from '../reports/format.ts';
import { summarize } from '../reports/summary.ts';
import { summaryRows } from '../store/reading.ts';
import { openStore } from '../store/store.ts';
import { databaseConfig } from './options.ts';

const FORMATS: Readonly<Record<string, (rows: ReportRows) => string>> = { table: asTable, csv: asCsv, json: asJson };

interface ReportOptions {
  readonly from?: string;
  readonly to?: string;
  readonly format: string;
  readonly json?: boolean;
  readonly out?: string;
}

/** `order-sync report summary`. */
export function registerReport(program: Command): void {
  program
    .command('report')
    .description('reports from the database')
    .command('summary')
    .description('counts and exact sums by pair, state and status')
    .option('--from <time>', 'only orders inserted at or after it (UTC, ISO 8601)', time)
    .option('--to <time>', 'only orders inserted before it', time)
    .addOption(new Option('--format <format>', 'how it is written').choices(Object.keys(FORMATS)).default('table'))
    .option('--json', 'the same as --format json')
    .option('--out <file>', 'write to a file instead of stdout')
    .addHelpText('after', '\nExample:\n  order-sync report summary --from 2026-01-01 --format csv --out january.csv')
    .action(async (options: ReportOptions) => {
      const store = await openStore(databaseConfig(program).database.path, systemClock(), { expect: 'current' });
      const lines = await summarize(summaryRows(store.db, { account: 'default', from: options.from, to: options.to }));
      await store.close();
      const format = FORMATS[options.json === true ? 'json' : options.format] ?? asTable;
      const text = format(lines.map((line) => ({ ...line })));
      if (options.out === undefined) process.stdout.write(text);
      else writeFileSync(options.out, text, { mode: 0o600 });
    });
}

function time(text: string): string {
  const read = new Date(text);
  if (Number.isNaN(read.getTime()))
    throw new InvalidArgumentError('write a time such as 2026-01-31 or 2026-01-31T12:00:00Z');
  return read.toISOString();
}
