import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';

/** A line of the log names so many accounts. */
const MOST_NAMED = 20;

/** Tells which accounts come to be driven here and which no longer are, those of one moment in one line. */
export class OwnershipLog {
  readonly #clock: Pick<Clock, 'turn'>;
  readonly #log: Logger;
  readonly #stop: AbortSignal;
  #left: string[] = [];
  #isBegun = false;

  constructor({ clock, log, stop }: { clock: Pick<Clock, 'turn'>; log: Logger; stop: AbortSignal }) {
    this.#clock = clock;
    this.#log = log;
    this.#stop = stop;
  }

  /** The first time it logs nothing: the line "order-sync is ready" counts those accounts. */
  taken(names: readonly string[]): void {
    if (this.#isBegun) this.#log.info(factsOf(names), 'accounts are driven here from now on');
    this.#isBegun = true;
  }

  async left(name: string): Promise<void> {
    if (this.#stop.aborted || this.#left.push(name) > 1) return;
    await this.#clock.turn();
    const left = this.#left.splice(0).toSorted();
    this.#log.info(factsOf(left), 'accounts are driven here no more');
  }
}

function factsOf(names: readonly string[]) {
  return { accounts: names.length, first: names.slice(0, MOST_NAMED) };
}
