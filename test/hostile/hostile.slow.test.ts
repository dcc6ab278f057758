import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENTRIES } from './entries/index.ts';
import { broken, type Entry } from './entry.ts';
import { tryInput, tryInputs } from './run.ts';
import fc from 'fast-check';

/** An input that was found, and what it did then. */
interface Found {
  readonly did: string;
  readonly input: unknown;
}

const found = ENTRIES.flatMap((entry) => foundAt(entry).map((one) => ({ entry, ...one })));

describe('hostile input', () => {
  it.each(ENTRIES)('keeps every promise: $name', async (entry) => {
    expect(await tryInputs(entry, { seed: 3, runs: 5 })).toBeUndefined();
  });

  it.each(found)('that was found breaks nothing any more: $entry.name, $did', async ({ entry, input }) => {
    await expect(tryInput(entry, input)).resolves.toBeUndefined();
  });

  it.each([
    ['is refused in the wrong way', async () => broken('the row is lost')],
    ['leaves an unhandled error', async () => void Promise.reject(new Error('nobody'))],
    ['is worked on for a second', async () => workFor(1_100)],
  ])('is noticed if it %s', async (_how, give) => {
    const entry = {
      name: 'made-up',
      inputs: fc.constant(0),
      open: async () => ({ give, [Symbol.asyncDispose]: nothing }),
    };
    expect(await tryInputs(entry, { seed: 1, runs: 1 })).toContain('--entry made-up --seed 1 --path 0');
  });
});

async function nothing(): Promise<void> {}

function workFor(ms: number): void {
  const begun = process.cpuUsage();
  const usedMs = () => process.cpuUsage(begun).user / 1_000;
  while (usedMs() < ms);
}

function foundAt({ name }: Entry<unknown>): readonly Found[] {
  try {
    return JSON.parse(readFileSync(new URL(`corpus/${name}.json`, import.meta.url), 'utf8')) as readonly Found[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
