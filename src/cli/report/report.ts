import type { Command } from 'commander';
import { registerAgeing } from './ageing.ts';
import { registerChanges } from './changes.ts';
import { registerExplain } from './explain.ts';
import { registerReconciliation } from './reconciliation.ts';
import { registerSummary } from './summary.ts';

/** `order-sync report …`: one file a report. */
export function registerReport(program: Command): void {
  const report = program
    .command('report')
    .description('reports from the database')
    .addHelpText('after', '\nExample:\n  order-sync report summary');
  registerSummary(program, report);
  registerReconciliation(program, report);
  registerAgeing(program, report);
  registerChanges(program, report);
  registerExplain(report);
}
