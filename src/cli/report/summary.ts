import type { Command } from 'commander';
import { summaryDocument } from '../../reports/summary.ts';
import { summaryParts } from '../../store/reports/summary.ts';
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
      const document = await withStore(command, 'current', async (store) =>
        summaryDocument(summaryParts(store, filter)),
      );
      await writeReport(document, output);
    });
}
