import type { Dose, Part, PieceResult } from '../proof/part.ts';
import { commandFor } from './modes/mode.ts';
import { runSeeds, seedsFrom } from './run/pool.ts';

/**
 * Worlds that have broken a promise once and are beyond the worlds that a change runs through. Three more, 2629, 2880 and 5638,
 * take as long as a hundred others, so only the full proof runs them.
 */
const BROKEN_ONCE = [
  1279, 1584, 2076, 2125, 2158, 2190, 2413, 2540, 2703, 2866, 2909, 3024, 3386, 3465, 4425, 7031, 7432, 7518, 7557,
  8505, 9734, 6139651, 171, 291, 2491, 432, 460, 833, 7067, 2995,
];

/** Worlds from one seed after another. */
export const randomWorlds = partOf({
  name: 'random',
  text: 'worlds in which one seed decides what happens: orders, settings, faults, deaths of the process; one in five has several accounts, one in sixteen two or three processes at a time',
  seeds: { small: 150, full: 10_000 },
  seedsAPiece: 500,
  kept: BROKEN_ONCE,
  least: (dose) => (dose === 'small' ? { seeds: 150 } : { seeds: 10_000, deaths: 50_000 }),
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
  seeds: { small: 50, full: 540 },
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

/** Worlds in which standbys are promoted that lack the last commits. */
export const promotedWorlds = partOf({
  name: 'promoted',
  text: 'standbys promoted that lack the last commits, with the owner lost or back a while later, and decided on by a person; each order is replayed through the model',
  seeds: { small: 40, full: 480 },
  seedsAPiece: 60,
  kept: [71432, 147],
  least: (dose) => (dose === 'small' ? { promotions: 100, traces: 650 } : { promotions: 1_200, traces: 10_000 }),
});

/** Worlds in which faults that belong together happen often. */
export const themedWorlds = partOf({
  name: 'themed',
  text: 'faults that belong together, often: creates lost and absences of every kind, records that contradict and that lack fields, commits whose answer is lost',
  seeds: { small: 40, full: 480 },
  seedsAPiece: 60,
  least: (dose) => ({ seeds: dose === 'small' ? 40 : 480 }),
});

interface Worlds extends Pick<Part, 'name' | 'text' | 'least'> {
  readonly seeds: Readonly<Record<Dose, number>>;
  readonly seedsAPiece: number;
  /** Seeds beyond those of the small dose that it runs through as well. */
  readonly kept?: readonly number[];
}

/** A part is a mode of the simulation, its pieces some seeds each. */
function partOf({ name, text, least, seeds, seedsAPiece, kept = [] }: Worlds): Part {
  return {
    name,
    text,
    reads: ['test/simulation/proof.ts'],
    least,
    pieces: (dose) => {
      const pieces = Array.from({ length: Math.ceil(seeds[dose] / seedsAPiece) }, (_, index) => {
        const from = index * seedsAPiece + 1;
        const count = Math.min(seedsAPiece, seeds[dose] - from + 1);
        return { name: `from-${from}`, run: () => runPiece(name, seedsFrom(from, count)) };
      });
      const further = kept.filter((seed) => seed > seeds[dose]);
      return further.length === 0 ? pieces : [...pieces, { name: 'kept', run: () => runPiece(name, further) }];
    },
  };
}

async function runPiece(mode: string, seeds: readonly number[]): Promise<PieceResult> {
  const { counts, broken } = await runSeeds({ mode, seeds, workers: 1 });
  return { counts, violations: broken.map((one) => `${one.violation} (${commandFor(mode, one)})`) };
}
