import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { changesDocument } from '../../reports/changes.ts';
import { changesOf, lastEventId } from '../../store/reports/changes.ts';
import { ACCOUNT, withStore } from '../options.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addPeriodOptions, type PeriodOptions } from './period.ts';

/** `order-sync report changes`. */
export function registerChanges(program: Command, report: Command): void {
  const command = report
    .command('changes')
    .description('every change of a period, in the order in which it was recorded');
  addReportOptions(addPeriodOptions(command, 'changes observed'))
    .addHelpText('after', '\nExample:\n  order-sync report changes --from 2026-01-31 --to 2026-02-01 --out changes.csv')
    .action(async ({ from, to, ...output }: PeriodOptions & OutputOptions) => {
      // The report is about what has happened by now; what comes while it is written is not in it.
      const period = { from: from ?? null, to: to ?? systemClock().now().toISOString() };
      await withStore(program, 'current', async ({ db }) => {
        const scope = { account: ACCOUNT, ...period, lastId: await lastEventId(db) };
        await writeReport(changesDocument(period, changesOf(db, scope)), output);
      });
    });
}
