import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { changesDocument } from '../../reports/changes.ts';
import { newestEventId } from '../../store/events.ts';
import { changesOf } from '../../store/feed.ts';
import { withAccounts } from '../shared/store.ts';
import { addAllowEmptyOption, emptyPeriod, type EmptyOptions } from './empty.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addPeriodOptions, type PeriodOptions } from '../shared/period.ts';

/** `order-sync report changes`. */
export function define(command: Command): void {
  addAllowEmptyOption(addReportOptions(addPeriodOptions(command, 'changes observed'), ['changes']))
    .addHelpText('after', '\nExample:\n  order-sync report changes --from 2026-01-31 --to 2026-02-01 --out changes.csv')
    .action(async ({ from, to, allowEmpty: mayBeEmpty, ...output }: PeriodOptions & EmptyOptions & OutputOptions) => {
      // The report speaks of the changes up to now; those that come while it is written are not in it.
      const period = { from: from ?? null, to: to ?? systemClock().now().toISOString() };
      await withAccounts(command, async ({ db }, account) => {
        const scope = { account, ...period, lastId: await newestEventId(db, account) };
        const { isEmpty, rows } = await begun(changesOf(db, scope));
        const document = changesDocument({ account, ...period, isEmpty, mayBeEmpty }, rows);
        await writeReport(document, output);
        if (isEmpty && mayBeEmpty !== true) throw emptyPeriod(document);
      });
    });
}

/** Reads the first row, so that it is known whether there is one. */
async function begun<Row>(rows: AsyncGenerator<Row>): Promise<{ isEmpty: boolean; rows: AsyncIterable<Row> }> {
  const first = await rows.next();
  if (first.done === true) return { isEmpty: true, rows };
  const all = async function* () {
    yield first.value;
    yield* rows;
  };
  return { isEmpty: false, rows: all() };
}
