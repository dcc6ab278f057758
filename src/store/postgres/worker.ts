import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { TRUSTED_MS, type WorkerView } from '../../domain/accounts/heartbeats.ts';
import type { Database } from '../port.ts';
import { endWorker, enterWorker, renewHeartbeat, type NewWorker, type SeenWorker } from '../workers.ts';

/** How a worker presents itself to others. */
export type WorkerFacts = Pick<NewWorker, 'host' | 'socket' | 'publicKey' | 'listens'>;

/**
 * This process as a worker: from its first heartbeat until it is declared over. Then it is over for good, and another one
 * begins: so nobody mistakes the two.
 */
export class Worker {
  readonly holder: string;
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #view: WorkerView<SeenWorker>;
  #isOver = false;
  /** The beginning of the last renewal, by both clocks: the monotonic one stands while the machine sleeps. */
  #renewed: { readonly monotonic: number; readonly utc: number };

  private constructor(holder: string, db: Database, clock: Clock, view: WorkerView<SeenWorker>, renewed: Moment) {
    this.holder = holder;
    this.#db = db;
    this.#clock = clock;
    this.#view = view;
    this.#renewed = renewed;
  }

  static async enter(
    db: Database,
    clock: Clock,
    view: WorkerView<SeenWorker>,
    facts: WorkerFacts & Pick<NewWorker, 'units'>,
  ): Promise<Worker> {
    const holder = `${facts.host}:${process.pid}:${randomUUID().slice(0, 8)}`;
    const renewed = momentOf(clock);
    await enterWorker(db, { ...facts, holder });
    return new Worker(holder, db, clock, view, renewed);
  }

  /** True while nobody can have declared this worker over. */
  isTrusted(): boolean {
    const { monotonic, utc } = momentOf(this.#clock);
    return !this.#isOver && monotonic - this.#renewed.monotonic < TRUSTED_MS && utc - this.#renewed.utc < TRUSTED_MS;
  }

  /** Renews the heartbeat, and declares others over that did not. False where this worker was declared over. */
  async beat(held: number): Promise<boolean> {
    const began = momentOf(this.#clock);
    const seen = await renewHeartbeat(this.#db, this.holder, held);
    this.#isOver ||= !seen.isRenewed;
    if (this.#isOver) return false;
    this.#renewed = began;
    const now = this.#clock.monotonic();
    this.#view.see(seen, began.monotonic, now);
    this.#clock.follow?.(seen.now, began.monotonic, now);
    for (const other of this.#view.over(now)) {
      if (other.holder !== this.holder && (await endWorker(this.#db, other))) this.#view.remove(other.holder);
    }
    return true;
  }
}

interface Moment {
  readonly monotonic: number;
  readonly utc: number;
}

function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), utc: clock.now().getTime() };
}
