import type { Command } from 'commander';
import type { ReportDocument } from '../../reports/formats/document.ts';
import { CommandError, EXIT } from '../shared/exit.ts';

/** The option of a report whose period may be empty. */
export interface EmptyOptions {
  readonly allowEmpty?: true;
}

/** Adds `--allow-empty`: a mistyped period must not look like a quiet one. */
export function addAllowEmptyOption(command: Command): Command {
  return command.option('--allow-empty', 'exit 0, not 1, where the period is empty');
}

/** Makes the error that ends a report, once it is written, of a period that is empty by mistake. */
export function emptyPeriod({ verdict }: ReportDocument): CommandError {
  const reason = verdict?.reasons.join(' ') ?? '';
  return new CommandError(EXIT.look, reason.slice(0, 1).toLowerCase() + reason.slice(1));
}
