import { SECOND, type Chance } from '../plan/chance.ts';
import type { Limits, Machine } from './trial.ts';

const MOST_LOCKED = 12;
/** The latest beginning of a stretch, in number of retries, for an order that was rejected before it. */
const MOST_DELAYS = 20;
/** A person tries to have rejected orders sent again until this long after the promotion, too. */
const RETRIES_AFTER_MS = [2 * SECOND, 20 * SECOND, 200 * SECOND];

/** The work in the stretches of commits that promotions lose, beside the program's own. */
export interface LostKinds {
  /** Other transactions have rows at the head of the due orders locked. */
  readonly isLocked: boolean;
  /** A person has rejected orders sent again. */
  readonly isRetried: boolean;
  /** A pause ends. */
  readonly isResumed: boolean;
  /** A process begins with other limits, in the stretch or after it; null if all have the same. */
  readonly reload: (Limits & { readonly isWithin: boolean }) | null;
}

/** Draws them for a world; half of the worlds have none. */
export function drawLostKinds(chance: Chance, rates: readonly Omit<Limits['rate'], 'mode'>[]): LostKinds {
  const share = chance.of([0, 0.6]);
  const isDrawn = () => chance.next() < share;
  return {
    isLocked: isDrawn(),
    isRetried: isDrawn(),
    isResumed: isDrawn(),
    reload: chance.maybe(share, () => ({
      rate: { ...chance.of(rates), mode: 'proved' as const },
      concurrency: 1 + chance.below(3),
      isWithin: chance.next() < 0.5,
    })),
  };
}

/** Makes it happen in each stretch of a world. */
export class LostStretches {
  readonly #chance: Chance;
  readonly #kinds: LostKinds;
  #isReloaded = false;
  #isPaused = false;
  #locks = 0;
  #delays = 0;

  constructor(chance: Chance, kinds: LostKinds) {
    this.#chance = chance;
    this.#kinds = kinds;
  }

  /** Tells whether a stretch may begin: before one with retries an order was rejected. */
  mayBegin({ hasRejected }: Machine): boolean {
    if (!this.#kinds.isRetried || hasRejected || this.#delays >= MOST_DELAYS) return true;
    this.#delays += 1;
    return false;
  }

  /** The standby is about to receive its last commit. */
  async beforeIt(machine: Machine): Promise<void> {
    this.#isPaused = this.#kinds.isResumed;
    if (this.#isPaused) await machine.pauseCreates();
  }

  /** From now on commits are lost. */
  begun(machine: Machine): void {
    const { isLocked, isRetried, reload } = this.#kinds;
    const { scheduler } = machine;
    if (isLocked) this.#lockHead(machine);
    if (this.#isPaused) {
      scheduler.after(this.#chance.of([0, 2 * SECOND, 10 * SECOND]), 'a pause ends', () => machine.resume());
    }
    if (isRetried) this.#retry(machine, [SECOND, 10 * SECOND, 30 * SECOND]);
    if (reload?.isWithin === true && !this.#isReloaded) {
      scheduler.after(this.#chance.below(10 * SECOND), 'a process is started again with other limits', () => {
        if (machine.isOpening) return;
        this.#reload(machine, reload);
        machine.endProcess('for other limits');
      });
    }
  }

  /** The standby is promoted: no transaction of the lost server has a lock there, others may. */
  ended(machine: Machine): void {
    const { isLocked, isRetried, reload } = this.#kinds;
    machine.lockedRows.clear();
    if (isLocked && this.#chance.next() < 0.5) this.#lockHead(machine);
    if (isRetried) this.#retry(machine, RETRIES_AFTER_MS);
    if (reload !== null) this.#reload(machine, reload);
  }

  #lockHead(machine: Machine): void {
    const lock = (this.#locks += 1);
    for (const id of machine.firstDue(1 + this.#chance.below(MOST_LOCKED))) machine.lockedRows.add(id);
    machine.scheduler.after(this.#chance.of([SECOND, 15 * SECOND, 120 * SECOND]), 'rows are locked no more', () => {
      if (lock !== this.#locks) return;
      machine.lockedRows.clear();
      machine.wake();
    });
  }

  #retry(machine: Machine, times: readonly number[]): void {
    for (const ms of times)
      machine.scheduler.after(ms, 'a person retries rejected orders', () => machine.retryRejected());
  }

  /** Once a world: the server knows the limits of the lost owner or the next owner has them. */
  #reload(machine: Machine, { rate, concurrency }: Limits): void {
    if (this.#isReloaded) return;
    this.#isReloaded = true;
    machine.reload({ rate, concurrency });
  }
}
