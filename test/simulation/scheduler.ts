import { setImmediate as settle } from 'node:timers/promises';

/** Something that can die; what was to happen for it then does not happen any more. While it stands still, it happens later. */
export interface Life {
  readonly isAlive: boolean;
  readonly stillUntil?: number;
}

interface Event {
  readonly at: number;
  readonly label: string;
  readonly run: () => void;
  readonly life: Life | undefined;
}

/**
 * Time and order of a simulated world. Nothing in it waits for real time: each step runs one event and all promises that
 * follow from it; the seed picks among the events that are ready.
 */
export class Scheduler {
  /** What happened, in order; the same seed gives the same lines. */
  readonly trace: string[] = [];
  readonly #random: () => number;
  #events: Event[] = [];
  #now = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  /** How many events wait. */
  get waiting(): number {
    return this.#events.length;
  }

  /** Runs something after `ms`; the function that is given back takes it out again. */
  after(ms: number, label: string, run: () => void, life?: Life): () => void {
    const event: Event = { at: this.#now + Math.max(0, Math.ceil(ms)), label, run, life };
    this.#events.push(event);
    return () => {
      this.#events = this.#events.filter((one) => one !== event);
    };
  }

  /** Writes a line into the trace. */
  note(what: string): void {
    this.trace.push(`${this.#now} ${what}`);
  }

  /** Runs one event; false when none is left. */
  async step(): Promise<boolean> {
    this.#events = this.#events.filter(({ life }) => life?.isAlive !== false);
    if (this.#events.length === 0) return false;
    const earliest = Math.min(...this.#events.map(timeOf));
    this.#now = Math.max(this.#now, earliest);
    const ready = this.#events.filter((one) => timeOf(one) <= this.#now);
    const event = ready[Math.floor(this.#random() * ready.length)];
    if (event === undefined) throw new Error('no event is ready');
    this.#events = this.#events.filter((one) => one !== event);
    this.note(event.label);
    event.run();
    // Everything that waits for promises only has run when the event loop has turned once.
    await settle();
    return true;
  }
}

function timeOf({ at, life }: Event): number {
  return Math.max(at, life?.stillUntil ?? 0);
}
