import type { Command } from 'commander';
import type { Column } from '../document.ts';
import type { Cell, Screen } from '../../../cli/shared/terminal.ts';
import { tableOf } from '../terminal.ts';
import { isOfAll } from '../../../cli/shared/account.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { wholeNumber } from '../../../cli/shared/options.ts';

export function print(json: boolean | undefined, value: unknown, text: () => string, indent?: number): void {
  process.stdout.write(json === true ? `${JSON.stringify(value, null, indent)}\n` : text());
}

export interface ListOptions {
  readonly limit: number;
  readonly json?: boolean;
  readonly account?: string;
}

export function addListOptions(command: Command): Command {
  return command.option('--limit <n>', 'at most so many', wholeNumber(1, 9_999_999), 50).option('--json', 'print JSON');
}

export interface ListColumn<Row> extends Partial<Pick<Column, 'kind' | 'rank'>> {
  readonly label: string;
  of(row: Row): Cell;
}

/** Says when there are more rows: ask for one more than `limit`. A list of several accounts begins with their names. */
export function printList<Row extends object>(
  command: Command,
  found: readonly Row[],
  { limit, json }: ListOptions,
  columns: readonly ListColumn<Row>[],
  empty: string,
): void {
  const rows = found.slice(0, limit);
  const account: ListColumn<Row & { account?: string }> = { label: 'account', of: (row) => row.account ?? null };
  const shown = isOfAll(command) ? [account, ...columns] : columns;
  print(json, rows, () => (rows.length === 0 ? `${empty}\n` : listText(rows, shown, screenOf())), 2);
  if (found.length > limit) process.stderr.write(`there are more; --limit shows more than ${limit}\n`);
}

export function sayCut(options: string): void {
  process.stderr.write(`only the newest were looked at, there may be more: ${options}\n`);
}

export function listText<Row>(rows: readonly Row[], columns: readonly ListColumn<Row>[], screen: Screen): string {
  const shown = columns.map(({ label, kind = 'text', rank = 0 }) => ({ key: label, label, kind, rank }));
  const cells = rows.map((row) => Object.fromEntries(columns.map((column) => [column.label, column.of(row)])));
  return tableOf(shown, cells, screen);
}
