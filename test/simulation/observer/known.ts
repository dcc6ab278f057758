import { quoted as quotedId } from '../plan/names.ts';
import type { PlannedOrder } from '../plan/orders.ts';

/** A create that left. It is proved not taken if the program was told so, or if a person decided to send it again. */
export interface Create {
  readonly at: number;
  isProvedNotTaken: boolean;
}

/** The observer's knowledge of one order beside the database. */
export interface Known {
  readonly account: string;
  readonly order: PlannedOrder;
  asset: string | null;
  readonly creates: Create[];
  /** Documented 404s since the last create. */
  misses: number;
  wasRefused: boolean;
  /** The decisions of a person, oldest first, and how often they had it sent again although it may have been taken. */
  readonly decided: string[];
  careless: number;
  readonly statusesGiven: Set<string | null>;
  /** Every id that an answer about it has named. */
  readonly idsGiven: Set<string>;
  /** How often something between the program and the exchange sent a create of it twice. */
  doubled: number;
  /** A record that contradicts its row was stored: its date orders nothing. */
  wasContradicted: boolean;
  /** A person has accepted an older copy, in which it may have been sent. */
  isTakenForSent: boolean;
}

/** All orders that the merchant has inserted of an account, and the first promise that was broken. */
export class Knowledge {
  violation: string | undefined;
  /** An answer has named another merchant: which one the account belongs to is not clear to the program. */
  isMerchantUnclear = false;
  readonly #account: string;
  readonly #known = new Map<string, Known>();

  constructor(account: string) {
    this.#account = account;
  }

  fail(promise: string, detail: string): void {
    this.violation ??= `${promise}: ${detail}`;
  }

  /** Tells whether a check finds nothing broken; a finding is no violation yet. */
  holds(check: () => void): boolean {
    const before = this.violation;
    this.violation = undefined;
    check();
    const isHeld = this.violation === undefined;
    this.violation = before;
    return isHeld;
  }

  add(order: PlannedOrder): void {
    this.#known.set(order.id, {
      account: this.#account,
      order,
      asset: order.asset,
      creates: [],
      misses: 0,
      wasRefused: false,
      decided: [],
      careless: 0,
      statusesGiven: new Set([null]),
      idsGiven: new Set(),
      doubled: 0,
      wasContradicted: false,
      isTakenForSent: false,
    });
  }

  get all(): Iterable<Known> {
    return this.#known.values();
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  of(id: string): Known {
    const known = this.#known.get(id);
    if (known === undefined) throw new Error(`not inserted: ${quotedId(this.#account, id)}`);
    return known;
  }
}

/** The id of an order, for a violation. */
export function quoted({ account, order }: Known): string {
  return quotedId(account, order.id);
}
