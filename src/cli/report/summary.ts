import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { summaryDocument } from '../../reports/summary.ts';
import type { OrderTime } from '../../store/reports/reconciliation.ts';
import { summaryParts } from '../../store/reports/summary.ts';
import { withAccount } from '../shared/store.ts';
import { addAllowEmptyOption, emptyPeriod, type EmptyOptions } from './empty.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addByOption, addPeriodOptions, type PeriodOptions } from '../shared/period.ts';

interface SummaryOptions extends PeriodOptions, EmptyOptions, OutputOptions {
  readonly by: OrderTime;
}

/** `order-sync report summary`. */
export function define(command: Command): void {
  addAllowEmptyOption(addReportOptions(addByOption(addPeriodOptions(command, 'orders'))))
    .addHelpText('after', '\nExample:\n  order-sync report summary --from 2026-01-01 --format csv --out january.csv')
    .action(async ({ by, from, to, allowEmpty: mayBeEmpty, ...output }: SummaryOptions) => {
      const { document, isEmpty } = await withAccount(command, 'current', async (store, { account, exchange }) =>
        summaryDocument(await Array.fromAsync(summaryParts(store, { account, by, from, to })), {
          outputPosition: exchange.outputPosition,
          mayBeEmpty,
          asOf: systemClock().now().toISOString(),
          by,
          from,
          to,
        }),
      );
      await writeReport(document, output);
      if (isEmpty && mayBeEmpty !== true) throw emptyPeriod(document);
    });
}
