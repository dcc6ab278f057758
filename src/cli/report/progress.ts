import { createLogUpdate } from 'log-update';
import type { Clock } from '../../clock.ts';

const SILENT_FOR_MS = 1_000;
const SHOWN_EVERY_MS = 200;

/** A line on a terminal that says how far a report is. */
export interface Progress extends Disposable {
  /** Shows the text; signals, such as Ctrl-C, are handled meanwhile. */
  show(text: string): Promise<void>;
  clear(): void;
}

/** Makes a progress line. It shows nothing in the first second, nor where standard error is no terminal. */
export function slowProgress(clock: Clock): Progress {
  const line = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
  let nextAt = clock.monotonic() + SILENT_FOR_MS;
  const clear = () => line?.clear();
  return {
    async show(text) {
      const now = clock.monotonic();
      if (line !== undefined && now >= nextAt) {
        nextAt = now + SHOWN_EVERY_MS;
        line(text);
      }
      await clock.turn();
    },
    clear,
    [Symbol.dispose]: clear,
  };
}
