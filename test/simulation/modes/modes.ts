import { simulate } from '../world.ts';
import { exhaustive } from './exhaustive.ts';
import type { Mode } from './mode.ts';
import { promoted } from './promoted.ts';
import { restored } from './restored.ts';
import { themed } from './themed.ts';
import { torn } from './torn.ts';

/** Worlds in which one seed decides what happens. */
const random: Mode = { name: 'random', run: simulate };

/** Every way to try worlds, by its name. */
export const MODES: ReadonlyMap<string, Mode> = new Map(
  [random, exhaustive, torn, restored, promoted, themed].map((mode) => [mode.name, mode]),
);

/** Throws if there is none of that name. */
export function modeOf(name: string): Mode {
  const mode = MODES.get(name);
  if (mode === undefined) throw new Error(`no mode is called ${name}; there are ${[...MODES.keys()].join(', ')}`);
  return mode;
}
