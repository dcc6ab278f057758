import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BEGINNING, IDLE, keyOf, PENDING, REFUSED, Scene, type Slot, type State } from './state.ts';
import { conditionsOf, stepsOf, type Setup } from './steps.ts';

const PROMELA = fileURLToPath(new URL('ownership.pml', import.meta.url));

/** The models to explore: each has a few hundred thousand states. */
export const SETUPS = {
  asynchronous: { sync: false, generations: 2, promotions: 1 },
  synchronous: { sync: true, generations: 2, promotions: 1 },
} as const satisfies Record<string, Setup>;

interface Explored {
  readonly states: number;
  readonly isBroken: boolean;
}

/** Explores every state of a set-up with the steps in TypeScript, or as far as the first that breaks a promise. */
export function explore(setup: Setup): Explored {
  const { ofWorker, ofWorld } = stepsOf(setup);
  const twice = Object.values(ofWorker).flatMap((one) => [(s: State) => one(s, 0), (s: State) => one(s, 1)]);
  const steps = [...twice, ...Object.values(ofWorld).map((one) => (s: State) => one(s, 0))];
  const isBroken = promisesOf(setup);
  const seen = new Set([keyOf(BEGINNING)]);
  const left = [BEGINNING];
  for (let state = left.pop(); state !== undefined; state = left.pop()) {
    if (isBroken(state)) return { states: seen.size, isBroken: true };
    for (const one of steps) {
      const next = one(state);
      const key = next === undefined ? '' : keyOf(next);
      if (next === undefined || seen.has(key)) continue;
      seen.add(key);
      left.push(next);
    }
  }
  return { states: seen.size, isBroken: false };
}

/** The promises: nothing is created twice, the rate is kept, and what may have been sent is in doubt. */
function promisesOf(setup: Setup): (state: State) => boolean {
  const { owns, mayLeave } = conditionsOf(setup);
  return (state) => {
    const scenes = ([0, 1] as const).map((w) => new Scene(state, w));
    const { order, doubt } = state.rows[state.p as Slot];
    const isSendable = order === PENDING || (order === REFUSED && doubt < 2);
    const isOwned = scenes.some((scene) => owns(scene) && scene.me.old === 0);
    const isMaybeSent = state.taken > 0 || scenes.some((scene) => mayLeave(scene) && scene.me.at !== IDLE);
    return state.taken > 1 || state.arrived > 1 || (isOwned && isSendable && isMaybeSent);
  };
}

/** Explores the same with Spin; undefined if Spin or gcc is not installed. */
export function exploreWithSpin({ sync, generations, promotions, mistake }: Setup): Explored | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-model-'));
  const run = (name: string, ...args: string[]) => execFileSync(name, args, { cwd: folder, encoding: 'utf8' });
  const macros = [`-DSYNC=${Number(sync)}`, `-DGENERATIONS=${generations}`, `-DPROMOTIONS=${promotions}`];
  try {
    run('spin', ...macros, `-DMISTAKE=${mistake ?? 0}`, '-a', PROMELA);
    // As many states as there are: nothing is left out, and nothing but the values is counted.
    run('gcc', '-DSAFETY', '-DNOREDUCE', '-o', 'pan', 'pan.c');
    const output = run('./pan', '-m1000000', '-w22');
    const [, states] = /(\d+) states, stored/.exec(output) ?? [];
    if (states === undefined || output.includes('max search depth')) throw new Error(output);
    return { states: Number(states), isBroken: !/errors: 0\b/.test(output) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
