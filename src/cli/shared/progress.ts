import { repeatedly, systemClock, type Clock } from '../../base/clock.ts';
import type { Counters } from '../../orders/pass/outcomes.ts';
import { cut } from './terminal.ts';
import { withCommas } from '../../base/words.ts';

/** Returns undefined if the stream is no terminal. Loads `log-update` here, because few commands use it. */
export async function terminalLine(stream: NodeJS.WriteStream = process.stderr) {
  return stream.isTTY ? (await import('log-update')).createLogUpdate(stream) : undefined;
}

const REFRESH_MS = 250;
const FIRST_RATE_MS = 1_000;

interface SyncProgress {
  readonly counts: Readonly<Counters>;
  /** About how many requests the pass has to make; undefined if the daemon does not say. */
  readonly requests: number | undefined;
}

export type ProgressLine = Awaited<ReturnType<typeof progressLine>>;

/** Makes a line that shows the progress of a pass, or shows nothing if the stream is no terminal. */
export async function progressLine(
  stream: NodeJS.WriteStream = process.stderr,
  clock: Pick<Clock, 'monotonic'> = systemClock(),
) {
  const line = await terminalLine(stream);
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
    show(progress: SyncProgress) {
      latest = progress;
      draw();
    },
    above(write: () => void) {
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

export function progressText({ counts, requests }: SyncProgress, elapsedMs: number): string {
  const { sent, lookedUp, changed, failed, invalid } = counts;
  const done = sent + invalid + lookedUp;
  const all = requests === undefined ? undefined : Math.max(done, requests);
  const perSecond = elapsedMs < FIRST_RATE_MS ? undefined : done / (elapsedMs / 1_000);
  const left = all === undefined || perSecond === undefined || done === 0 ? undefined : (all - done) / perSecond;
  const some = { sent, 'looked up': lookedUp, changed, failed };
  return [
    `${withCommas(done)}${all === undefined ? '' : ` of ${withCommas(all)}`} requests`,
    ...(perSecond === undefined
      ? []
      : [`${perSecond < 10 ? perSecond.toFixed(1) : withCommas(Math.round(perSecond))}/s`]),
    ...(left === undefined ? [] : [`${timeLeft(left)} left`]),
    ...Object.entries(some).map(([name, value]) => `${name} ${withCommas(value)}`),
  ].join(' · ');
}

function timeLeft(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
