/** No more are remembered: an endpoint that fails at so many is at fault itself. */
const MOST_SUSPECTS = 1_000;

/** What begins with the event of this name. */
interface Named {
  readonly name: string;
}

/**
 * Events at which an endpoint failed (5xx, no answer), by a name: one that it can never take would stop all others with it.
 * They are sent after the others, and an event that fails again, where others were taken in between, is itself the cause.
 */
export class Suspects {
  readonly #failed = new Map<string, { readonly turn: number; readonly takenCount: number }>();
  #failures = 0;

  /** Puts what is to be sent in its turn: first that at which it has not failed, then what has waited longest since. */
  inTurn<Item extends Named>(items: readonly Item[]): readonly Item[] {
    return items.toSorted((one, other) => this.#turnOf(one) - this.#turnOf(other));
  }

  /** Gives the first turn of what is to be sent; after all others where that is nothing. */
  firstTurn(items: readonly Named[]): number {
    return Math.min(...items.map((item) => this.#turnOf(item)), Number.POSITIVE_INFINITY);
  }

  /** True if the endpoint has failed at all items; false for none. */
  areAll(items: readonly Named[]): boolean {
    return items.length > 0 && items.every(({ name }) => this.#failed.has(name));
  }

  /** Notes a failure, with how many events the endpoint has taken by now. Gives true where the event is the cause. */
  failed(name: string, takenCount: number): boolean {
    const before = this.#failed.get(name);
    if (before === undefined && this.#failed.size >= MOST_SUSPECTS) this.#failed.clear();
    this.#failures += 1;
    this.#failed.set(name, { turn: this.#failures, takenCount });
    return before !== undefined && before.takenCount < takenCount;
  }

  taken(name: string): void {
    this.#failed.delete(name);
  }

  #turnOf({ name }: Named): number {
    return this.#failed.get(name)?.turn ?? 0;
  }
}
