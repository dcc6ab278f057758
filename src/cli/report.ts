import type { Command } from 'commander';
import { registerReconciliation } from './report-reconciliation.ts';
import { registerSummary } from './report-summary.ts';

/** `order-sync report …`: one file a report. */
export function registerReport(program: Command): void {
  const report = program.command('report').description('reports from the database');
  registerSummary(program, report);
  registerReconciliation(program, report);
}
