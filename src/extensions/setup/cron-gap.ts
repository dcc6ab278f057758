import { createTask, validateDetailed } from 'node-cron';

const DAY_MS = 86_400_000;
const YEARS_FROM = Date.UTC(2024, 0, 1);
/** Within nine years each date comes at least twice, even 29 February, so the longest gap is not missed. */
const GAP_DAYS = 9 * 366;

/** Returns the longest time from tick to tick in ms; infinite if nine years have fewer than two days with ticks. */
export function longestCronGapMs(expression: string): number {
  const { fields } = validateDetailed(expression);
  if (fields === undefined) return Number.POSITIVE_INFINITY;
  const { hour, minute, second } = fields;
  const minutes = hour.flatMap((of) => minute.map((one) => of * 60 + one));
  const seconds = minutes.flatMap((of) => second.map((one) => of * 60 + one));
  const moments = seconds.map((one) => one * 1_000).toSorted((one, other) => one - other);
  const [first = 0, last = 0] = [moments[0], moments.at(-1)];
  const task = createTask(expression, () => {}, { timezone: 'UTC' });
  const days = Array.from({ length: GAP_DAYS }, (_, day) => YEARS_FROM + day * DAY_MS).filter((day) =>
    task.match(new Date(day + first)),
  );
  void task.destroy();
  if (days.length < 2) return Number.POSITIVE_INFINITY;
  return Math.max(longestGap(moments), longestGap(days) - last + first);
}

function longestGap(times: readonly number[]): number {
  return times.reduce((longest, time, index) => Math.max(longest, time - (times[index - 1] ?? time)), 0);
}
