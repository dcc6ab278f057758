const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * Reads an ISO 8601 time as nanoseconds since 1970; undefined where it cannot be read. A time without a zone is UTC
 * (§2), never the local time of this machine.
 */
export function instant(text: string | null): bigint | undefined {
  const time = read(text);
  return time && BigInt(time.ms) * 1_000_000n + BigInt(time.fraction.slice(0, 9).padEnd(9, '0'));
}

/** Reads an ISO 8601 time as `instant` does, in whole milliseconds. */
export function instantMs(text: string | null): number | undefined {
  const time = read(text);
  return time && time.ms + Number(time.fraction.slice(0, 3).padEnd(3, '0'));
}

/** Reads an ISO 8601 time of a column; null also where it cannot be read: a database takes any value in any column. */
export function readTime(value: unknown): Date | null {
  const ms = typeof value === 'string' ? instantMs(value) : undefined;
  return ms === undefined ? null : new Date(ms);
}

/** Gives the moment `ms` milliseconds after `now`. */
export function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

/**
 * Milliseconds of the whole seconds, and the digits of the fraction of a second. 30 February and 24:00 are no times: `Date`
 * reads them as times of another day.
 */
function read(text: string | null): { ms: number; fraction: string } | undefined {
  const [, day = '', clock = '', fraction = '', zone = 'Z'] = ISO_TIME.exec(text ?? '') ?? [];
  const ms = Date.parse(`${day}T${clock}${zone}`);
  const isTime = !Number.isNaN(ms) && new Date(`${day}T${clock}Z`).toISOString().startsWith(day);
  return isTime ? { ms, fraction } : undefined;
}
