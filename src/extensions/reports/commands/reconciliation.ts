import type { Command } from 'commander';
import { isOfAll } from '../../commands/account.ts';
import { slowProgress, type Progress } from '../../commands/progress.ts';
import { withAccounts } from '../../commands/store.ts';
import { systemClock } from '../../../base/clock.ts';
import { exchangeByAccount } from '../../../settings/config.ts';
import { UnusableIdError } from '../../../exchange/ids.ts';
import { reconcileOrders } from '../reconciliation/reconciliation.ts';
import { askPreOrders, preOrderSupplement, recordPreOrderFindings } from '../reconciliation/pre-orders.ts';
import type { PreOrderAnswer } from '../reconciliation/pre-orders.ts';
import { ledgerSupplement, readLedger } from '../reconciliation/ledger.ts';
import type { Supplement } from '../reconciliation/verdict.ts';
import type { Store } from '../../../store/port.ts';
import type { OrderTime, ReportScope } from '../tables/reconciliation.ts';
import { EXCHANGE_OPERATIONS } from '../../api/addresses.ts';
import { commandError, withExchange, type Ask } from '../../api/asking/ask.ts';
import { EXIT } from '../../../cli/shared/exit.ts';
import { addUrlOption } from '../../../cli/shared/options.ts';
import { addReportOptions, writeReport, type OutputOptions } from '../../commands/output.ts';
import { addAsOfOption, addByOption, addPeriodOptions, type PeriodOptions } from '../../commands/options.ts';
import { counted } from '../../documents/words.ts';

interface ReconciliationOptions extends PeriodOptions, OutputOptions {
  readonly by: OrderTime;
  readonly asOf?: string;
  readonly online?: true;
  readonly details?: true;
  readonly against?: readonly string[];
  readonly againstId: string;
  readonly againstAmount: string;
  readonly againstCurrency?: string;
}

const SECTIONS = [
  'disputed_orders',
  'findings',
  'unchecked_orders',
  'accounts',
  'account_pairs',
  'ledger',
  'money',
  'money_days',
  'pairs',
  'days',
  'unchecked',
  'classes',
];
const HELP = `
The report is clean, and the exit code is 0, if no order is unchecked or
disputed, no finding of severity error or warning is open, no row is left out,
the ledger of --against agrees, and --online got every answer. Otherwise the
exit code is 1. Acknowledged findings and findings of severity info are listed
and do not count. An order that changed after --as-of counts as unchecked.

Examples:
  order-sync report reconciliation --from 2026-01-01 --to 2026-02-01 \\
    --out january.html
  order-sync report reconciliation --against ledger.csv \\
    --against-id "Order no." --against-amount Amount`;

export function define(command: Command): void {
  const currencyText = 'column of the currency of that amount; without this option, currencies are not compared';
  command.description('our orders beside those of the exchange: exact sums, differences, findings, completeness');
  addAsOfOption(addReportOptions(addByOption(addPeriodOptions(addUrlOption(command), 'orders')), SECTIONS))
    .option('--online', 'ask the exchange for each pre-order of the period, within the rate limit')
    .option('--details', 'nothing is folded or hidden, and charts show how fast orders moved (table, HTML, XLSX)')
    .option('--against <file...>', 'compare with a ledger of another system, CSV with a header')
    .option('--against-id <column>', 'column of the external order id', 'external_order_id')
    .option('--against-amount <column>', 'column of the amount that is compared with the asset of the order', 'asset')
    .option('--against-currency <column>', currencyText)
    .addHelpText('after', HELP)
    .action(async (options: ReconciliationOptions) => {
      const clock = systemClock();
      const now = clock.now().toISOString();
      if (options.asOf !== undefined && options.online === true) {
        command.error('error: --online asks for the present answers of the exchange; leave --as-of out');
      }
      if (options.asOf !== undefined && options.asOf > now) command.error('error: --as-of is in the future');
      if (isOfAll(command) && (options.online === true || options.against !== undefined)) {
        command.error('error: --online and --against are for one account; name the account with --account');
      }
      const isClean = await withAccounts(command, async (store, account, config) => {
        using progress = await slowProgress(clock);
        const { by, from, to, asOf, online, allowEmpty: mayBeEmpty, details: isWhole } = options;
        const scope = { account, by, from, to, isWhole, mayBeEmpty };
        const settings = config.reconcile;
        const onProgress = (text: string) => progress.show(text);
        const asked: Supplement[] = [];
        if (online === true && account !== undefined) {
          asked.push(await askExchange(command, store, { ...scope, ...settings, account, asOf: now }, progress));
        }
        const { against: files = [], againstId: id, againstAmount: amount, againstCurrency: currency } = options;
        using ledger = files.length === 0 ? undefined : await readLedger({ files, id, amount, currency }, onProgress);
        const supplements = () =>
          ledger === undefined ? asked : [...asked, ledgerSupplement(ledger, files, settings.tolerance)];
        const drivenAccounts = config.accounts.map(({ name }) => name);
        const settingsOf = exchangeByAccount(config);
        const request = { ...scope, asOf, settings, settingsOf, drivenAccounts, ledger, supplements, onProgress };
        using report = await reconcileOrders({ store, clock }, request);
        progress.clear();
        await writeReport(report.document, options);
        return report.isClean;
      });
      if (!isClean) process.exitCode = EXIT.look;
    });
}

async function askExchange(command: Command, store: Store, scope: ReportScope, progress: Progress) {
  const show = (asked: number) => void progress.show(`${counted(asked, 'pre-order')} asked for`);
  const askAll = (ask: Ask) => askPreOrders(store, scope, (preOrderId) => answerFor(preOrderId, ask), show);
  const asked = await withExchange(command, askAll);
  await recordPreOrderFindings(store, scope.account, asked, systemClock().now());
  return preOrderSupplement(asked);
}

async function answerFor(preOrderId: string, ask: Ask): Promise<PreOrderAnswer> {
  try {
    const result = await ask(EXCHANGE_OPERATIONS.showPreOrder, { id: preOrderId });
    if (result.kind === 'key-refused') throw commandError(result);
    if (result.kind === 'ok') return { kind: 'known', body: result.body };
    return { kind: result.kind === 'refused' && result.httpStatus === 404 ? 'missing' : 'unanswered' };
  } catch (error) {
    // The client refuses an id that cannot be part of the path of a URL.
    if (error instanceof UnusableIdError) return { kind: 'unanswered' };
    throw error;
  }
}
