const ISO_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * Nanoseconds of an ISO 8601 time, or undefined where there is none that can be read. Without a zone it is UTC (§2),
 * never the time of this machine.
 */
export function instant(text: string | null): bigint | undefined {
  const [, seconds, fraction = '', zone = 'Z'] = ISO_TIME.exec(text ?? '') ?? [];
  const time = seconds === undefined ? Number.NaN : Date.parse(seconds + zone);
  return Number.isNaN(time) ? undefined : BigInt(time) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}

/** The same in whole milliseconds. */
export function instantMs(text: string | null): number | undefined {
  const [, seconds, fraction = '', zone = 'Z'] = ISO_TIME.exec(text ?? '') ?? [];
  const time = seconds === undefined ? Number.NaN : Date.parse(seconds + zone);
  return Number.isNaN(time) ? undefined : time + Number(fraction.slice(0, 3).padEnd(3, '0'));
}
