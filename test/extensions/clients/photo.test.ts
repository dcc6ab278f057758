import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideDelivery, photoType } from '../../../src/extensions/clients/photo.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** A box `ftyp`: its length, major brand, version and compatible brands. */
function ftyp(major: string, compatible: readonly string[], length = 16 + compatible.length * 4): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(length);
  return Buffer.concat([head, bytes(`ftyp${major}\0\0\0\0${compatible.join('')}`), bytes('mdat…heic…')]);
}

describe('the type of a file', () => {
  it.each([
    ['image/jpeg', bytes('\xff\xd8\xff\xe0\0\x10JFIF')],
    ['image/jpeg', bytes('\xff\xd8\xff\xe1\0\x10Exif')],
    ['image/png', bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
    ['image/webp', bytes('RIFF\x24\0\0\0WEBPVP8 ')],
    ['image/heic', ftyp('heic', ['mif1', 'heic'])],
    ['image/heic', ftyp('mif1', ['mif1', 'heic'])],
    ['image/heic', ftyp('msf1', ['hevc'])],
    ['application/pdf', bytes('%PDF-1.7\n')],
    ['image/gif', bytes('GIF87a')],
    ['image/gif', bytes('GIF89a')],
    ['image/tiff', bytes('II*\0\x08\0\0\0')],
    ['image/tiff', bytes('MM\0*\0\0\0\x08')],
    ['image/bmp', bytes('BM\x8a\0\0\0\0\0\0\0\x7a\0\0\0\x28\0\0\0')],
    ['image/avif', ftyp('avif', ['mif1', 'miaf', 'avif'])],
    ['image/avif', ftyp('mif1', ['avif'])],
    ['image/avif', ftyp('mif1', ['mif1', 'avif', 'miaf'])],
  ])('is %s by its first bytes', (type, content) => {
    expect(photoType(content)).toBe(type);
  });

  it('is known by each brand of its format alone', () => {
    for (const brand of ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx']) {
      expect(photoType(ftyp(brand, []))).toBe('image/heic');
    }
    for (const brand of ['avif', 'avis']) expect(photoType(ftyp(brand, []))).toBe('image/avif');
  });

  it.each([
    ['nothing', bytes('')],
    ['an SVG', bytes('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['an SVG after a mark of byte order', bytes('\xef\xbb\xbf<svg>')],
    ['a web page', bytes('<!doctype html><script>alert(1)</script>')],
    ['a GIF of another version', bytes('GIF90a')],
    ['a GIF after other content', bytes(' GIF89a')],
    ['text that begins as a BMP does', bytes('BMW is a make of cars')],
    ['a BMP with a header of another length', bytes('BM\x8a\0\0\0\0\0\0\0\x7a\0\0\0\x29\0\0\0')],
    ['a BMP whose reserved bytes are used', bytes('BM\x8a\0\0\0\0\0\0\x01\x7a\0\0\0\x28\0\0\0')],
    ['what is a BMP but for its name', bytes('MB\x8a\0\0\0\0\0\0\0\x7a\0\0\0\x28\0\0\0')],
    ['a picture of a shared brand that names no other', ftyp('mif1', [])],
    ['an archive', bytes('PK\x03\x04')],
    ['a program', bytes('\x7fELF')],
    ['the beginning of a JPEG', bytes('\xff\xd8')],
    ['a PNG whose line ends were changed', bytes('\x89PNG\n\x1a\n')],
    ['a PNG after a space', bytes(' \x89PNG\r\n\x1a\n')],
    ['a RIFF that is no WebP', bytes('RIFF\x24\0\0\0WAVEfmt ')],
    ['a WebP that is no RIFF', bytes('XXXX\x24\0\0\0WEBPVP8 ')],
    ['a PDF after other content', bytes('<html>%PDF-1.7')],
    ['a film', ftyp('isom', ['isom', 'mp42'])],
    ['a box whose brands end before the one that would tell', ftyp('mif1', ['miaf', 'heic'], 20)],
  ])('is none for %s', (_what, content) => {
    expect(photoType(content)).toBeUndefined();
  });

  it('is found or not for any bytes, also in the middle of a larger piece of memory', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(8), (content, offset) => {
        const memory = new Uint8Array(content.length + offset);
        memory.set(content, offset);
        expect(photoType(memory.subarray(offset))).toBe(photoType(content));
      }),
    );
    const memory = Buffer.concat([bytes('XXXX'), ftyp('mif1', ['heic'])]);
    expect(photoType(memory.subarray(4))).toBe('image/heic');
  });
});

describe('what becomes of a delivery', () => {
  const now = new Date('2026-01-05T12:00:00.000Z');
  const earlier = new Date(now.getTime() - 1);
  const later = new Date(now.getTime() + 1);
  const unused = { expiresAt: later, stored: undefined };
  const used = { expiresAt: later, stored: ['a', 'b'] };

  it.each([
    ['an unknown token', undefined, ['a'], 'forbidden'],
    ['a token that is not used', unused, ['a'], 'store'],
    ['a token that expires now', { ...unused, expiresAt: now }, ['a'], 'forbidden'],
    ['a token that has expired', { ...unused, expiresAt: earlier }, ['a'], 'forbidden'],
    ['the same files again', used, ['a', 'b'], 'repeated'],
    ['the same files in another order', used, ['b', 'a'], 'repeated'],
    ['the same files after the token has expired', { ...used, expiresAt: earlier }, ['a', 'b'], 'repeated'],
    ['fewer files', used, ['a'], 'forbidden'],
    ['more files', used, ['a', 'b', 'c'], 'forbidden'],
    ['other files', used, ['a', 'c'], 'forbidden'],
    ['files after all that were stored are gone', { ...used, stored: [] }, ['a'], 'forbidden'],
  ] as const)('for %s', (_what, token, delivered, decision) => {
    expect(decideDelivery(token, delivered, now)).toBe(decision);
  });
});
