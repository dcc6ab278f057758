import { Option, type Command } from 'commander';
import { FINDING_CLASSES, type FindingClassName, type Severity } from '../../../domain/findings/classes.ts';
import type { FindingRow } from '../../../store/findings.ts';

const CLASSES = Object.keys(FINDING_CLASSES) as readonly FindingClassName[];
const SEVERITIES = ['error', 'warning', 'info'] as const satisfies readonly Severity[];

/** The findings that a command is about. */
export interface FindingsFilter {
  readonly class?: FindingClassName | undefined;
  readonly severity?: Severity | undefined;
}

/** Adds `--class` and `--severity`. */
export function addFilter(command: Command): Command {
  return command
    .addOption(new Option('--class <class>', 'only findings of this class (see report explain)').choices(CLASSES))
    .addOption(new Option('--severity <severity>', 'only findings of this severity').choices(SEVERITIES));
}

/** The columns of a table of findings. */
export const FINDING_COLUMNS = {
  id: (row: FindingRow) => row.id,
  class: (row: FindingRow) => row.class,
  severity: (row: FindingRow) => row.severity,
  order: (row: FindingRow) => row.external_order_id,
  expected: (row: FindingRow) => row.expected,
  actual: (row: FindingRow) => row.actual,
  'first seen': (row: FindingRow) => row.first_seen_at,
  'last seen': (row: FindingRow) => row.last_seen_at,
  status: (row: FindingRow) => row.status,
};
