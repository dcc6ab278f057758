import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../../support/supervisor.ts';
import { planOf, type Plan } from '../plan/plan.ts';
import type { PlantedBug } from './bug.ts';
import { plantHere } from './plant.ts';

const WORLDS = fileURLToPath(new URL('worlds.ts', import.meta.url));

/** A world that broke a promise. */
export interface BrokenWorld {
  readonly seed: number;
  readonly violation: string;
}

/** The result of the worlds of a program with a bug. */
export interface Came {
  /** The first that broke the promise of the bug. */
  readonly caught?: BrokenWorld | undefined;
  /** The first that broke another promise before. */
  readonly other?: BrokenWorld | undefined;
}

/** First the small worlds of the same seeds: they cost little, and most bugs show in one. */
export function cheapestFirst(count: number): readonly number[] {
  const plans = firstSeeds(count).map((seed) => planOf(seed));
  const cost = ({ orders, calmAt, endAt }: Plan) => (orders.length + 1) * (endAt - calmAt + 24 * calmAt);
  return plans.toSorted((one, other) => cost(one) - cost(other)).map(({ seed }) => seed);
}

/** The seeds from the first one on. */
export function firstSeeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Runs worlds of the program with the bug, one after another, in a process of their own, until one breaks its promise. */
export async function catchBug(bug: PlantedBug, seeds: readonly number[]): Promise<Came> {
  const { problems } = plantHere(bug);
  if (problems.length > 0) throw new Error(`${bug.name} no longer applies: ${problems.join('; ')}`);
  const args = [WORLDS, '--bug', bug.name, '--seeds', seeds.join(',')];
  const child = endWithUs(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  try {
    return JSON.parse(output) as Came;
  } catch (error) {
    throw new Error(`the worlds could not be run: ${errors.trim().slice(-2_000)}`, { cause: error });
  }
}

/** Does something for each item, at most `most` at a time, and returns the results in the order of the items. */
export async function besideEachOther<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const lanes = Array.from({ length: most }, async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  });
  await Promise.all(lanes);
  return results;
}
