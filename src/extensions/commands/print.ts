import { once } from 'node:events';
import type { Command } from 'commander';
import { isOfAll } from './account.ts';
import type { Column } from '../documents/document.ts';
import { wrapped, type Cell, type Screen } from '../../cli/shared/terminal.ts';
import { callOn } from '../../cli/shared/invocation.ts';
import { processEnvironment } from '../../settings/config.ts';
import { tableOf } from '../documents/terminal.ts';
import { screenOf } from '../../cli/shared/help.ts';
import { wholeNumber } from '../../cli/shared/options.ts';

export function print(json: boolean | undefined, value: unknown, text: () => string, indent?: number): void {
  process.stdout.write(json === true ? `${JSON.stringify(value, null, indent)}\n` : text());
}

export async function printLong(json: boolean | undefined, value: unknown, text: () => string): Promise<void> {
  if (json === true) print(json, value, text, 2);
  else await show(text());
}

/** Writes a text to stdout. A text longer than the terminal goes through `$PAGER`, unless NO_PAGER is set. */
export async function show(text: string): Promise<void> {
  const { isTTY, rows } = process.stdout;
  const { NO_PAGER = '', PAGER = 'less', ...env } = processEnvironment();
  const isShort = !isTTY || text.split('\n').length <= rows || NO_PAGER !== '' || ['', 'cat'].includes(PAGER);
  if (isShort || !(await isPagedBy(PAGER, { LESS: 'FRX', ...env }, text))) process.stdout.write(text);
}

/** Returns false if the pager does not exist. Ignores errors of the pager's stdin, because a pager may end early. */
async function isPagedBy(pager: string, env: NodeJS.ProcessEnv, text: string): Promise<boolean> {
  const { spawn } = await import('node:child_process');
  const child = spawn(pager, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env });
  // Ctrl-C is for the pager, so this process ignores the signal until the pager ends.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  child.stdin.on('error', ignore).end(text);
  const [code] = await once(child, 'close');
  process.off('SIGINT', ignore);
  // A shell exits with 127 if the command does not exist.
  return code !== 127;
}

export type ListOptions = { readonly limit: number; readonly json?: boolean; readonly account?: string };

export function addListOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'show at most this many', wholeNumber(1, 9_999_999), 50)
    .option('--json', 'print JSON');
}

export interface ListColumn<Row> extends Partial<Pick<Column, 'kind' | 'rank' | 'isId'>> {
  readonly label: string;
  of(row: Row): Cell;
}

export async function printList<Row extends object>(
  command: Command,
  found: readonly Row[],
  { limit, json }: ListOptions,
  columns: readonly ListColumn<Row>[],
  empty: string,
): Promise<void> {
  const rows = found.slice(0, limit);
  const account: ListColumn<Row & { account?: string }> = { label: 'account', of: (row) => row.account ?? null };
  const shown = isOfAll(command) ? [account, ...columns] : columns;
  await printLong(json, rows, () => (rows.length === 0 ? `${empty}\n` : listText(rows, shown, screenOf())));
  if (found.length > limit) process.stderr.write(`only the first ${limit} are shown: --limit shows more\n`);
}

export function warnOfCutList(options: string): void {
  process.stderr.write(`not all rows were searched, and others may match: ${options}\n`);
}

export function listText<Row>(rows: readonly Row[], columns: readonly ListColumn<Row>[], screen: Screen): string {
  const shown = columns.map(({ kind = 'text', ...column }) => ({ key: column.label, kind, ...column }));
  const cells = rows.map((row) => Object.fromEntries(columns.map((column) => [column.label, column.of(row)])));
  return tableOf(shown, cells, screen);
}

export function nextSteps(steps: readonly (readonly [args: string, text: string])[], settingsFile?: string): string {
  const call = callOn(settingsFile);
  const { width } = screenOf();
  return steps.map(([args, text]) => `  ${call} ${args}\n    ${wrapped(text, width, 4)}\n`).join('');
}
