import { seededRandom } from '../../../src/sandbox/random.ts';

/** A stretch of time. */
export interface Window {
  readonly from: number;
  readonly to: number;
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

  window(until: number): Window {
    const from = this.below(until);
    return { from, to: Math.min(until, from + this.of([MINUTE, 20 * MINUTE, 2 * HOUR])) };
  }
}
