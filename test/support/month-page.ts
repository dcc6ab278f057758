import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { reconcileOrders } from '../../src/extensions/reports/reconciliation/reconciliation.ts';
import { htmlText } from '../../src/extensions/documents/html.ts';
import { openSnapshot } from '../../src/store/sqlite/store.ts';
import { MONTH, MONTH_AS_OF, monthDatabase } from './month.ts';
import { wholeText } from './report-document.ts';
import { DAY } from './tracking.ts';

/** The report of a month of 1,500 orders, as a page; its database is in the folder. */
export async function monthPage(folder: string): Promise<string> {
  const path = join(folder, 'month.db');
  await monthDatabase(path);
  const settings = { tolerance: '0', outputPosition: undefined, freshFor: DAY, orderMissingAfter: DAY, ignore: [] };
  const deps = { store: { snapshot: () => openSnapshot(path) }, clock: systemClock() };
  using report = await reconcileOrders(deps, { account: 'default', ...MONTH, asOf: MONTH_AS_OF, settings });
  return await wholeText(htmlText(report.document));
}
