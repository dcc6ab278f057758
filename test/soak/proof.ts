import type { Part, PieceResult } from '../proof/part.ts';
import { runSoak } from './soak.ts';

const MINUTES = { small: 5, full: 120 } as const;
const SEED = 1;

/** One process that works for long. */
export const soak: Part = {
  name: 'soak',
  text: 'a real process at steady work while faults come and go: memory, descriptors, sockets, the write-ahead log and the delay of the event loop stay level',
  reads: ['test/soak/proof.ts'],
  isWaiting: true,
  least: (dose) => ({ minutes: MINUTES[dose], faults: 1, 'events delivered': 1 }),
  // One process in one piece: what it keeps grows with the time that it lives.
  pieces: (dose) => [{ name: `minutes-${MINUTES[dose]}`, run: (say) => runPiece(MINUTES[dose], say) }],
};

async function runPiece(minutes: number, say: (text: string) => void): Promise<PieceResult> {
  const { orders, requests, faults, eventsRead, eventsDelivered, trends, violations } = await runSoak(
    minutes,
    SEED,
    () => {},
  );
  for (const { measure, before, after, most } of trends) {
    say(`${measure}: ${Math.round(before)}, at the end ${Math.round(after)} (at most ${Math.round(most)})`);
  }
  return {
    counts: { minutes, orders, requests, faults, 'events read': eventsRead, 'events delivered': eventsDelivered },
    violations: violations.map((one) => `${one} (npm run soak -- --minutes ${minutes} --seed ${SEED})`),
  };
}
