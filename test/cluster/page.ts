import { fileURLToPath } from 'node:url';
import { markdownTable } from '../proof/markdown.ts';
import { keptOf, readKept, type KeptResult } from '../proof/kept.ts';
import { replaceBetween } from '../proof/reliability.ts';
import { CELLS, COLUMNS, nameOf, ROW_NAMES, ROWS, type Cell, type ColumnName } from './cells.ts';
import { cluster, pieceNameOf } from './proof.ts';
import type { TrialResult } from './trial.ts';

/** The page of the reference with the matrix. */
export const MATRIX_PAGE = fileURLToPath(new URL('../../docs/reference/survival.md', import.meta.url));
const LINES = [
  '<!-- begin: written by `npm run cluster -- --full` -->',
  '<!-- end: written by `npm run cluster -- --full` -->',
] as const;

interface Tried {
  readonly cell: Cell;
  readonly kept: KeptResult;
  readonly trials: readonly TrialResult[];
}

/** The page with the matrix of all cells whose full dose is kept in place of what stood there. */
export function withMatrix(page: string): string {
  const results = keptOf(cluster, 'full');
  const tried = CELLS.flatMap((cell): Tried[] => {
    const kept = readKept(results, pieceNameOf(cell));
    const trials = kept?.details as readonly TrialResult[] | undefined;
    return kept === undefined || trials === undefined ? [] : [{ cell, kept, trials }];
  });
  return replaceBetween(page, LINES, matrixOf(tried));
}

/** The results of cells, as Markdown. */
export function matrixOf(tried: readonly Tried[]): string {
  const all = tried.flatMap(({ trials }) => trials);
  const columns = Object.keys(COLUMNS) as ColumnName[];
  const rows = ROW_NAMES.map((row) => [
    ROWS[row].text,
    ...columns.map((column) => {
      if (!ROWS[row].columns.includes(column)) return '';
      const found = tried.find(({ cell }) => cell.row === row && cell.column === column);
      return found === undefined ? 'not yet' : cellText(found);
    }),
  ]);
  const days = tried.map(({ kept }) => kept.at.slice(0, 10)).toSorted();
  const commits = [...new Set(tried.map(({ kept }) => kept.commit.slice(0, 8)))];
  return [
    `${tried.length} of ${CELLS.length} cells, ${all.length} trials, ${sum(all, 'failOvers')} fail-overs, ${sum(all, 'orders')} orders, ` +
      `${days[0] ?? ''} to ${days.at(-1) ?? ''}, on commit ${commits.join(', ')}.`,
    '',
    markdownTable(['what is done', ...columns], rows),
  ].join('\n');
}

function cellText({ cell: { row, column }, trials }: Tried): string {
  const pauses = trials.map(({ pauseMs }) => pauseMs / 1_000).toSorted((one, other) => one - other);
  const [middle = 0, worst = 0] = [pauses[Math.floor(pauses.length / 2)], pauses.at(-1)];
  const parts = [
    `${trials.length}×`,
    `${sum(trials, 'twice')} twice${ROWS[row].promised[column].twice === 'none' ? '' : ' (no promise)'}`,
    ...(sum(trials, 'lostRows') > 0 ? [`${sum(trials, 'lostRows')} rows lost`] : []),
    ...(sum(trials, 'inDoubt') > 0 ? [`${sum(trials, 'inDoubt')} in doubt`] : []),
    ...(sum(trials, 'held') > 0 ? [`${sum(trials, 'held')} held`] : []),
    ...(worst > 0 ? [`${middle.toFixed(1)} s / ${worst.toFixed(1)} s`] : []),
  ];
  return parts.join(', ');
}

/** The texts that people read while a cell is tried, and when it has been. */
export function cellLine(cell: Cell, trials: readonly TrialResult[]): string {
  return `${nameOf(cell)}: ${cellText({ cell, trials } as Tried)}`;
}

function sum(
  trials: readonly TrialResult[],
  what: 'failOvers' | 'orders' | 'twice' | 'lostRows' | 'inDoubt' | 'held',
): number {
  return trials.reduce((all, trial) => all + trial[what], 0);
}
