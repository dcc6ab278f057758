import { describe, expect, it } from 'vitest';
import { Spacing } from '../../../src/exchange/transport/rate-window.ts';

/** A limit of which 95 % are a start each 100 ms; a start may be late by 38 ms, the 25th part of the interval. */
const LIMIT = { requests: 10, intervalMs: 950 };

describe('the spacing of starts', () => {
  it.each([
    ['as late as is made up for', 38, 62],
    ['later than that', 39, 100],
  ])('after a start that is %s', (_how, lateMs, waitMs) => {
    const spacing = new Spacing(LIMIT);
    spacing.start(0);
    spacing.start(100 + lateMs);
    expect(spacing.waitMs(100 + lateMs)).toBe(waitMs);
  });

  it('makes up for 50 ms at most, however long the interval is', () => {
    const spacing = new Spacing({ requests: 100, intervalMs: 9_500 });
    spacing.start(0);
    spacing.start(150);
    expect(spacing.waitMs(150)).toBe(50);
    spacing.start(251);
    expect(spacing.waitMs(251)).toBe(100);
  });

  it('is twice as wide for a minute after a 429', () => {
    const spacing = new Spacing(LIMIT);
    spacing.slowDown(1_000);
    spacing.start(60_999);
    expect(spacing.waitMs(60_999)).toBe(200);
    spacing.start(61_199);
    expect(spacing.waitMs(61_199)).toBe(100);
  });

  it('ends with the minute', () => {
    const spacing = new Spacing(LIMIT);
    spacing.slowDown(1_000);
    spacing.start(61_000);
    expect(spacing.waitMs(61_000)).toBe(100);
  });
});
