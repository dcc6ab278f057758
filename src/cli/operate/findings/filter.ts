import { Option, type Command } from 'commander';
import { FINDING_CLASSES, SEVERITIES, type FindingClassName, type Severity } from '../../../domain/findings/classes.ts';
import type { FindingRow } from '../../../store/findings.ts';
import type { ListColumn } from '../../shared/list.ts';

const CLASSES = Object.keys(FINDING_CLASSES) as readonly FindingClassName[];

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
export const FINDING_COLUMNS: readonly ListColumn<FindingRow>[] = [
  { label: 'id', kind: 'count', of: (row) => row.id },
  { label: 'severity', kind: 'severity', of: (row) => row.severity },
  { label: 'class', kind: 'text', of: (row) => row.class },
  { label: 'order', of: (row) => row.external_order_id },
  { label: 'expected', rank: 1, of: (row) => row.expected },
  { label: 'actual', rank: 1, of: (row) => row.actual },
  { label: 'first seen', kind: 'time', rank: 2, of: (row) => row.first_seen_at },
  { label: 'last seen', kind: 'time', rank: 4, of: (row) => row.last_seen_at },
  { label: 'status', rank: 3, of: (row) => row.status },
];
