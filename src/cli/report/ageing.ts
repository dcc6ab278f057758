import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { WAITING_STATES } from '../../domain/orders/states.ts';
import { ageingDocument } from '../../reports/ageing.ts';
import { Ages } from '../../reports/ages.ts';
import type { ReportDocument } from '../../reports/formats/document.ts';
import type { Store } from '../../store/port.ts';
import { readAges } from '../../store/reports/ageing.ts';
import { ACCOUNT } from '../shared/options.ts';
import { withStore } from '../shared/store.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addAsOfOption, addPeriodOptions, type PeriodOptions } from '../shared/period.ts';

const MOST_OLDEST = 50;

/** `order-sync report ageing`. */
export function define(command: Command): void {
  addAsOfOption(addReportOptions(addPeriodOptions(command), ['statuses', 'pairs', 'oldest']))
    .addHelpText('after', '\nExample:\n  order-sync report ageing --as-of 2026-02-01 --out ageing.html')
    .action(async ({ from, to, asOf, ...output }: PeriodOptions & OutputOptions & { readonly asOf?: string }) => {
      const until = asOf ?? systemClock().now().toISOString();
      const scope = { from: from ?? null, to: to ?? null, asOf: until };
      await writeReport(await withStore(command, 'current', async (store) => readDocument(store, scope)), output);
    });
}

function readDocument(store: Store, scope: { from: string | null; to: string | null; asOf: string }): ReportDocument {
  const ages = new Ages(WAITING_STATES, MOST_OLDEST);
  readAges(store, { account: ACCOUNT, ...scope }, ages);
  return ageingDocument({ ...scope, orders: ages.orders }, ages.byStatus(), ages.byPair(), ages.oldest());
}
