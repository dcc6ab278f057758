import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { changesDocument } from '../../reports/changes.ts';
import { newestEventId } from '../../store/events.ts';
import { changesOf } from '../../store/reports/changes.ts';
import { ACCOUNT } from '../shared/options.ts';
import { withStore } from '../shared/store.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addPeriodOptions, type PeriodOptions } from '../shared/period.ts';

/** `order-sync report changes`. */
export function define(command: Command): void {
  addReportOptions(addPeriodOptions(command, 'changes observed'), ['changes'])
    .addHelpText('after', '\nExample:\n  order-sync report changes --from 2026-01-31 --to 2026-02-01 --out changes.csv')
    .action(async ({ from, to, ...output }: PeriodOptions & OutputOptions) => {
      // The report speaks of the changes up to now; those that come while it is written are not in it.
      const period = { from: from ?? null, to: to ?? systemClock().now().toISOString() };
      await withStore(command, 'current', async ({ db }) => {
        const scope = { account: ACCOUNT, ...period, lastId: await newestEventId(db) };
        await writeReport(changesDocument(period, changesOf(db, scope)), output);
      });
    });
}
