import type { Command } from 'commander';
import type { Column, ReportDocument } from '../../reports/formats/document.ts';
import { summarize, SUMMARY_COLUMNS, type SummaryLine } from '../../reports/summary.ts';
import { summaryRows } from '../../store/reports/summary.ts';
import { ACCOUNT } from '../shared/options.ts';
import { withStore } from '../shared/store.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addPeriodOptions, type PeriodOptions } from '../shared/period.ts';

/** `order-sync report summary`. */
export function define(command: Command): void {
  addReportOptions(addPeriodOptions(command))
    .addHelpText('after', '\nExample:\n  order-sync report summary --from 2026-01-01 --format csv --out january.csv')
    .action(async ({ from, to, ...output }: PeriodOptions & OutputOptions) => {
      const filter = { account: ACCOUNT, from, to };
      const lines = await withStore(command, 'current', (store) => summarize(summaryRows(store.db, filter)));
      await writeReport(summaryDocument(lines), output);
    });
}

const KINDS: Partial<Record<keyof SummaryLine, Column['kind']>> = {
  orders: 'count',
  asset: 'decimal',
  unreadable: 'count',
};

/** Without a schema of its own: its JSON is the lines. */
function summaryDocument(lines: readonly SummaryLine[]): ReportDocument {
  const columns = SUMMARY_COLUMNS.map((key) => ({ key, label: key, kind: KINDS[key] ?? ('text' as const) }));
  const rows = lines.map((line) => ({ ...line }));
  const sections = [{ name: 'summary', title: 'Orders by pair, state and status', columns, rows }];
  return { schema: null, title: 'Summary', facts: [], sections, charts: [] };
}
