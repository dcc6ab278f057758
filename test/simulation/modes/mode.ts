import type { Ground } from '../ground.ts';

/** What one seed led to. */
export interface Outcome {
  readonly seed: number;
  /** What happened: steps, requests, deaths and the like. */
  readonly counts: Readonly<Record<string, number>>;
  /** What happened, in order; where a promise was broken, in the world that broke it. */
  readonly trace: readonly string[];
  /** The broken promise, or undefined when all were kept. */
  readonly violation: string | undefined;
  /** Which of the worlds of the seed broke it, where there are several. */
  readonly place?: number;
}

/** A way in which a world is tried. The same seed gives the same bytes of trace. */
export interface Mode {
  readonly name: string;
  /** Tries what one seed gives; `place`: only that one of the worlds of the seed. */
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
