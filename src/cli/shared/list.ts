import type { Command } from 'commander';
import { asTable } from '../../reports/formats/text.ts';
import { wholeNumber } from './options.ts';

/** The layout of a table takes time with the square of its rows. */
const MOST_IN_TABLE = 1_000;

/** The options of every list. */
export interface ListOptions {
  readonly limit: number;
  readonly json?: boolean;
}

/** Adds `--limit` and `--json`. */
export function addListOptions(command: Command): Command {
  return command
    .option('--limit <n>', `at most so many; a table has at most ${MOST_IN_TABLE}`, wholeNumber(1, 9_999_999), 50)
    .option('--json', 'print JSON')
    .hook('preAction', () => {
      const { limit, json } = command.opts<ListOptions>();
      if (json === true || limit <= MOST_IN_TABLE) return;
      command.error(`error: a table has at most ${MOST_IN_TABLE} rows: give --json for more`);
    });
}

/** The columns of a list by their names, each with the value that it takes from a row. */
type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>;

/** Prints the first `limit` of the rows that were found, and says when there are more: ask for one more than `limit`. */
export function printList<Row>(found: readonly Row[], { limit, json }: ListOptions, columns: Columns<Row>): void {
  const rows = found.slice(0, limit);
  process.stdout.write(json === true ? `${JSON.stringify(rows, null, 2)}\n` : tableOf(rows, columns));
  if (found.length > limit) process.stderr.write(`there are more; --limit shows more than ${limit}\n`);
}

/** A table of rows for people. */
export function tableOf<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const cells = Object.entries(columns);
  const lines = rows.map((row) => Object.fromEntries(cells.map(([name, valueOf]) => [name, valueOf(row)])));
  return asTable(lines, Object.keys(columns));
}
