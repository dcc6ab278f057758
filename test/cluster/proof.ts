import type { Dose, Part, PieceResult } from '../proof/part.ts';
import { CELLS, nameOf, ROWS, type Cell } from './cells.ts';
import { runCell, whyNoCluster } from './run.ts';
import type { TrialResult } from './trial.ts';

/**
 * The worst of all: the only trace of what was sent is lost with the primary and its worker; two servers take writes at a time; two
 * fail-overs follow each other, the second one to a server that had commits of its own.
 */
const SMALL = ['primary-and-owner-lost/asynchronous-0', 'split/synchronous-1', 'old-primary-back/strict-1'];
const TIMES = { small: { couldDouble: 1, others: 1 }, full: { couldDouble: 10, others: 3 } } as const;
const LEAST_FAIL_OVERS = { small: 3, full: 200 } as const;

/** A cluster of Patroni that loses its parts. */
export const cluster: Part = {
  name: 'cluster',
  text: 'three machines with PostgreSQL, Patroni and etcd, three workers, an exchange and a shop, which are lost, stopped and cut apart: the [survival matrix](#the-survival-matrix)',
  reads: ['test/cluster/proof.ts'],
  isWaiting: true,
  least: (dose) => (whyNoCluster() === undefined ? { 'fail-overs': LEAST_FAIL_OVERS[dose] } : {}),
  pieces: (dose) =>
    cellsOf(dose).map((cell) => ({
      name: pieceNameOf(cell),
      run: (say: (text: string) => void) => runPiece(cell, dose, say),
    })),
};

/** The cells of a dose. */
export function cellsOf(dose: Dose): readonly Cell[] {
  return dose === 'full' ? CELLS : CELLS.filter((cell) => SMALL.includes(nameOf(cell)));
}

/** The name under which the result of a cell is kept. */
export function pieceNameOf(cell: Cell): string {
  return nameOf(cell).replace('/', '.');
}

/** How often a dose tries a cell. */
export function timesOf({ row }: Cell, dose: Dose): number {
  return TIMES[dose][ROWS[row].couldDouble ? 'couldDouble' : 'others'];
}

async function runPiece(cell: Cell, dose: Dose, say: (text: string) => void): Promise<PieceResult> {
  const why = whyNoCluster();
  if (why !== undefined) {
    say(`left out: ${why}`);
    return { counts: { 'left out': 1 }, violations: [] };
  }
  const trials = await runCell(cell, timesOf(cell, dose), () => {});
  return { counts: countsOf(cell, trials), violations: violationsOf(cell, trials), details: trials };
}

/** The broken promises of a cell, each with the command that tries it again. */
export function violationsOf(cell: Cell, trials: readonly TrialResult[]): readonly string[] {
  const command = `npm run cluster -- --cell ${nameOf(cell)}`;
  return trials.flatMap(({ violations }) => violations.map((one) => `${one} (${command})`));
}

function countsOf({ row, column }: Cell, trials: readonly TrialResult[]): PieceResult['counts'] {
  const sum = (count: (trial: TrialResult) => number) => trials.reduce((all, trial) => all + count(trial), 0);
  const isPromised = ROWS[row].promised[column].twice === 'none';
  return {
    trials: trials.length,
    'fail-overs': sum(({ failOvers }) => failOvers),
    orders: sum(({ orders }) => orders),
    'created twice': isPromised ? sum(({ twice }) => twice) : 0,
    'created twice if nothing is promised': isPromised ? 0 : sum(({ twice }) => twice),
    'rows that were lost': sum(({ lostRows }) => lostRows),
    'orders in doubt': sum(({ inDoubt }) => inDoubt),
  };
}
