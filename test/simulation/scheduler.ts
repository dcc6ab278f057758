import { setImmediate as settle } from 'node:timers/promises';

/** Something that can die; its further events then do not happen any more. While it stands still, they happen later. */
export interface Life {
  readonly isAlive: boolean;
  readonly stillUntil?: number;
}

interface Event {
  readonly at: number;
  readonly label: string;
  readonly run: () => void;
  readonly life: Life | undefined;
  isCancelled: boolean;
}

/**
 * Time and order of a simulated world. Nothing in it waits for real time: each step runs one event and all promises that
 * follow from it; the seed picks among the events that are ready.
 */
export class Scheduler {
  /** The events, in order; the same seed makes the same lines. */
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
    return this.#events.reduce((count, event) => count + (isDropped(event) ? 0 : 1), 0);
  }

  /** Runs something after `ms`; the function that is given back takes it out again. */
  after(ms: number, label: string, run: () => void, life?: Life): () => void {
    const event: Event = { at: this.#now + Math.max(0, Math.ceil(ms)), label, run, life, isCancelled: false };
    this.#events.push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Writes a line into the trace. */
  note(what: string): void {
    this.trace.push(`${this.#now} ${what}`);
  }

  /** Runs one event; false when none is left. */
  async step(): Promise<boolean> {
    const event = this.#take();
    if (event === undefined) return false;
    this.note(event.label);
    event.run();
    // Everything that waits for promises only has run when the event loop has turned once.
    await settle();
    return true;
  }

  /** Takes one of the events that are ready first, and drops events that never happen. */
  #take(): Event | undefined {
    const events = this.#events;
    let [kept, earliest] = [0, Number.POSITIVE_INFINITY];
    for (const event of events) {
      if (isDropped(event)) continue;
      events[kept] = event;
      kept += 1;
      earliest = Math.min(earliest, timeOf(event));
    }
    events.length = kept;
    if (kept === 0) return undefined;
    this.#now = Math.max(this.#now, earliest);
    const ready: number[] = [];
    for (let index = 0; index < kept; index += 1) {
      if (timeOf(events[index] as Event) <= this.#now) ready.push(index);
    }
    const [taken] = events.splice(ready[Math.floor(this.#random() * ready.length)] as number, 1);
    return taken;
  }
}

function isDropped({ isCancelled, life }: Event): boolean {
  return isCancelled || life?.isAlive === false;
}

function timeOf({ at, life }: Event): number {
  return Math.max(at, life?.stillUntil ?? 0);
}
