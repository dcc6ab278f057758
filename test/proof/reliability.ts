import { fileURLToPath } from 'node:url';
import { machine } from '../../bench/machine.ts';
import { commit } from './kept.ts';
import { markdownTable } from './markdown.ts';
import type { PartResult } from './run.ts';

/** The page whose table the proof writes itself. */
export const PAGE = fileURLToPath(new URL('../../docs/reliability.md', import.meta.url));
const BEGIN = '<!-- begin: written by `npm run proof` -->';
const END = '<!-- end: written by `npm run proof` -->';

/** The page with what came of the proof in place of what stood there. */
export function pageOf(page: string, results: readonly PartResult[]): string {
  return replaceBetween(page, [BEGIN, END], written(results));
}

/** The page with a text in place of what stood between two lines. Throws if the page lacks these. */
export function replaceBetween(page: string, [begin, end]: readonly [string, string], text: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`the page lacks the lines ${begin} and ${end}: put them back`);
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}

/** `10000 seeds, 53120 deaths`. */
export function doneOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function written(results: readonly PartResult[]): string {
  const { machine: on, versions } = machine();
  const broken = results.reduce((sum, { violations }) => sum + violations.length, 0);
  const rows = results.map(({ part, counts, violations, commits, at, durationMs }) => {
    return [
      `\`${part.name}\``,
      part.text,
      doneOf(counts),
      `${Math.round(durationMs / 60_000)} min`,
      violations.length === 0 ? 'none' : String(violations.length),
      `${at.slice(0, 10)}, ${commits.map((one) => one.slice(0, 8)).join(', ')}`,
    ];
  });
  return [
    `The last whole run ended on commit \`${commit().slice(0, 8)}\`, on ${on.cores} cores (${on.cpu}), ${on.memoryGiB} GiB, Node ${versions.node}, ` +
      `SQLite ${versions.sqlite}, PostgreSQL ${versions.postgresql}. ${broken === 0 ? 'No promise was broken.' : `Promises were broken ${broken} times.`}`,
    '',
    markdownTable(['part', 'what it tries', 'done', 'time', 'broken promises', 'begun, on commit'], rows),
  ].join('\n');
}
