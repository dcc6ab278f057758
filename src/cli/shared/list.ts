import type { Command } from 'commander';
import type { Cell, Column } from '../../reports/formats/document.ts';
import { tableOf } from '../../reports/formats/terminal/layout.ts';
import type { Screen } from '../../reports/formats/terminal/screen.ts';
import { isOfAll } from './account.ts';
import { wholeNumber } from './options.ts';
import { screenOf } from './screen.ts';

/** The options of every list. */
export interface ListOptions {
  readonly limit: number;
  readonly json?: boolean;
}

/** Adds `--limit` and `--json`. */
export function addListOptions(command: Command): Command {
  return command.option('--limit <n>', 'at most so many', wholeNumber(1, 9_999_999), 50).option('--json', 'print JSON');
}

/** A column of a list, with the value that it takes from a row. Text unless its kind is given. */
export interface ListColumn<Row> extends Partial<Pick<Column, 'kind' | 'rank'>> {
  readonly label: string;
  of(row: Row): Cell;
}

/**
 * Prints the first `limit` of the rows that were found, or that there are none, in a sentence. Says when there are more: ask
 * for one more than `limit`.
 */
export function printList<Row>(
  found: readonly Row[],
  { limit, json }: ListOptions,
  columns: readonly ListColumn<Row>[],
  empty: string,
): void {
  const rows = found.slice(0, limit);
  const text = () => (rows.length === 0 ? `${empty}\n` : listText(rows, columns, screenOf()));
  process.stdout.write(json === true ? `${JSON.stringify(rows, null, 2)}\n` : text());
  if (found.length > limit) process.stderr.write(`there are more; --limit shows more than ${limit}\n`);
}

/** The column of the account, for a list that may be of several. */
export function accountColumn(command: Command): readonly ListColumn<{ readonly account: string }>[] {
  return isOfAll(command) ? [{ label: 'account', of: (row) => row.account }] : [];
}

/** Says that there may be more than a list has looked at, and what has it look at others. */
export function sayCut(others: string): void {
  process.stderr.write(`only the newest were looked at, there may be more: ${others}\n`);
}

/** A table of rows for people. */
export function listText<Row>(rows: readonly Row[], columns: readonly ListColumn<Row>[], screen: Screen): string {
  const shown = columns.map(({ label, kind = 'text', rank = 0 }) => ({ key: label, label, kind, rank }));
  const cells = rows.map((row) => Object.fromEntries(columns.map((column) => [column.label, column.of(row)])));
  return tableOf(shown, cells, screen);
}
