import type { Clock } from '../../../src/base/clock.ts';
import type { Chance } from '../plan/chance.ts';
import type { Life, Scheduler } from '../scheduler.ts';

/** So long after the last change every worker has seen the heartbeats of all others. */
const QUIET_MS = 4_000;
const BEAT_MS = 1_000;

interface World {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  /** The time of the machine's clock. */
  readonly wallMs: number;
}

/**
 * The time that heartbeats go by. It stands still while heartbeats could change nothing: worlds last for days, and a heartbeat
 * comes each second.
 */
export class BeatTime {
  readonly #world: World;
  #stoodMs = 0;
  #standsSince: number | undefined;
  #changedAt = 0;
  #waiting: (() => void)[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Milliseconds since the world began, without those for which this time has stood still. */
  get now(): number {
    return this.#world.scheduler.now - this.stoodMs;
  }

  /** How far this time is behind that of the world. */
  get stoodMs(): number {
    const { now } = this.#world.scheduler;
    return this.#stoodMs + now - (this.#standsSince ?? now);
  }

  /** Something has changed, or is about to: the time advances. */
  stir(): void {
    this.#stoodMs = this.stoodMs;
    this.#standsSince = undefined;
    this.#changedAt = this.now;
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  /** Stands still from now on, if nothing has changed for a while. */
  rest(): void {
    if (this.#standsSince === undefined && this.now >= this.#changedAt + QUIET_MS)
      this.#standsSince = this.#world.scheduler.now;
  }

  /** The clock by which a process renews its heartbeat. */
  clockOf(clock: Clock, life: Life): Clock {
    return {
      ...clock,
      monotonic: () => this.now,
      now: () => new Date(this.#world.wallMs - this.stoodMs),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (this.#standsSince !== undefined) await this.#goesOn(life, signal);
      },
    };
  }

  /** When it advances, each worker is somewhere between two heartbeats. */
  async #goesOn(life: Life, signal: AbortSignal | undefined): Promise<void> {
    const { scheduler, chance } = this.#world;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(() => scheduler.after(chance.below(BEAT_MS), 'heartbeats continue', resolve, life));
    signal?.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }
}
