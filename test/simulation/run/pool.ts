import { fork, type ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { prepareGround } from '../ground.ts';
import { addCounts, commandFor, type Outcome } from '../modes/mode.ts';
import { endWithUs } from '../../support/supervisor.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

/** The worlds to live through. */
export interface Worlds {
  readonly mode: string;
  readonly seeds: readonly number[];
  /** Processes that share them; as many as there are cores if it is not said. */
  readonly workers?: number | undefined;
}

/** The results of all worlds. */
export interface Result {
  readonly counts: Readonly<Record<string, number>>;
  /** The worlds that broke a promise, by seed. */
  readonly broken: readonly Outcome[];
}

/** A number of seeds, one after another. */
export function seedsFrom(from: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** Lives through worlds, shared over processes. `onOutcome` hears of each and says whether to begin further ones. */
export async function runSeeds(
  { mode, seeds, workers = availableParallelism() }: Worlds,
  onOutcome: (outcome: Outcome) => boolean = () => true,
): Promise<Result> {
  using ground = await prepareGround();
  const counts: Record<string, number> = { seeds: 0 };
  const broken: Outcome[] = [];
  const left = [...seeds];
  const take = () => left.shift();
  const stop = () => {
    left.length = 0;
  };
  const serve = (worker: ChildProcess) =>
    new Promise<void>((resolve, reject) => {
      let seed = take();
      const goOn = () => (seed === undefined ? worker.disconnect() : worker.send(seed));
      worker.on('message', (outcome: Outcome) => {
        addCounts(counts, { seeds: 1, ...outcome.counts });
        if (outcome.violation !== undefined) broken.push(outcome);
        if (!onOutcome(outcome)) stop();
        seed = take();
        goOn();
      });
      worker.once('exit', (code, signal) => {
        if (seed === undefined) return resolve();
        stop();
        reject(new Error(`the worker ended with ${signal ?? code}; see it with: ${commandFor(mode, { seed })}`));
      });
      goOn();
    });
  const share = Array.from({ length: Math.min(workers, seeds.length) }, () =>
    serve(endWithUs(fork(WORKER, [mode, ground.folder], { execArgv: [] }))),
  );
  const ends = await Promise.allSettled(share);
  for (const end of ends) if (end.status === 'rejected') throw end.reason as Error;
  return { counts, broken: broken.toSorted((one, other) => one.seed - other.seed) };
}
