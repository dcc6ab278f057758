import type { Clock } from '../../base/clock.ts';
import { terminalLine } from '../../cli/shared/progress.ts';

const SILENT_FOR_MS = 1_000;

const SHOWN_EVERY_MS = 200;

export type Progress = Awaited<ReturnType<typeof slowProgress>>;

export async function slowProgress(clock: Clock) {
  const line = await terminalLine();
  let nextAt = clock.monotonic() + SILENT_FOR_MS;
  const clear = () => line?.clear();
  return {
    /** Also lets the event loop turn once, so that the process handles signals such as Ctrl-C. */
    async show(text: string) {
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
