import type { Part, PieceResult } from '../proof/part.ts';
import { PIECE, type Dialect } from './doses.ts';
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
    least: (dose) => ({ SIGKILLs: PIECES[dose] * KILLS_A_PIECE }),
    pieces: (dose) =>
      Array.from({ length: PIECES[dose] }, (_, index) => {
        const seed = index + 1;
        return { name: `seed-${seed}`, run: (say: Say) => runPiece(dialect, seed, say) };
      }),
  };
}

async function runPiece(dialect: Dialect, seed: number, say: Say): Promise<PieceResult> {
  const { kills, disturbances, faults, requests, orders, skipped, violations } = await runOn(
    dialect,
    { ...PIECE[dialect], seed },
    () => {},
  );
  for (const one of skipped) say(`left out: ${one}`);
  return {
    counts: { SIGKILLs: kills, disturbances, faults, requests, orders, 'left out': skipped.length },
    violations: violations.map((one) => `${one} (npm run windtunnel -- --dialect ${dialect} --seed ${seed})`),
  };
}
