import { seededRandom } from '../../../src/extensions/sandbox/random.ts';

/** A stretch of time. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** A moment, and how long something lasts from it on, or by how much. */
export interface Stretch {
  readonly at: number;
  readonly ms: number;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Draws from one seed. */
export class Chance {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** A whole number from 0, less than `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** An event in a share of worlds; null in the others. */
  maybe<What>(share: number, what: () => What): What | null {
    return this.next() < share ? what() : null;
  }

  window(until: number): Window {
    const from = this.below(until);
    return { from, to: Math.min(until, from + this.of([MINUTE, 20 * MINUTE, 2 * HOUR])) };
  }
}
