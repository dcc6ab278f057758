import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { WAITING_STATES } from '../../domain/orders/states.ts';
import { ageingDocument, type AgeingFacts } from '../../reports/ageing.ts';
import { Ages } from '../../reports/ages.ts';
import type { ReportDocument } from '../../reports/formats/document.ts';
import type { Store } from '../../store/port.ts';
import { reportedAccounts } from '../../store/accounts.ts';
import { readAges } from '../../store/reports/summary.ts';
import { withAccounts } from '../shared/store.ts';
import { addAllowEmptyOption, emptyPeriod, type EmptyOptions } from './empty.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addAsOfOption, addPeriodOptions, type PeriodOptions } from '../shared/period.ts';

const MOST_OLDEST = 50;

interface AgeingOptions extends PeriodOptions, EmptyOptions, OutputOptions {
  readonly asOf?: string;
}

/** `order-sync report ageing`. */
export function define(command: Command): void {
  addAsOfOption(addAllowEmptyOption(addReportOptions(addPeriodOptions(command), ['oldest', 'statuses', 'pairs'])))
    .addHelpText('after', '\nExample:\n  order-sync report ageing --as-of 2026-02-01 --out ageing.html')
    .action(async ({ from, to, asOf, allowEmpty: mayBeEmpty, ...output }: AgeingOptions) => {
      const until = asOf ?? systemClock().now().toISOString();
      const scope = { from: from ?? null, to: to ?? null, asOf: until, mayBeEmpty };
      const { document, orders } = await withAccounts(command, (store, account) => readDocument(store, account, scope));
      await writeReport(document, output);
      if (orders === 0 && mayBeEmpty !== true) throw emptyPeriod(document);
    });
}

async function readDocument(
  store: Store,
  account: string | undefined,
  { mayBeEmpty, ...scope }: Omit<AgeingFacts, 'account' | 'orders'>,
): Promise<{ document: ReportDocument; orders: number }> {
  const ages = new Ages(WAITING_STATES, MOST_OLDEST);
  for (const one of await reportedAccounts(store.db, account)) await readAges(store, { account: one, ...scope }, ages);
  const facts = { account, ...scope, mayBeEmpty, orders: ages.orders };
  return { document: ageingDocument(facts, ages.byStatus(), ages.byPair(), ages.oldest()), orders: ages.orders };
}
