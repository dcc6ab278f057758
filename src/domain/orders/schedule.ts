const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The longest wait of any schedule. A due time further away was written by a wrong clock. */
export const LONGEST_WAIT_MS = 8 * DAY;

/** Draws a time from [0.5, 1) of `ms`, so that many retries do not come at once. `random` is in [0, 1). */
export function withJitter(ms: number, random: number): number {
  return Math.round(ms * (0.5 + random / 2));
}

/** Makes a time shorter or longer by up to a quarter, so that what began together is not due together. `random` is in [0, 1). */
export function spreadMs(ms: number, random: number): number {
  return Math.round(ms * (0.75 + random / 2));
}

/** Backoff before attempt `attempt + 1` of an order that was certainly not taken: 1 s doubling to 5 min, with jitter. */
export function createBackoffMs(attempt: number, random: number): number {
  return Math.max(SECOND, withJitter(Math.min(2 ** Math.min(attempt, 12) * SECOND, 5 * MINUTE), random));
}

/** The longest wait between look-ups that count as fresh for `freshForMs`; a tenth is left for the look-up itself. */
export function longestFreshMs(freshForMs: number): number {
  return Math.max(5 * SECOND, 0.9 * freshForMs);
}

/**
 * Wait after a look-up that brought no evidence (no answer, 5xx, unreadable), `silentForMs` after the last evidence: a
 * quarter of that time, so that it grows each time, with jitter; of at least 30 s and at most 15 min before the jitter.
 */
export function unansweredLookupMs(silentForMs: number, random: number): number {
  return withJitter(Math.min(Math.max(30 * SECOND, silentForMs / 4), 15 * MINUTE), random);
}

/** How often a request shows whether an exchange out of reach is back. */
export const OUTAGE_LOOKUP_MS = 10 * SECOND;

/** The wait between look-ups of a held order, whose order may still appear. */
export const HELD_LOOKUP_MS = DAY;

/** When an order that the exchange rejected is looked up, in case it took it after all: durations since then. */
export const REJECTED_LOOKUPS_MS = [HOUR, DAY] as const;

/**
 * Wait before look-up number `done + 1` of a plan, such as `create.verifyAfter` or `follow.recheckFinalAfter` in ms after
 * its start; undefined when all are done. The gaps count, not the moments: after an outage the look-ups do not come all at
 * once.
 */
export function plannedGapMs(done: number, moments: readonly number[]): number | undefined {
  const at = moments[done];
  if (at === undefined) return undefined;
  return Math.max(0, at - (moments[done - 1] ?? 0));
}
