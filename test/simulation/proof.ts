import type { Dose, Part, PieceResult } from '../proof/part.ts';
import { commandFor } from './modes/mode.ts';
import { runSeeds } from './run/pool.ts';

/** Worlds from one seed after another. */
export const randomWorlds = partOf({
  name: 'random',
  text: 'worlds in which one seed decides what happens: orders, settings, faults, deaths of the process; one in five has several accounts',
  seeds: { small: 1_000, full: 10_000 },
  seedsAPiece: 500,
  least: (dose) => (dose === 'small' ? { seeds: 1_000 } : { seeds: 10_000, deaths: 50_000 }),
});

/** Small worlds in which the process dies at one place after another. */
export const exhaustiveWorlds = partOf({
  name: 'exhaustive',
  text: 'small worlds, lived through once for each statement, request and event at which the process can die: it dies there',
  seeds: { small: 2, full: 25 },
  seedsAPiece: 5,
  least: (dose) => ({ seeds: dose === 'small' ? 2 : 25 }),
});

/** Worlds in which the power is lost, and the log is torn. */
export const tornWorlds = partOf({
  name: 'torn',
  text: 'losses of power: the log ends at or within a frame, has a damaged one, or is of a disk that lied',
  seeds: { small: 50, full: 480 },
  seedsAPiece: 60,
  least: (dose) => ({ tornWals: dose === 'small' ? 500 : 5_000 }),
});

/** Worlds in which older copies are put in place. */
export const restoredWorlds = partOf({
  name: 'restored',
  text: 'older copies of the database put in place, with a newer mark, their own or none, and accepted by a person',
  seeds: { small: 18, full: 150 },
  seedsAPiece: 50,
  least: (dose) => ({ copies: dose === 'small' ? 50 : 500 }),
});

interface Worlds extends Pick<Part, 'name' | 'text' | 'least'> {
  readonly seeds: Readonly<Record<Dose, number>>;
  readonly seedsAPiece: number;
}

/** A part is a mode of the simulation, its pieces some seeds each. */
function partOf({ name, text, least, seeds, seedsAPiece }: Worlds): Part {
  return {
    name,
    text,
    reads: ['test/simulation'],
    least,
    pieces: (dose) =>
      Array.from({ length: Math.ceil(seeds[dose] / seedsAPiece) }, (_, index) => {
        const from = index * seedsAPiece + 1;
        return { name: `from-${from}`, run: () => runPiece(name, from, Math.min(seedsAPiece, seeds[dose] - from + 1)) };
      }),
  };
}

async function runPiece(mode: string, from: number, count: number): Promise<PieceResult> {
  const { counts, broken } = await runSeeds({ mode, from, count });
  return { counts, violations: broken.map((one) => `${one.violation} (${commandFor(mode, one)})`) };
}
