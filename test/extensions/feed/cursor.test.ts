import { describe, expect, it } from 'vitest';
import { BEGINNING, cursorOf, readCursor, writeCursor } from '../../../src/extensions/feed/event.ts';

const HASH = '0123456789abcdef'.repeat(4);

describe('a cursor', () => {
  it.each([
    ['0', { id: 0, hash: '' }],
    ['7', { id: 7, hash: '' }],
    ['123456789012345', { id: 123_456_789_012_345, hash: '' }],
    ['7.01234567', { id: 7, hash: '01234567' }],
    [`7.${HASH}`, { id: 7, hash: HASH }],
  ])('%s is read', (text, place) => {
    expect(readCursor(text)).toEqual(place);
  });

  it.each([
    '',
    '-1',
    'x7',
    '7x',
    '7.',
    '7.0123456',
    `7.${HASH}0`,
    '7.0123456g',
    '7.01234567x',
    '1234567890123456',
    '7 ',
  ])('%j is none', (text) => {
    expect(readCursor(text)).toBeUndefined();
  });

  it('bears as much of the hash as tells one database from another', () => {
    expect(writeCursor({ id: 7, hash: HASH })).toBe('7.0123456789abcdef');
    expect(cursorOf({ cursor: 7, id: `evt_${HASH.slice(0, 32)}` })).toBe('7.0123456789abcdef');
  });

  it('before the first event needs none', () => {
    expect(writeCursor(BEGINNING)).toBe('0');
  });
});
