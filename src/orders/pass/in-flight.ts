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
  readonly externalOrderId: string;
  /**
   * False while this create has written the intent and nothing has left, for sure: only then is the order `sending` because
   * of it. True once nothing proves that. Undefined before the intent and after the outcome.
   */
  isSent: boolean | undefined;
  isHeldUp: boolean;
}

/** The creates of this process. An order that is `sending` and not among them has an outcome that could not be written. */
export class CreatesInFlight {
  readonly #most: number;
  readonly #running = new Set<CreateInFlight>();
  readonly #unsent = new Set<string>();
  readonly #unwritten = new Map<string, UnwrittenOutcome>();

  /** `most` requests go at a time. A process that is killed leaves as many orders unknown at the most. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return new Set([...this.#running].map(({ externalOrderId }) => externalOrderId)).size;
  }

  /** Outcomes cannot be written, so that with one more create more orders than that would be without an outcome. */
  get isFull(): boolean {
    return this.#isHeldUp && this.size >= this.#most;
  }

  /** The same as one of these creates sees it, before its intent is written. */
  get isOverfull(): boolean {
    return this.#isHeldUp && this.size > this.#most;
  }

  get #isHeldUp(): boolean {
    return this.#running.values().some(({ isHeldUp }) => isHeldUp);
  }

  has(externalOrderId: string): boolean {
    return this.#running.values().some((create) => create.externalOrderId === externalOrderId);
  }

  /** Two passes may begin with one order; the database decides which of them sends it. */
  begin(externalOrderId: string): CreateInFlight {
    const create: CreateInFlight = {
      externalOrderId,
      isSent: undefined,
      isHeldUp: false,
      [Symbol.dispose]: () => {
        this.#running.delete(create);
        if (create.isSent === false) this.#unsent.add(externalOrderId);
        if (create.isSent === true) this.#unsent.delete(externalOrderId);
      },
    };
    this.#running.add(create);
    return create;
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
