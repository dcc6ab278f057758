import { readFileSync, writeFileSync } from 'node:fs';
import { STRATEGIES, type Comparison } from './compare.ts';

const DOCUMENT = new URL('../../docs/performance.md', import.meta.url);
const [BEGIN, END] = ['<!-- following: begin -->', '<!-- following: end -->'];
const TITLES = ['world', 'look-ups a second', 'round robin', 'back-off', 'steps', 'learned', 'oracle'];

/** Puts the table of the results into the manual, between its marks. */
export function writeTable(comparisons: readonly Comparison[]): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before)
    throw new Error(`docs/performance.md has no place for the table: ${BEGIN} … ${END}`);
  writeFileSync(DOCUMENT, `${text.slice(0, before)}${BEGIN}\n\n${tableOf(comparisons)}\n\n${text.slice(after)}`);
}

/** The table in Markdown: of each way of following the mean delay, and in brackets the 95th percentile, in seconds. */
export function tableOf(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ world, budget, results }) => {
    const cells = STRATEGIES.map((name) => `${shown(results[name].mean)} (${shown(results[name].late)})`);
    const { steps, learned, oracle } = results;
    return [world, String(budget), ...cells, ratio(learned.mean, steps.mean), ratio(learned.mean, oracle.mean)];
  });
  const all = [[...TITLES, 'beside steps', 'beside oracle'], ...rows];
  const widths = TITLES.concat('', '').map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [titles = [], ...lines] = all;
  return [line(titles), line(widths.map((width) => '-'.repeat(width))), ...lines.map(line)].join('\n');
}

function shown(seconds: number): string {
  return seconds.toLocaleString('en', { maximumFractionDigits: seconds < 10 ? 1 : 0 });
}

function ratio(one: number, other: number): string {
  return (one / other).toFixed(2);
}
