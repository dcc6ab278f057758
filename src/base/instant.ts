const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ]((?!24)\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?$/;
/** A time as this program writes it, on a day that each month has. `Date.parse` reads it faster than `read` does. */
const PLAIN_TIME = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T(?!24)\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Reads an ISO 8601 time as ns since 1970; undefined if it is unreadable. A time without a zone is UTC (§2). */
export function instant(text: string | null): bigint | undefined {
  const time = read(text);
  return time && BigInt(time.ms) * 1_000_000n + BigInt(time.fraction.slice(0, 9).padEnd(9, '0'));
}

export function instantMs(text: string | null): number | undefined {
  const ms = text !== null && PLAIN_TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  const time = read(text);
  return time && time.ms + Number(time.fraction.slice(0, 3).padEnd(3, '0'));
}

/** Reads the ISO 8601 time of a column; null if unreadable, because SQLite takes any value in any column. */
export function readTime(value: unknown): Date | null {
  const ms = typeof value === 'string' ? instantMs(value) : undefined;
  return ms === undefined ? null : new Date(ms);
}

export function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

function read(text: string | null): { ms: number; fraction: string } | undefined {
  const [, day, clock, fraction = '', zone = 'Z'] = ISO_TIME.exec(text ?? '') ?? [];
  if (day === undefined || !isDay(day)) return undefined;
  const ms = Date.parse(`${day}T${clock}${zone}`);
  return Number.isNaN(ms) ? undefined : { ms, fraction };
}

/** `Date` reads 30 February as 1 or 2 March, so a day after the 28th is compared with the day that `Date` reads. */
function isDay(day: string): boolean {
  const ofMonth = Number(day.slice(-2));
  return ofMonth <= 28 || new Date(day).getUTCDate() === ofMonth;
}
