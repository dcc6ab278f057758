import type { CreateOutcome } from '../rules/create.ts';
import type { Tracking } from '../rules/tracking.ts';

interface UnwrittenOutcome {
  readonly claimed: Tracking;
  readonly outcome: CreateOutcome;
  readonly tryAt: Date;
}

/** The most outcomes kept; orders of others are looked up. */
const MOST_UNWRITTEN = 1_000;

export interface CreateInFlight extends Disposable {
  /** Tells whether the transaction that is under way writes the intent: only then is the order `sending` because of this create. */
  intends(isIntended: boolean): void;
  /** From now on nothing proves that the request has not left. */
  leaves(): void;
  neverLeft(): void;
  isHeldUp(): void;
  isRecorded(): void;
}

/**
 * The creates of this process, by the ids of their orders: each from before its intent is durable until its outcome is. An
 * order that is `sending` and not among them has an outcome that could not be written.
 */
export class CreatesInFlight {
  readonly #most: number;
  readonly #running = new Map<string, number>();
  readonly #unsent = new Set<string>();
  readonly #unwritten = new Map<string, UnwrittenOutcome>();
  #heldUp = 0;

  /** `most` requests go at a time. A process that is killed leaves as many orders unknown at the most. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Outcomes cannot be written, so that with one more create more orders than that would be without an outcome. */
  get isFull(): boolean {
    return this.#heldUp > 0 && this.size >= this.#most;
  }

  /** The same as one of these creates sees it, before its intent is written. */
  get isOverfull(): boolean {
    return this.#heldUp > 0 && this.size > this.#most;
  }

  has(externalOrderId: string): boolean {
    return this.#running.has(externalOrderId);
  }

  /** Two passes may begin with one order; the database decides which of them sends it. */
  begin(externalOrderId: string): CreateInFlight {
    this.#running.set(externalOrderId, (this.#running.get(externalOrderId) ?? 0) + 1);
    let [isUnsent, isHeldUp] = [false, false];
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
      isHeldUp: () => {
        if (!isHeldUp) this.#heldUp += 1;
        isHeldUp = true;
      },
      isRecorded: () => {
        isUnsent = false;
      },
      [Symbol.dispose]: () => {
        const others = (this.#running.get(externalOrderId) ?? 1) - 1;
        if (others === 0) this.#running.delete(externalOrderId);
        else this.#running.set(externalOrderId, others);
        if (isUnsent) this.#unsent.add(externalOrderId);
        if (isHeldUp) this.#heldUp -= 1;
      },
    };
  }

  keep(unwritten: UnwrittenOutcome): void {
    const { claimed, outcome } = unwritten;
    const isOfTaken = ['accepted', 'rejected', 'unknown'].includes(outcome.kind);
    const isRoom = this.#unwritten.size < MOST_UNWRITTEN || this.#unwritten.has(claimed.externalOrderId);
    if (isOfTaken && isRoom) this.#unwritten.set(claimed.externalOrderId, unwritten);
  }

  get unwrittenSize(): number {
    return this.#unwritten.size;
  }

  unwritten(externalOrderId: string): UnwrittenOutcome | undefined {
    return this.#unwritten.get(externalOrderId);
  }

  /** Tells whether this process wrote the intent of the order and then sent nothing. */
  isUnsent(externalOrderId: string): boolean {
    return this.#unsent.has(externalOrderId);
  }

  /** The outcome of an order that is not in flight any more is durable. */
  forget(externalOrderId: string): void {
    this.#unsent.delete(externalOrderId);
    this.#unwritten.delete(externalOrderId);
  }
}
