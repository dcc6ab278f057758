import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const MOST_COLOURS = 256;
/** Colours that differ by less than this are nearly the same: the square of their distance. */
const NEAR = 100;
const [HEAD_BYTES, CRC_BYTES] = [8, 4];

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Three bytes a point. */
  readonly points: Buffer;
}

/** Makes a PNG as Chromium writes it (RGB, 8 bits) smaller, by a palette of its most frequent colours. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, points } = readPicture(png);
  const counts = new Map<number, number>();
  for (let at = 0; at < points.length; at += 3) {
    const colour = points.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = paletteOf(counts);
  const places = new Map([...counts.keys()].map((colour) => [colour, nearestPlace(palette, colour)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let point = 0; point < width * height; point += 1) {
    // Each row begins with its filter, which is none.
    rows[point + Math.floor(point / width) + 1] = places.get(points.readUIntBE(3 * point, 3)) ?? 0;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  const colours = Buffer.alloc(3 * palette.length);
  for (const [place, colour] of palette.entries()) colours.writeUIntBE(colour, 3 * place, 3);
  const chunks = [
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function paletteOf(counts: ReadonlyMap<number, number>): readonly number[] {
  const frequent = [...counts].toSorted(([, one], [, other]) => other - one).map(([colour]) => colour);
  if (frequent.length <= MOST_COLOURS) return frequent;
  const palette: number[] = [];
  for (const colour of frequent) {
    if (palette.length === MOST_COLOURS) break;
    if (palette.every((known) => distance(known, colour) > NEAR)) palette.push(colour);
  }
  return palette;
}

function nearestPlace(palette: readonly number[], colour: number): number {
  let nearest = 0;
  for (const [place, known] of palette.entries())
    if (distance(known, colour) < distance(palette[nearest]!, colour)) nearest = place;
  return nearest;
}

function distance(one: number, other: number): number {
  const between = (shift: number) => ((one >> shift) & 255) - ((other >> shift) & 255);
  return between(16) ** 2 + between(8) ** 2 + between(0) ** 2;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

export function readPicture(png: Buffer): Picture {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  if (png[24] !== 8 || png[25] !== 2 || png[28] !== 0) throw new Error('not a PNG of RGB with 8 bits, not interlaced');
  const parts: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; at += HEAD_BYTES + png.readUInt32BE(at) + CRC_BYTES) {
    const isData = png.toString('latin1', at + 4, at + HEAD_BYTES) === 'IDAT';
    if (isData) parts.push(png.subarray(at + HEAD_BYTES, at + HEAD_BYTES + png.readUInt32BE(at)));
  }
  return { width, height, points: unfiltered(inflateSync(Buffer.concat(parts)), 3 * width, height) };
}

/** Undoes the filters of the rows: each byte was written as the difference from its neighbours. */
function unfiltered(filtered: Buffer, rowBytes: number, height: number): Buffer {
  const points = Buffer.alloc(rowBytes * height);
  for (let row = 0; row < height; row += 1) {
    const filter = filtered[row * (rowBytes + 1)];
    for (let column = 0; column < rowBytes; column += 1) {
      const at = row * rowBytes + column;
      const left = column < 3 ? 0 : points[at - 3]!;
      const above = row === 0 ? 0 : points[at - rowBytes]!;
      const corner = column < 3 || row === 0 ? 0 : points[at - rowBytes - 3]!;
      const expected = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter ?? 0] ?? 0;
      points[at] = filtered[row * (rowBytes + 1) + 1 + column]! + expected;
    }
  }
  return points;
}

/** Whichever of the three is nearest to `left + above - corner`. */
function paeth(left: number, above: number, corner: number): number {
  const [byLeft, byAbove, byCorner] = [
    Math.abs(above - corner),
    Math.abs(left - corner),
    Math.abs(left + above - 2 * corner),
  ];
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}
