import type { PlannedOrder } from '../plan/orders.ts';

/** A create that left: when, and whether the program was told that it was not taken. */
export interface Create {
  readonly at: number;
  isProvedNotTaken: boolean;
}

/** What the observer knows of one order beside the database. */
export interface Known {
  readonly order: PlannedOrder;
  asset: string | null;
  readonly creates: Create[];
  /** Documented 404s since the last create. */
  misses: number;
  wasRefused: boolean;
  /** What a person decided, oldest first, and how often they had it sent again although it may have been taken. */
  readonly decided: string[];
  careless: number;
  readonly statusesTold: Set<string | null>;
}

/** All orders that the merchant has inserted, and the first promise that was broken. */
export class Knowledge {
  violation: string | undefined;
  readonly #known = new Map<string, Known>();

  fail(promise: string, detail: string): void {
    this.violation ??= `${promise}: ${detail}`;
  }

  add(order: PlannedOrder): void {
    this.#known.set(order.id, {
      order,
      asset: order.asset,
      creates: [],
      misses: 0,
      wasRefused: false,
      decided: [],
      careless: 0,
      statusesTold: new Set([null]),
    });
  }

  get all(): Iterable<Known> {
    return this.#known.values();
  }

  of(id: string): Known {
    const known = this.#known.get(id);
    if (known === undefined) throw new Error(`nobody inserted ${JSON.stringify(id)}`);
    return known;
  }
}

/** Whether every record that the exchange shows of the order contradicts its row. */
export function isForeign({ id, scenario: { answers } }: PlannedOrder): boolean {
  return answers === 'foreign' || (answers === 'normalising' && id.trim().toUpperCase() !== id);
}

/** The id of an order, for a violation. */
export function quoted({ order }: Known): string {
  return JSON.stringify(order.id);
}
