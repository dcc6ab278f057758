import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { exchangeByAccount } from '../../config/config.ts';
import { summaryDocument, type SummaryPart } from '../../reports/summary.ts';
import { reportedAccounts } from '../../store/accounts.ts';
import type { Store } from '../../store/port.ts';
import type { OrderTime } from '../../store/reports/reconciliation.ts';
import { summaryParts, type RowFilter } from '../../store/reports/summary.ts';
import { withAccounts } from '../shared/store.ts';
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
      const { document, isEmpty } = await withAccounts(command, async (store, account, config) =>
        summaryDocument(await readParts(store, account, { by, from, to }), {
          account,
          settingsOf: exchangeByAccount(config),
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

async function readParts(
  store: Store,
  account: string | undefined,
  filter: Omit<RowFilter, 'account'>,
): Promise<readonly SummaryPart[]> {
  const parts = [];
  for (const one of await reportedAccounts(store.db, account)) {
    parts.push(...(await Array.fromAsync(summaryParts(store, { account: one, ...filter }))));
  }
  return parts;
}
