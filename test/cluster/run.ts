import { findPostgres, findProgram } from '../../src/extensions/sandbox/cluster/machine.ts';
import { COLUMNS, nameOf, ROWS, type Cell } from './cells.ts';
import { whyNoNetwork } from './network.ts';
import { tryOnce, type TrialResult } from './trial.ts';
import { startWorld } from './world.ts';

/** Says why no cluster can be started here; undefined if one can. */
export function whyNoCluster(): string | undefined {
  const missing = ['patroni', 'etcd'].find((name) => findProgram(name) === undefined);
  if (findPostgres() === undefined) return 'no PostgreSQL server is installed';
  return missing === undefined ? whyNoNetwork() : `${missing} is not installed`;
}

/** Tries a cell so often, on a cluster that stays up. Throws if it could not be tried. */
export async function runCell(cell: Cell, times: number, say: (text: string) => void): Promise<readonly TrialResult[]> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error('no PostgreSQL server is installed');
  const { needs, promised } = ROWS[cell.row];
  await using undo = new AsyncDisposableStack();
  const plan = { ...COLUMNS[cell.column], ...needs, seed: 1 };
  const world = await startWorld(undo, bin, plan, say);
  const results: TrialResult[] = [];
  for (let number = 0; number < times; number += 1) {
    say(`${nameOf(cell)}, ${number + 1} of ${times}`);
    results.push(await tryOnce(world, cell.row, number, promised[cell.column]));
  }
  const wrong = await world.check();
  const last = results.at(-1);
  if (wrong === undefined || last === undefined) return results;
  return [...results.slice(0, -1), { ...last, violations: [...last.violations, `db check --chain: ${wrong}`] }];
}
