import type { Command } from 'commander';
import { systemClock } from '../clock.ts';
import { certify, type CertifySettings } from '../flows/certify.ts';
import { reconciliationDocument } from '../reports/reconciliation.ts';
import { openScratch } from '../store/scratch.ts';
import { openSnapshot } from '../store/snapshot.ts';
import { EXIT } from './exit.ts';
import { ACCOUNT, withStore } from './options.ts';
import { addReportOptions, writeReport, type OutputOptions } from './report-output.ts';
import { addPeriodOptions, utcTime, type PeriodOptions } from './report-period.ts';
import { slowProgress } from './report-progress.ts';

type ReconciliationOptions = PeriodOptions & OutputOptions & { readonly asOf?: string };

const HELP = `
The report is clean, and the exit code 0, when nothing is unchecked and no finding of severity error or warning is open.
Findings that are acknowledged, and those of severity info, are listed and do not count.

Example:
  order-sync report reconciliation --from 2026-01-01 --to 2026-02-01 --out january.html`;

/** `order-sync report reconciliation`. */
export function registerReconciliation(program: Command, report: Command): void {
  const command = report
    .command('reconciliation')
    .description('our orders beside what the exchange says of them: exact sums, differences, findings, completeness');
  addReportOptions(addPeriodOptions(command))
    .option('--as-of <time>', 'speak for this moment instead of now (UTC, ISO 8601)', utcTime)
    .addHelpText('after', HELP)
    .action(async (options: ReconciliationOptions) => {
      // Checks that the database is ours and up to date, and says what to do when it is not.
      const found = await withStore(program, 'current', async ({ path }, { reconcile }) => ({ path, ...reconcile }));
      const isClean = await reconcileAt(found, options);
      if (!isClean) process.exitCode = EXIT.look;
    });
}

async function reconcileAt(
  { path, ...settings }: CertifySettings & { path: string },
  options: ReconciliationOptions,
): Promise<boolean> {
  const { from, to, ...output } = options;
  using scratch = openScratch();
  const clock = systemClock();
  using progress = slowProgress(clock);
  const read = () => {
    // Closed before anything is written: output may wait for its reader for hours.
    using snapshot = openSnapshot(path);
    const asOf = options.asOf ?? clock.now().toISOString();
    const scope = { account: ACCOUNT, from, to, asOf };
    return {
      asOf,
      reconciled: certify(snapshot, scratch, scope, settings, (orders) => progress.show(`${orders} orders compared`)),
    };
  };
  const { asOf, reconciled } = read();
  progress.clear();
  const scope = { from: from ?? null, to: to ?? null, asOf, ...settings };
  const { document, isClean } = reconciliationDocument(scope, reconciled, []);
  await writeReport(document, output);
  return isClean;
}
