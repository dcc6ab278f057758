import { withAccounts } from '../../commands/store.ts';
import type { Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import { exchangeByAccount } from '../../../settings/config.ts';
import { summaryDocument } from '../summary.ts';
import type { Store } from '../../../store/port.ts';
import type { OrderTime } from '../tables/reconciliation.ts';
import { summaryParts, type RowFilter, readAges } from '../tables/summary.ts';
import { EXIT } from '../../../cli/shared/exit.ts';
import { addReportOptions, writeReport, type OutputOptions } from '../../commands/output.ts';
import { addByOption, addPeriodOptions, type PeriodOptions, addAsOfOption } from '../../commands/options.ts';
import { WAITING_STATES } from '../../../orders/rules/states.ts';
import { ageingDocument, Ages } from '../ageing.ts';
import { changesDocument } from '../changes.ts';
import { newestEventId } from '../../../store/tables/chain.ts';
import { changesOf } from '../tables/changes.ts';
import { reportedAccounts } from '../tables/report.ts';

export const define = { summary: defineSummary, ageing: defineAgeing, changes: defineChanges };

function defineSummary(command: Command): void {
  addReportOptions(addByOption(addPeriodOptions(command, 'orders')))
    .addHelpText('after', '\nExample:\n  order-sync report summary --from 2026-01-01 --format csv --out january.csv')
    .action(async (options: PeriodOptions & OutputOptions & { by: OrderTime }) => {
      const { by, from, to, allowEmpty: mayBeEmpty } = options;
      const { document, isEmpty } = await withAccounts(command, async (store, account, config) => {
        const asOf = systemClock().now().toISOString();
        const facts = { account, settingsOf: exchangeByAccount(config), mayBeEmpty, asOf, by, from, to };
        return summaryDocument(await readParts(store, account, { by, from, to }), facts);
      });
      await writeReport(document, options, isEmpty);
      if (document.verdict?.tone === 'warning' && !isEmpty) process.exitCode = EXIT.look;
    });
}

export async function readParts(store: Store, account: string | undefined, filter: Omit<RowFilter, 'account'> = {}) {
  const parts = [];
  for (const one of await reportedAccounts(store.db, account)) {
    parts.push(...(await Array.fromAsync(summaryParts(store, { account: one, ...filter }))));
  }
  return parts;
}

const MOST_OLDEST = 50;

function defineAgeing(command: Command): void {
  addAsOfOption(addReportOptions(addPeriodOptions(command), ['oldest', 'statuses', 'pairs']))
    .addHelpText('after', '\nExample:\n  order-sync report ageing --as-of 2026-02-01 --out ageing.html')
    .action(async (options: PeriodOptions & OutputOptions & { asOf?: string }) => {
      const { from = null, to = null, asOf = systemClock().now().toISOString(), allowEmpty: mayBeEmpty } = options;
      const { document, isEmpty } = await withAccounts(command, async (store, account) => {
        const ages = new Ages(WAITING_STATES, MOST_OLDEST, asOf);
        for (const one of await reportedAccounts(store.db, account)) {
          await readAges(store, { account: one, from, to, asOf }, ages);
        }
        const facts = { account, from, to, asOf, mayBeEmpty, orders: ages.orders };
        const found = ageingDocument(facts, ages.byStatus(), ages.byPair(), ages.oldest());
        return { document: found, isEmpty: ages.orders === 0 };
      });
      await writeReport(document, options, isEmpty);
      if (document.verdict?.tone === 'warning' && !isEmpty) process.exitCode = EXIT.look;
    });
}

function defineChanges(command: Command): void {
  addReportOptions(addPeriodOptions(command, 'changes observed'), ['changes'])
    .addHelpText('after', '\nExample:\n  order-sync report changes --from 2026-01-31 --to 2026-02-01 --out changes.csv')
    .action(async (options: PeriodOptions & OutputOptions) => {
      // The report has the changes up to now. Changes that come while the report is written are left out.
      const { from = null, to = systemClock().now().toISOString(), allowEmpty: mayBeEmpty } = options;
      await withAccounts(command, async ({ db }, account) => {
        const lastId = await newestEventId(db, account);
        const { isEmpty, rows } = await begun(changesOf(db, { account, from, to, lastId }));
        await writeReport(changesDocument({ account, from, to, isEmpty, mayBeEmpty }, rows), options, isEmpty);
      });
    });
}

async function begun<Row>(rows: AsyncGenerator<Row>): Promise<{ isEmpty: boolean; rows: AsyncIterable<Row> }> {
  const first = await rows.next();
  if (first.done === true) return { isEmpty: true, rows };
  const all = async function* () {
    yield first.value;
    yield* rows;
  };
  return { isEmpty: false, rows: all() };
}
