import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import type { Entry, Target } from './entry.ts';

/** Work on one input takes milliseconds; more than this is a hang. CPU time, as the machine may be busy with others. */
const MOST_CPU_MS = 1_000;
/** Who waits without working for so long waits for ever. */
const MOST_WAIT_MS = 60_000;
const MOST_SHOWN = 600;

/** How many inputs, and which. */
export interface Runs {
  readonly runs: number;
  readonly seed: number;
  /** The place of a failure within its seed: that input alone. */
  readonly path?: string | undefined;
}

/** Feeds an entry the inputs of a seed. Returns undefined if every promise was kept, or else the broken promise and the input. */
export async function tryInputs<Input>(entry: Entry<Input>, { runs, seed, path }: Runs): Promise<string | undefined> {
  await using program = new Program(entry);
  const property = fc.asyncProperty(entry.inputs, (input) => program.give(input));
  const result = await fc.check(property, { numRuns: runs, seed, ...(path !== undefined && { path }) });
  if (!result.failed) return undefined;
  const { counterexample, counterexamplePath, errorInstance } = result;
  const again = `npm run hostile -- --entry ${entry.name} --seed ${seed} --path ${counterexamplePath}`;
  return `${messageOf(errorInstance)}: ${shown(counterexample?.[0])} (${again})`;
}

/** Feeds an entry one input. Rejects if a promise is broken. */
export async function tryInput<Input>(entry: Entry<Input>, input: Input): Promise<void> {
  await using program = new Program(entry);
  await program.give(input);
}

/** The program behind an entry, watched. After a broken promise another is begun: what is left of it may be untrue. */
class Program<Input> implements AsyncDisposable {
  readonly #entry: Entry<Input>;
  #target: Target<Input> | undefined;
  #given = 0;

  constructor(entry: Entry<Input>) {
    this.#entry = entry;
  }

  async give(input: Input): Promise<void> {
    if (this.#given === this.#entry.inputsAProgram) await this.#close();
    const target = (this.#target ??= await this.#entry.open());
    this.#given += 1;
    try {
      await watched(() => target.give(input));
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  async #close(): Promise<void> {
    const target = this.#target;
    this.#target = undefined;
    this.#given = 0;
    await target?.[Symbol.asyncDispose]();
  }
}

/** Rejects if the work fails, if an error of it is unhandled, and if it works or waits for too long. */
async function watched(work: () => Promise<void>): Promise<void> {
  const unhandled = Promise.withResolvers<never>();
  const notice = (error: unknown) => unhandled.reject(new Error(`unhandled: ${messageOf(error)}`));
  process.on('unhandledRejection', notice).on('uncaughtException', notice);
  const isDone = new AbortController();
  const waitedTooLong = setTimeout(MOST_WAIT_MS, undefined, { signal: isDone.signal }).then(
    () => Promise.reject(new Error(`it did not end in ${MOST_WAIT_MS} ms`)),
    () => undefined,
  );
  const before = process.cpuUsage();
  try {
    await Promise.race([work(), unhandled.promise, waitedTooLong.then(() => new Promise<never>(() => {}))]);
    // An unhandled error comes a turn later.
    await Promise.race([new Promise((resolve) => setImmediate(resolve)), unhandled.promise]);
    const { user, system } = process.cpuUsage(before);
    const tookMs = Math.round((user + system) / 1_000);
    if (tookMs > MOST_CPU_MS) throw new Error(`it worked for ${tookMs} ms`);
  } finally {
    isDone.abort();
    process.off('unhandledRejection', notice).off('uncaughtException', notice);
    unhandled.promise.catch(() => {});
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function shown(input: unknown): string {
  const text = JSON.stringify(input) ?? String(input);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}… (${text.length} characters)`;
}
