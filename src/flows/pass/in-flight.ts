/** One create that is under way, until it is disposed of. */
export interface CreateInFlight extends Disposable {
  /** Whether the transaction that is under way writes the intent: only then is the order `sending` because of this create. */
  intends(isIntended: boolean): void;
  /** From now on nobody knows whether the request has left. */
  leaves(): void;
  /** It is proved that it has not left. */
  neverLeft(): void;
  /** Nothing of the create is left to be written. */
  isRecorded(): void;
}

/**
 * The creates of this process, by the ids of their orders: each from before its intent is durable until its outcome is. An
 * order that is `sending` and not among them has an outcome that could not be written.
 */
export class CreatesInFlight {
  readonly #running = new Map<string, number>();
  readonly #unsent = new Set<string>();

  get size(): number {
    return this.#running.size;
  }

  has(externalOrderId: string): boolean {
    return this.#running.has(externalOrderId);
  }

  /** Two passes may begin with one order; the database decides which of them sends it. */
  begin(externalOrderId: string): CreateInFlight {
    this.#running.set(externalOrderId, (this.#running.get(externalOrderId) ?? 0) + 1);
    let isUnsent = false;
    return {
      intends: (isIntended) => {
        isUnsent = isIntended;
      },
      leaves: () => {
        isUnsent = false;
        this.#unsent.delete(externalOrderId);
      },
      neverLeft: () => {
        isUnsent = true;
      },
      isRecorded: () => {
        isUnsent = false;
      },
      [Symbol.dispose]: () => {
        const others = (this.#running.get(externalOrderId) ?? 1) - 1;
        if (others === 0) this.#running.delete(externalOrderId);
        else this.#running.set(externalOrderId, others);
        if (isUnsent) this.#unsent.add(externalOrderId);
      },
    };
  }

  /** Tells whether this process wrote the intent of the order and then sent nothing. */
  isUnsent(externalOrderId: string): boolean {
    return this.#unsent.has(externalOrderId);
  }

  /** What became of an order that is not in flight any more is durable. */
  forget(externalOrderId: string): void {
    this.#unsent.delete(externalOrderId);
  }
}
