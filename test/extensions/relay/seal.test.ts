import { describe, expect, it } from 'vitest';
import {
  BrokenSealError,
  newKeyPair,
  sealBetween,
  type Direction,
} from '../../../src/extensions/relay/table-transport.ts';

const TEXT = '{"email":"ada@canary.example"}';
const [asker, owner] = [newKeyPair(), newKeyPair()];
const ABOUT = ['worker-1', 'default', 'request-1'];
const sealed = sealBetween(asker, owner.publicKey, ABOUT).close('input', TEXT);

describe('a seal', () => {
  it('is opened by the other side alone, and hides the text', () => {
    expect(sealBetween(owner, asker.publicKey, ABOUT).open('input', sealed)).toBe(TEXT);
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('canary');
    expect(() => sealBetween(newKeyPair(), asker.publicKey, ABOUT).open('input', sealed)).toThrow(BrokenSealError);
  });

  it('is another one each time', () => {
    expect(sealBetween(asker, owner.publicKey, ABOUT).close('input', TEXT)).not.toBe(sealed);
  });

  it.each(['answer', 'progress'] satisfies Direction[])('of an input is refused as %s', (direction) => {
    expect(() => sealBetween(owner, asker.publicKey, ABOUT).open(direction, sealed)).toThrow(BrokenSealError);
  });

  it.each([0, 1, 2])('of another request is refused (%i)', (changed) => {
    const about = ABOUT.map((part, index) => (index === changed ? `${part}1` : part));
    expect(() => sealBetween(owner, asker.publicKey, about).open('input', sealed)).toThrow(BrokenSealError);
  });

  it('is refused whichever bit of it was changed, and where a part of it is missing', () => {
    const seal = sealBetween(owner, asker.publicKey, ABOUT);
    const bytes = Buffer.from(sealed, 'base64');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => seal.open('input', changed.toString('base64'))).toThrow(BrokenSealError);
    }
    for (const length of [0, 11, 12, 27, 28, bytes.length - 1]) {
      expect(() => seal.open('input', bytes.subarray(0, length).toString('base64'))).toThrow(BrokenSealError);
    }
  });

  it.each(['', 'short', 'A'.repeat(43)])('is not made with a key that is none (%j)', (key) => {
    expect(() => sealBetween(asker, key, ABOUT)).toThrow(BrokenSealError);
  });
});
