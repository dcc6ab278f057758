import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/folders.ts';
import { codeIn, keep, readKept, type KeptResult } from './kept.ts';

const RESULT: KeptResult = {
  counts: { seeds: 500 },
  violations: [],
  commit: 'c0ffee',
  at: '2026-01-02',
  durationMs: 1,
};

describe('the results of a part', () => {
  it('are read again as long as the code is the same', () => {
    const kept = { path: join(temporaryFolder(), 'results/random.json'), content: 'one' };
    keep(kept, 'from-1', RESULT);
    keep(kept, 'from-501', RESULT);
    expect([readKept(kept, 'from-1'), readKept(kept, 'from-501')]).toEqual([RESULT, RESULT]);
    expect(readKept(kept, 'from-1001')).toBeUndefined();
    expect(readKept({ ...kept, content: 'other' }, 'from-1')).toBeUndefined();
  });

  it('of other code are gone with the first result of this code', () => {
    const path = join(temporaryFolder(), 'random.json');
    keep({ path, content: 'one' }, 'from-1', RESULT);
    keep({ path, content: 'other' }, 'from-501', RESULT);
    expect(readKept({ path, content: 'other' }, 'from-1')).toBeUndefined();
    expect(readKept({ path, content: 'one' }, 'from-1')).toBeUndefined();
  });

  it('lack a piece that broke a promise', () => {
    const kept = { path: join(temporaryFolder(), 'random.json'), content: 'one' };
    keep(kept, 'from-1', { ...RESULT, violations: ['an order was created twice'] });
    expect(readKept(kept, 'from-1')).toBeUndefined();
  });
});

it.each([
  ['a comment', '/** Says why. */\nconst limit = 10; // in seconds\n', true],
  ['a type', 'const limit: number = 10;\n', true],
  ['white space', 'const limit =\n  10;\n', true],
  ['a value', 'const limit = 11;\n', false],
  ['a text that looks like a comment', 'const limit = 10; log("// in seconds");\n', false],
])('%s that changes makes other code: %s', (_, text, isSame) => {
  expect(codeIn('src/limit.ts', text) === codeIn('src/limit.ts', 'const limit = 10;\n')).toBe(isSame);
});
