const ISO_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?$/;

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

/** Gives the moment `ms` milliseconds after `now`. */
export function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

/** Milliseconds of the whole seconds, and the digits of the fraction of a second. */
function read(text: string | null): { ms: number; fraction: string } | undefined {
  const [, seconds, fraction = '', zone = 'Z'] = ISO_TIME.exec(text ?? '') ?? [];
  const ms = seconds === undefined ? Number.NaN : Date.parse(seconds + zone);
  return Number.isNaN(ms) ? undefined : { ms, fraction };
}
