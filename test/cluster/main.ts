import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runParts } from '../proof/run.ts';
import { cellNamed, CELLS, nameOf, ROWS, type Cell } from './cells.ts';
import { cellLine, MATRIX_PAGE, withMatrix } from './page.ts';
import { cellsOf, cluster, pieceNameOf, timesOf, violationsOf } from './proof.ts';
import { runCell, whyNoCluster } from './run.ts';

const USAGE = `usage: npm run cluster -- [--cell ROW/COLUMN] [--times N]
       npm run cluster -- --full [--cell ROW/COLUMN]
       npm run cluster -- --list
  --cell   that cell alone; without it, the cells of a small dose
  --times  so often on one cluster (1)
  --full   all cells, as often as a release tries them, in hours. Each result is kept in test/proof/results: broken off, it continues
           from there. It writes the matrix of all that has run into docs/reference/survival.md
  --list   what is done in each cell, and what it promises
Exit 1 if a promise was broken.
`;

const { values } = parseArgs({
  options: {
    cell: { type: 'string' },
    times: { type: 'string' },
    full: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const dose = values.full ? 'full' : 'small';
const chosen =
  values.cell === undefined ? cellsOf(dose) : [cellNamed(values.cell)].filter((cell) => cell !== undefined);
const why = whyNoCluster();
if (values.list) process.stdout.write(CELLS.map(described).join(''));
else if (values.help || chosen.length === 0) {
  process.stdout.write(USAGE);
  if (!values.help) process.exitCode = 64;
} else if (why !== undefined) {
  process.stderr.write(`no cluster can be started here: ${why}\n`);
  process.exitCode = 69;
} else if (values.full) await runFull(chosen);
else await runOnce(chosen);
// Node may wait for ever, at full speed, for sockets that were reset.
process.exit();

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function described(cell: Cell): string {
  const { text, promised } = ROWS[cell.row];
  const { twice, lostRows, doubt } = promised[cell.column];
  return `${nameOf(cell)}: ${text}\n  created twice: ${twice}, rows lost: ${lostRows}, orders in doubt: ${doubt}\n`;
}

async function runFull(cells: readonly Cell[]): Promise<void> {
  const names = cells.map(pieceNameOf);
  const pieces = cluster.pieces('full').filter(({ name }) => names.includes(name));
  const part = { ...cluster, pieces: () => pieces, least: () => ({}) };
  const [result] = await runParts([part], 'full', say);
  writeFileSync(MATRIX_PAGE, withMatrix(readFileSync(MATRIX_PAGE, 'utf8')));
  say('docs/reference/survival.md is written');
  if (result === undefined || result.violations.length > 0) process.exitCode = 1;
}

async function runOnce(cells: readonly Cell[]): Promise<void> {
  for (const cell of cells) {
    const begun = performance.now();
    const times = values.times === undefined ? timesOf(cell, dose) : Number(values.times);
    const trials = await runCell(cell, times, (text) =>
      say(`${((performance.now() - begun) / 1_000).toFixed(1)} ${text}`),
    );
    const violations = violationsOf(cell, trials);
    process.stdout.write([cellLine(cell, trials), ...violations.map((one) => `BROKEN ${one}`), ''].join('\n'));
    if (violations.length > 0) process.exitCode = 1;
  }
}
