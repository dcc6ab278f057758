import { describe, expect, it, vi } from 'vitest';
import { after, instant, instantMs, readTime } from '../../src/base/instant.ts';

describe('an ISO 8601 time', () => {
  it.each([
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
    ['2026-03-01T00:30:00.1239+01:00', '2026-02-28T23:30:00.123Z'],
    ['2026-12-31 23:59', '2026-12-31T23:59:00.000Z'],
    ['2026-01-02T03:04:05,6-0530', '2026-01-02T08:34:05.600Z'],
    ['2026-01-02T03:04:05-0530', '2026-01-02T08:34:05.000Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, time) => {
    expect(readTime(text)?.toISOString()).toBe(time);
  });

  it.each([
    ['1970-01-01T00:00:01.000000001Z', 1_000_000_001n],
    ['1970-01-01T00:00:01.0000000019Z', 1_000_000_001n],
    ['1970-01-01T00:00:01.5Z', 1_500_000_000n],
    ['1969-12-31T23:59:59.5Z', -500_000_000n],
  ])('is exact to the nanosecond: %s', (text, nanoseconds) => {
    expect(instant(text)).toBe(nanoseconds);
  });

  it('is UTC if it names no zone, wherever this machine is', () => {
    vi.stubEnv('TZ', 'America/New_York');
    expect(instantMs('1970-01-01T00:00:01')).toBe(1_000);
  });

  it('is this many milliseconds after another', () => {
    expect(after(new Date(1_000), 500)).toEqual(new Date(1_500));
  });

  it.each([
    '2026-02-30T12:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-02-29T12:00:00.000Z',
    '2026-02-30T12:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-01-00T00:00:00.000Z',
    '2026-01-20T24:00:00.000Z',
    '2026-01-20T12:60:00.000Z',
    '+010000-01-01T00:00:00.000Z',
    '2026-04-31T00:00:00+02:00',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-01-31',
    'x2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00Zx',
    'yesterday',
    '',
    null,
  ])('is not what no calendar or clock shows: %j', (text) => {
    expect([instant(text), instantMs(text), readTime(text)]).toEqual([undefined, undefined, null]);
  });

  it.each([null, 5, new Date(0), Buffer.from('2026-01-31T12:00:00Z')])(
    'is not read from a column that holds no text: %j',
    (value) => {
      expect(readTime(value)).toBeNull();
    },
  );
});
