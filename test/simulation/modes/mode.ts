import type { Ground } from '../ground.ts';

/** The result of one seed. */
export interface Outcome {
  readonly seed: number;
  /** The counts of events: steps, requests, deaths and the like. */
  readonly counts: Readonly<Record<string, number>>;
  /** The events, in order; if a promise was broken, in the world that broke it. */
  readonly trace: readonly string[];
  /** The broken promise, or undefined when all were kept. */
  readonly violation: string | undefined;
  /** Which of the worlds of the seed broke it, if there are several. */
  readonly place?: number;
}

/** A way in which a world is tried. The same seed makes the same bytes of trace. */
export interface Mode {
  readonly name: string;
  /** Tries the worlds of one seed; `place`: only that one of them. */
  run(seed: number, ground: Ground, place?: number): Promise<Outcome>;
}

/** The command that shows what happened. */
export function commandFor(mode: string, { seed, place }: Pick<Outcome, 'seed' | 'place'>): string {
  const options = [
    ...(mode === 'random' ? [] : [`--mode ${mode}`]),
    `--seed ${seed}`,
    ...(place === undefined ? [] : [`--place ${place}`]),
  ];
  return `npm run simulate -- ${options.join(' ')}`;
}

/** Adds up what several worlds came to. */
export function addCounts(sum: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}
