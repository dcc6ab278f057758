import { describe, expect, it } from 'vitest';
import { instant, instantMs, readTime } from '../../src/domain/instant.ts';

describe('an ISO 8601 time', () => {
  it.each([
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
    ['2026-03-01T00:30:00.1239+01:00', '2026-02-28T23:30:00.123Z'],
    ['2026-12-31 23:59', '2026-12-31T23:59:00.000Z'],
    ['2026-01-02T03:04:05,6-0530', '2026-01-02T08:34:05.600Z'],
  ])('%s is %s', (text, time) => {
    expect(readTime(text)?.toISOString()).toBe(time);
  });

  it('is exact to the nanosecond', () => {
    expect(instant('1970-01-01T00:00:01.000000001Z')).toBe(1_000_000_001n);
  });

  it.each([
    '2026-02-30T12:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-04-31T00:00:00+02:00',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-01-31',
    'yesterday',
    '',
  ])('is not what no calendar or clock shows: %j', (text) => {
    expect([instant(text), instantMs(text), readTime(text)]).toEqual([undefined, undefined, null]);
  });

  it.each([null, 5, new Date(0)])('is not read from a column that holds no text: %j', (value) => {
    expect(readTime(value)).toBeNull();
  });
});
