import type { Command } from 'commander';
import { addByOption, addPeriodOptions, type PeriodOptions, addAsOfOption } from '../../commands/options.ts';
import { addReportOptions, writeReport, type OutputOptions } from '../../commands/output.ts';
import { withAccounts } from '../../commands/store.ts';
import { systemClock } from '../../../base/clock.ts';
import { exchangeByAccount } from '../../../settings/config.ts';
import { summaryDocument } from '../summary.ts';
import type { Store } from '../../../store/port.ts';
import type { OrderTime } from '../tables/reconciliation.ts';
import { summaryParts, type RowFilter, readAges } from '../tables/summary.ts';
import { EXIT } from '../../../cli/shared/exit.ts';
import type { Column, ReportDocument } from '../../documents/document.ts';
import { accountColumns, accountFact, emptyVerdict, type ReportScope } from '../../documents/sections.ts';
import { ageingDocument, Ages } from '../ageing.ts';
import { newestEventId } from '../../../store/tables/chain.ts';
import { changesOf, type Change } from '../tables/changes.ts';
import { reportedAccounts } from '../tables/report.ts';

export const define = { summary: defineSummary, ageing: defineAgeing, changes: defineChanges };

function defineSummary(command: Command): void {
  addReportOptions(addByOption(addPeriodOptions(command, 'orders')))
    .addHelpText('after', '\nExample:\n  order-sync report summary --from 2026-01-01 --format csv --out january.csv')
    .action(async (options: PeriodOptions & OutputOptions & { by: OrderTime }) => {
      const { by, from, to, allowEmpty: mayBeEmpty } = options;
      const document = await withAccounts(command, async (store, account, config) => {
        const asOf = systemClock().now().toISOString();
        const facts = { account, settingsOf: exchangeByAccount(config), mayBeEmpty, asOf, by, from, to };
        return summaryDocument(await readParts(store, account, { by, from, to }), facts);
      });
      await writeReport(document, options);
      if (document.verdict?.tone === 'warning') process.exitCode = EXIT.look;
    });
}

export async function readParts(store: Store, account: string | undefined, filter: Omit<RowFilter, 'account'> = {}) {
  const accounts = await reportedAccounts(store.db, account);
  const partsOf = (one: string) => Array.fromAsync(summaryParts(store, { account: one, ...filter }));
  return (await Array.fromAsync(accounts, partsOf)).flat();
}

function defineAgeing(command: Command): void {
  addAsOfOption(addReportOptions(addPeriodOptions(command), ['oldest', 'statuses', 'pairs']))
    .addHelpText('after', '\nExample:\n  order-sync report ageing --as-of 2026-02-01 --out ageing.html')
    .action(async (options: PeriodOptions & OutputOptions & { asOf?: string }) => {
      const { from, to, asOf = systemClock().now().toISOString(), allowEmpty: mayBeEmpty } = options;
      const document = await withAccounts(command, async (store, account) => {
        const ages = new Ages(asOf);
        for (const one of await reportedAccounts(store.db, account)) {
          await readAges(store, { account: one, from, to, asOf }, ages);
        }
        const facts = { account, from, to, asOf, mayBeEmpty, orders: ages.orders };
        return ageingDocument(facts, ages.byStatus(), ages.byPair(), ages.oldest());
      });
      await writeReport(document, options);
      if (document.verdict?.tone === 'warning') process.exitCode = EXIT.look;
    });
}

function defineChanges(command: Command): void {
  addReportOptions(addPeriodOptions(command, 'changes observed'), ['changes'])
    .addHelpText('after', '\nExample:\n  order-sync report changes --from 2026-01-31 --to 2026-02-01 --out changes.csv')
    .action(async (options: PeriodOptions & OutputOptions) => {
      // By default the report ends now, so that it leaves out changes that are recorded while it is written.
      const { from, to = systemClock().now().toISOString(), allowEmpty: mayBeEmpty } = options;
      await withAccounts(command, async ({ db }, account) => {
        const lastId = await newestEventId(db, account);
        const changes = changesOf(db, { account, from, to, lastId });
        const first = await changes.next();
        const rows = async function* () {
          if (first.done !== true) yield first.value;
          yield* changes;
        };
        const scope = { account, from, to, mayBeEmpty };
        await writeReport(changesDocument(scope, first.done === true, rows()), options);
      });
    });
}

const CHANGES: readonly Column[] = [
  { key: 'id', label: 'No.', kind: 'count', rank: 2 },
  { key: 'observed_at', label: 'At', kind: 'time' },
  { key: 'external_order_id', label: 'Order', kind: 'text', isId: true },
  { key: 'field', label: 'Field', kind: 'text' },
  { key: 'old_value', label: 'From', kind: 'text', rank: 1 },
  { key: 'new_value', label: 'To', kind: 'text' },
  // The kind is `text`, because the exchange may write any text as a date.
  { key: 'exchange_time', label: 'Date of the exchange', kind: 'text', rank: 3 },
  { key: 'source', label: 'Source', kind: 'text', rank: 3 },
  { key: 'actor', label: 'Who', kind: 'text', rank: 2 },
  { key: 'reason', label: 'Why', kind: 'text', rank: 2 },
];

function changesDocument(scope: ReportScope, isEmpty: boolean, changes: AsyncIterable<Change>): ReportDocument {
  const { account, from = null, to = null, mayBeEmpty } = scope;
  const columns = [...accountColumns(account), ...CHANGES];
  return {
    schema: 'order-sync.changes/1',
    title: 'Changes of orders',
    ...(isEmpty && { verdict: emptyVerdict('change', 'Nothing has changed', mayBeEmpty) }),
    facts: [
      accountFact(account),
      { key: 'from', label: 'Observed from', value: from },
      { key: 'to', label: 'Observed before', value: to },
    ],
    sections: [{ name: 'changes', title: 'Changes', empty: 'Nothing has changed.', columns, rows: changes }],
    charts: [],
  };
}
