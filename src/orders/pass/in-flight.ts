import type { CreateOutcome } from '../rules/create.ts';
import type { Tracking } from '../rules/tracking.ts';

interface UnwrittenOutcome {
  readonly claimed: Tracking;
  readonly outcome: CreateOutcome;
  readonly tryAt: Date;
}

/** The most outcomes that are kept in memory. An order whose outcome is not kept is looked up. */
const MOST_UNWRITTEN = 1_000;

export interface CreateInFlight extends Disposable {
  readonly externalOrderId: string;
  /** True: a request may have left. False: only the intent was written. Undefined: neither, or the outcome is saved. */
  isSent: boolean | undefined;
  isWriteFailing: boolean;
}

/** The creates in flight in this process. Any other `sending` order has an outcome that was not recorded. */
export class CreatesInFlight {
  /** Outcomes that the database refused, by the id of the order. */
  readonly unwritten = new Map<string, UnwrittenOutcome>();
  readonly #most: number;
  readonly #running = new Set<CreateInFlight>();
  readonly #unsent = new Set<string>();

  /** A killed process leaves at most `most` orders unknown. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return new Set([...this.#running].map(({ externalOrderId }) => externalOrderId)).size;
  }

  /** True if outcomes cannot be written and one more create would leave too many orders without an outcome. */
  get isFull(): boolean {
    return this.#isWriteFailing && this.size >= this.#most;
  }

  /** Like `isFull`, for a create that is counted already and has not written its intent. */
  get isOverfull(): boolean {
    return this.#isWriteFailing && this.size > this.#most;
  }

  get #isWriteFailing(): boolean {
    return this.#running.values().some(({ isWriteFailing }) => isWriteFailing);
  }

  has(externalOrderId: string): boolean {
    return this.#running.values().some((create) => create.externalOrderId === externalOrderId);
  }

  /** Two passes may begin the same order; the database decides which pass sends the order. */
  begin(externalOrderId: string): CreateInFlight {
    const create: CreateInFlight = {
      externalOrderId,
      isSent: undefined,
      isWriteFailing: false,
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
    const { externalOrderId } = unwritten.claimed;
    const isOfTaken = ['accepted', 'rejected', 'unknown'].includes(unwritten.outcome.kind);
    const isRoom = this.unwritten.size < MOST_UNWRITTEN || this.unwritten.has(externalOrderId);
    if (isOfTaken && isRoom) this.unwritten.set(externalOrderId, unwritten);
  }

  /** True if this process wrote the intent of the order and then sent nothing. */
  isUnsent(externalOrderId: string): boolean {
    return this.#unsent.has(externalOrderId);
  }

  /** Must be called when the outcome of the order is durable. */
  forget(externalOrderId: string): void {
    this.#unsent.delete(externalOrderId);
    this.unwritten.delete(externalOrderId);
  }
}
