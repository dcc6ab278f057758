import { readFileSync } from 'node:fs';
import type { Chance } from '../plan/chance.ts';

const HEADER = 32;
const FRAME_HEADER = 24;
const PAGE_SIZE_AT = 8;
const SALT_AT = 16;
const SALT_BYTES = 8;

/** The write-ahead log of SQLite: a header, then frames of a header and a page each; the last frame of a commit bears the size of the database. */
export class Wal {
  readonly bytes: Buffer;
  readonly #frameBytes: number;
  /** The number of frames that are of this log; frames behind them are of an earlier one. */
  readonly frames: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#frameBytes = bytes.length < HEADER ? 0 : FRAME_HEADER + bytes.readUInt32BE(PAGE_SIZE_AT);
    const salt = bytes.subarray(SALT_AT, SALT_AT + SALT_BYTES);
    let frames = 0;
    while (this.#isFrame(frames, salt)) frames += 1;
    this.frames = frames;
  }

  static read(path: string): Wal {
    return new Wal(readFileSync(`${path}-wal`));
  }

  /** The beginning of a frame, counted from 0. */
  at(frame: number): number {
    return HEADER + frame * this.#frameBytes;
  }

  /** How many frames there are up to the end of each commit. */
  get commits(): number[] {
    const ends = Array.from({ length: this.frames }, (_, frame) => frame + 1);
    return ends.filter((end) => this.bytes.readUInt32BE(this.at(end - 1) + 4) > 0);
  }

  #isFrame(frame: number, salt: Buffer): boolean {
    const at = this.at(frame);
    if (this.#frameBytes === 0 || at + this.#frameBytes > this.bytes.length) return false;
    return this.bytes.subarray(at + 8, at + 8 + SALT_BYTES).equals(salt);
  }
}

/** In what way a frame did not reach the disk, or not whole. */
export const DAMAGES: Readonly<Record<string, (bytes: Buffer, from: number, to: number, chance: Chance) => Buffer>> = {
  'the log ends before': (bytes, from) => bytes.subarray(0, from),
  'the log ends within': (bytes, from, to, chance) => bytes.subarray(0, from + 1 + chance.below(to - from - 1)),
  'a bit is another in': (bytes, from, to, chance) => {
    const at = from + chance.below(to - from);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8));
    return bytes;
  },
  'zeroes are in the place of': (bytes, from, to) => bytes.fill(0, from, to),
  'other bytes are in the place of': (bytes, from, to, chance) => {
    for (let at = from; at < to; at += 1) bytes[at] = chance.below(256);
    return bytes;
  },
};
