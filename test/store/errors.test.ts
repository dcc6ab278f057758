import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isOfDatabase, StoreError } from '../../src/store/errors.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('an error', () => {
  it.each([
    ['of the store', new StoreError('busy', 'locked'), true],
    ['of a driver, by its code', Object.assign(new Error('full'), { code: 'SQLITE_FULL' }), true],
    ['of our own code', new TypeError('no such thing'), false],
    ["of Node's, which has a code too", thrownBy(() => createHash('sha256').update(undefined as never)), false],
  ])('%s is the database failing: %s', (_name, error, expected) => {
    expect(error).toBeInstanceOf(Error);
    expect(isOfDatabase(error)).toBe(expected);
  });
});
