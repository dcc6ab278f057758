import type { Dose, Part, PieceResult } from '../proof/part.ts';
import { PLANS, type Dialect } from './doses.ts';
import { runOn } from './run.ts';

const KILLS_A_PIECE = 25;
/** Both dialects together: 50 kills and 200. */
const PIECES = { small: 1, full: 4 } as const;

type Say = (text: string) => void;

/** Real processes on a file. */
export const windtunnelSqlite: Part = partOf(
  'sqlite',
  'real processes on SQLite: SIGKILL, SIGSTOP, faults on the way to the exchange, full and read-only disks, a foreign write lock, a clock that is set',
);

/** Real processes that share a server. */
export const windtunnelPostgres: Part = partOf(
  'postgres',
  'real processes that share PostgreSQL: SIGKILL, SIGSTOP, faults on the way to the exchange, cut connections, a server that is restarted and crashes',
);

function partOf(dialect: Dialect, text: string): Part {
  return {
    name: `windtunnel-${dialect}`,
    text,
    reads: ['test/windtunnel'],
    isWaiting: true,
    least: (dose) => ({
      SIGKILLs: PIECES[dose] * KILLS_A_PIECE,
      faults: PIECES[dose],
      'waits that were read': PIECES[dose],
    }),
    pieces: (dose) =>
      Array.from({ length: PIECES[dose] }, (_, index) => {
        const seed = index + 1;
        return { name: `seed-${seed}`, run: (say: Say) => runPiece(dialect, dose, seed, say) };
      }),
  };
}

async function runPiece(dialect: Dialect, dose: Dose, seed: number, say: Say): Promise<PieceResult> {
  const { kills, disturbances, faults, requests, orders, waits, skipped, violations } = await runOn(
    dialect,
    { ...PLANS[dose][dialect], seed },
    () => {},
  );
  const command = `npm run windtunnel -- ${dose === 'small' ? '--small ' : ''}--dialect ${dialect} --seed ${seed}`;
  for (const one of skipped) say(`left out: ${one}`);
  return {
    counts: {
      SIGKILLs: kills,
      disturbances,
      faults,
      'waits that were read': waits,
      requests,
      orders,
      'left out': skipped.length,
    },
    violations: violations.map((one) => `${one} (${command})`),
  };
}
