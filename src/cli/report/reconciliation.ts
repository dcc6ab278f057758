import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { reconcileOrders } from '../../flows/reports/reconciliation.ts';
import type { ReconciliationSettings } from '../../reports/reconciliation/judge.ts';
import { LedgerError, readLedger } from '../../flows/reports/ledger.ts';
import type { AskedPreOrders } from '../../flows/reports/pre-orders.ts';
import { ledgerSupplement } from '../../reports/reconciliation/ledger.ts';
import { preOrderSupplement } from '../../reports/reconciliation/pre-orders.ts';
import { reconciliationDocument, type Supplement } from '../../reports/reconciliation/document.ts';
import { openLedgerStage, type LedgerStage } from '../../store/stage/ledger.ts';
import { openScratch } from '../../store/stage/scratch.ts';
import type { Store } from '../../store/port.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { ACCOUNT } from '../shared/options.ts';
import { withStore } from '../shared/store.ts';
import { askExchange } from './online.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';
import { addAsOfOption, addPeriodOptions, type PeriodOptions } from '../shared/period.ts';
import { slowProgress, type Progress } from './progress.ts';

interface LedgerOptions {
  readonly against?: readonly string[];
  readonly againstId: string;
  readonly againstAmount: string;
  readonly againstCurrency?: string;
}

type ReconciliationOptions = PeriodOptions &
  OutputOptions &
  LedgerOptions & { readonly asOf?: string; readonly online?: boolean };

const HELP = `
The report is clean, and the exit code is 0, when no order is unchecked, no finding of severity error or warning is open,
and a ledger given with --against agrees. Acknowledged findings, and findings of severity info, are listed and do not
count. The report speaks for one moment: an order that changed after --as-of counts as unchecked.

Examples:
  order-sync report reconciliation --from 2026-01-01 --to 2026-02-01 --out january.html
  order-sync report reconciliation --against ledger.csv --against-id "Order no." --against-amount Amount`;

/** `order-sync report reconciliation`. */
export function define(command: Command): void {
  command.description('our orders beside those of the exchange: exact sums, differences, findings, completeness');
  addAsOfOption(addReportOptions(addPeriodOptions(command)))
    .option('--online', 'ask the exchange for each pre-order of the period, within the rate limit')
    .option('--against <file...>', 'compare with a ledger of another system, CSV with a header')
    .option('--against-id <column>', 'column of the external order id', 'external_order_id')
    .option('--against-amount <column>', 'column of the amount given', 'asset')
    .option('--against-currency <column>', 'column of its currency; not compared unless named')
    .addHelpText('after', HELP)
    .action(async (options: ReconciliationOptions) => {
      const now = systemClock().now().toISOString();
      if (options.asOf !== undefined && options.online === true) {
        command.error('error: --online asks what holds now: leave --as-of out');
      }
      if (options.asOf !== undefined && options.asOf > now) command.error('error: --as-of is in the future');
      const isClean = await withStore(command, 'current', async (store, { reconcile }) => {
        using progress = slowProgress(systemClock());
        const scope = { account: ACCOUNT, from: options.from, to: options.to, asOf: now };
        const asked = options.online === true ? await askExchange(command, store, scope, progress) : undefined;
        return await reconcileAt(store, reconcile, options, asked, progress);
      });
      if (!isClean) process.exitCode = EXIT.look;
    });
}

async function reconcileAt(
  store: Store,
  settings: ReconciliationSettings,
  options: ReconciliationOptions,
  asked: AskedPreOrders | undefined,
  progress: Progress,
): Promise<boolean> {
  const { from, to } = options;
  using scratch = openScratch();
  using stage = await stageLedger(options, progress);
  const read = async () => {
    // Closed before anything is written: output may wait for its reader for hours.
    using snapshot = store.snapshot();
    const asOf = options.asOf ?? systemClock().now().toISOString();
    const reconciled = await reconcileOrders(snapshot, scratch, { account: ACCOUNT, from, to, asOf }, settings, {
      onProgress: (orders) => progress.show(`${orders} orders compared`),
      stage,
    });
    return { asOf, reconciled };
  };
  const { asOf, reconciled } = await read();
  const supplements = [
    ...(asked === undefined ? [] : [preOrderSupplement(asked)]),
    ...(stage === undefined ? [] : [compareLedger(stage, options, settings.tolerance)]),
  ];
  progress.clear();
  const scope = { account: ACCOUNT, from: from ?? null, to: to ?? null, asOf, ...settings };
  const { document, isClean } = reconciliationDocument(scope, reconciled, supplements);
  await writeReport(document, options);
  return isClean;
}

async function stageLedger(options: ReconciliationOptions, progress: Progress): Promise<LedgerStage | undefined> {
  const { against, againstId, againstAmount, againstCurrency } = options;
  if (against === undefined) return undefined;
  const stage = openLedgerStage();
  try {
    const columns = { id: againstId, amount: againstAmount, currency: againstCurrency };
    for (const file of against) {
      const handle = await open(file);
      const ledger = { name: basename(file), input: handle.createReadStream() };
      await readLedger(stage, ledger, columns, (lines) => void progress.show(`${lines} lines of the ledger read`));
    }
    return stage;
  } catch (error) {
    stage[Symbol.dispose]();
    if (error instanceof LedgerError) throw new CommandError(EXIT.data, error.message, { cause: error });
    throw error;
  }
}

function compareLedger(stage: LedgerStage, { against = [] }: ReconciliationOptions, tolerance: string): Supplement {
  const count = stage.compare(tolerance);
  const files = against.map((file) => basename(file));
  return ledgerSupplement({ files, lines: stage.lines, count, differences: stage.differences() });
}
