import { readFileSync, writeFileSync } from 'node:fs';
import { STRATEGIES, type Comparison } from './compare.ts';
import { missesOf, RATIOS, ratiosOf } from './targets.ts';

const DOCUMENT = new URL('../../docs/reference/delays.md', import.meta.url);
const TITLES = ['world', 'look-ups a second', 'round robin', 'back-off', 'steps', 'learned', 'oracle'];

/** Puts the table of the results and that of the missed targets into docs/reference/delays.md, each between its marks. */
export function writeTables(comparisons: readonly Comparison[]): void {
  const text = withPart(readFileSync(DOCUMENT, 'utf8'), 'following', tableOf(comparisons));
  writeFileSync(DOCUMENT, withPart(text, 'following, missed', missedTableOf(comparisons)));
}

function withPart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [before, after] = [text.indexOf(begin), text.indexOf(end)];
  if (before < 0 || after < before)
    throw new Error(`docs/reference/delays.md has no place for the table: ${begin} … ${end}`);
  return `${text.slice(0, before)}${begin}\n\n${part}\n\n${text.slice(after)}`;
}

/** The table in Markdown: of each way of following the mean delay, and in brackets the 95th percentile, in seconds. */
export function tableOf(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map((comparison) => {
    const { world, budget, results } = comparison;
    const cells = STRATEGIES.map((name) => `${shown(results[name].mean)} (${shown(results[name].late)})`);
    const { 'beside steps': steps, 'beside oracle': oracle } = ratiosOf(comparison);
    return [world, String(budget), ...cells, steps.value.toFixed(2), oracle.value.toFixed(2)];
  });
  return markdownOf([[...TITLES, 'beside steps', 'beside oracle'], ...rows]);
}

/** All ratios above their targets, by world: the look-ups a second, and in brackets the ratio; with a star if the oracle's is too. */
export function missedTableOf(comparisons: readonly Comparison[]): string {
  const rows = [...Map.groupBy(missesOf(comparisons), ({ world }) => world)].map(([world, misses]) => {
    const cells = RATIOS.map((ratio) =>
      misses
        .filter(({ name }) => name === ratio)
        .map(({ budget, value, byOracle }) => `${budget} (${value.toFixed(2)}${byOracle ? '' : '\\*'})`),
    );
    return [world, ...cells.map((cell) => cell.join(', '))];
  });
  return markdownOf([['world', ...RATIOS], ...rows]);
}

/** The first row has the titles. */
function markdownOf(rows: readonly (readonly string[])[]): string {
  const [titles = [], ...others] = rows;
  const widths = titles.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(titles), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}

function shown(seconds: number): string {
  return seconds.toLocaleString('en', { maximumFractionDigits: seconds < 10 ? 1 : 0 });
}
