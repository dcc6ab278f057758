import { crc32, deflateSync } from 'node:zlib';

const SIDE = 8;

/** Makes a small grey JPEG with a comment. */
export function jpeg(comment: string): Buffer {
  const segment = (marker: number, content: Buffer) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([head, content]);
  };
  // One code of one bit: the value 0, which for a first coefficient is mid-grey and for the others the end of the block.
  const huffman = (kind: number) => segment(0xc4, Buffer.from([kind, 1, ...Buffer.alloc(15), 0]));
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from('JFIF\0\u0001\u0001\0\0\u0001\0\u0001\0\0', 'latin1')),
    segment(0xfe, Buffer.from(comment)),
    segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])),
    segment(0xc0, Buffer.from([8, 0, SIDE, 0, SIDE, 1, 1, 0x11, 0])),
    huffman(0x00),
    huffman(0x10),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    // Two bits of image, the rest of the byte filled up.
    Buffer.from([0b0011_1111, 0xff, 0xd9]),
  ]);
}

/** Makes a PNG of one colour with a comment. */
export function png(comment: string): Buffer {
  const chunk = (type: string, content: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), content]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(content.length, 0);
    frame.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
  };
  const colour = Buffer.alloc(4);
  colour.writeUInt32BE(crc32(comment));
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(SIDE * 3, colour.subarray(0, 3))]);
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    chunk('IHDR', Buffer.from([0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 2, 0, 0, 0])),
    chunk('tEXt', Buffer.from(`Comment\0${comment}`)),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: SIDE }, () => line)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
