import { createLogUpdate } from 'log-update';
import { repeatedly, systemClock, type Clock } from '../../../clock.ts';
import type { Counters } from '../../../flows/pass/counters.ts';
import { cut } from '../../../reports/formats/terminal/screen.ts';
import { withCommas } from '../../../reports/formats/words.ts';

const REFRESH_MS = 250;
/** Before that there is no rate to speak of. */
const FIRST_RATE_MS = 1_000;

/** How far a pass is. */
export interface SyncProgress {
  readonly counts: Readonly<Counters>;
  /** About so many requests it had before it; undefined where the daemon does not say. */
  readonly requests: number | undefined;
}

/** A line of a terminal that follows a pass. */
export interface ProgressLine extends Disposable {
  /** What was shown last. */
  readonly latest: SyncProgress | undefined;
  show(progress: SyncProgress): void;
  /** Writes something else to the terminal, above the line. */
  above(write: () => void): void;
}

/** Makes a line on a stream that is a terminal; elsewhere it shows nothing. */
export function progressLine(
  stream: NodeJS.WriteStream = process.stderr,
  clock: Pick<Clock, 'monotonic'> = systemClock(),
): ProgressLine {
  const line = stream.isTTY ? createLogUpdate(stream) : undefined;
  let latest: SyncProgress | undefined;
  let isOver = false;
  const startedAt = clock.monotonic();
  const draw = () => {
    if (latest !== undefined && !isOver)
      line?.(cut(progressText(latest, clock.monotonic() - startedAt), stream.columns || 80));
  };
  const refresh = line && repeatedly(REFRESH_MS, draw);
  return {
    get latest() {
      return latest;
    },
    show(progress) {
      latest = progress;
      draw();
    },
    above(write) {
      line?.clear();
      write();
      draw();
    },
    [Symbol.dispose]() {
      refresh?.[Symbol.dispose]();
      isOver = true;
      line?.clear();
    },
  };
}

/** How far the pass is, how fast it goes, and how long it will take at that rate. */
export function progressText({ counts, requests }: SyncProgress, elapsedMs: number): string {
  const { sent, lookedUp, changed, failed, invalid } = counts;
  const done = sent + invalid + lookedUp;
  const all = requests === undefined ? undefined : Math.max(done, requests);
  const perSecond = elapsedMs < FIRST_RATE_MS ? undefined : done / (elapsedMs / 1_000);
  const left = all === undefined || perSecond === undefined || done === 0 ? undefined : (all - done) / perSecond;
  return [
    all === undefined ? `${withCommas(done)} requests` : `${withCommas(done)} of ${withCommas(all)}`,
    ...(perSecond === undefined
      ? []
      : [`${perSecond < 10 ? perSecond.toFixed(1) : withCommas(Math.round(perSecond))}/s`]),
    ...(left === undefined ? [] : [`${timeLeft(left)} left`]),
    ...Object.entries({ sent, 'looked up': lookedUp, changed, failed }).map(
      ([name, value]) => `${name} ${withCommas(value)}`,
    ),
  ].join(' · ');
}

function timeLeft(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
