import { describe, expect, it } from 'vitest';
import { growthIn, trendsOf, type Sample } from './trend.ts';

const LEVEL: Sample = { rssBytes: 2e8, descriptors: 40, sockets: 12, walBytes: 4e6, eventLoopDelayMs: 20 };
const LOOKS = 400;

/** The looks of a soak if `change` says how the process differs from a level one at each look. */
function growthWhere(change: (look: number) => Partial<Sample>): string[] {
  const samples = Array.from({ length: LOOKS }, (_, look) => ({ ...LEVEL, ...change(look) }));
  return growthIn(trendsOf(samples)).map((text) => text.split(' ')[0] ?? '');
}

describe('the trend of a soak', () => {
  it('is none if numbers only jump about', () => {
    const jumps = (look: number) => ({ rssBytes: LEVEL.rssBytes * (look % 7 === 0 ? 3 : 1), sockets: 10 + (look % 6) });
    expect(growthWhere(jumps)).toEqual([]);
  });

  it('is none if a process warms up', () => {
    const warming = (look: number) => ({
      rssBytes: Math.min(1, look / 100) * LEVEL.rssBytes,
      descriptors: look < 90 ? 4 : 40,
    });
    expect(growthWhere(warming)).toEqual([]);
  });

  it('is none if the write-ahead log grows to the size of its first checkpoint', () => {
    expect(growthWhere((look) => ({ walBytes: Math.min(16.5e6, look * 45_000) }))).toEqual([]);
  });

  it.each([
    ['rssBytes', 400_000],
    ['descriptors', 0.1],
    ['sockets', 0.1],
    ['walBytes', 90_000],
    ['eventLoopDelayMs', 10],
  ] as const)('shows a leak of %s', (measure, aLook) => {
    expect(growthWhere((look) => ({ [measure]: LEVEL[measure] + look * aLook }))).toEqual([measure]);
  });
});
