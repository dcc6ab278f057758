/** A heartbeat lasts for this time by the database's clock, unless it is renewed. */
export const HEARTBEAT_MS = 3_000;
/** A worker works for this time after its last renewal began, so that it stops before its heartbeat ends. */
export const TRUSTED_MS = 2_500;
/** A heartbeat that is unchanged for this time has ended, even if the database's clock was set back. */
const SILENT_MS = 6_000;
/** If the database is silent for longer, other workers may be unable to renew, so they do not count as silent. */
const UNANSWERED_MS = 2_000;
/** A larger change of the database's clock is a jump. Drift and slow answers cause smaller changes. */
const JUMP_MS = 400;
/** How long a worker is remembered after its row is gone. A claim of its accounts needs `trustedUntil`. */
const REMEMBERED_MS = 60_000;

export interface SeenWorker {
  readonly holder: string;
  readonly host: string;
  readonly seenUntil: Date;
  /** The number of its accounts at its last heartbeat. */
  readonly accounts: number;
  readonly isSharing: boolean;
}

/**
 * A worker is over once its heartbeat has ended by the database's time and has not changed for `TRUSTED_MS`. A worker
 * is also over without a change for `SILENT_MS`. After a silence of the database, both times begin again.
 */
export class WorkerView {
  workers: readonly SeenWorker[] = [];
  readonly #seen = new Map<string, { readonly seenUntil: number; readonly at: number; lastAt: number }>();
  #offset: number | undefined;
  #jumpedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;

  see({ now, workers }: { now: Date; workers: readonly SeenWorker[] }, startedAt: number, endedAt: number): void {
    const offset = now.getTime() - (startedAt + endedAt) / 2;
    const isJump = this.#offset !== undefined && Math.abs(offset - this.#offset) > JUMP_MS + (endedAt - startedAt) / 2;
    if (isJump) this.#jumpedAt = endedAt;
    const isAnsweredAgain = endedAt - this.#answeredAt > UNANSWERED_MS;
    this.#answeredAt = endedAt;
    this.#offset = offset;
    this.workers = workers;
    for (const { holder, seenUntil } of workers) {
      const [seen, until] = [this.#seen.get(holder), seenUntil.getTime()];
      if (seen?.seenUntil === until && !isAnsweredAgain) seen.lastAt = endedAt;
      else this.#seen.set(holder, { seenUntil: until, at: endedAt, lastAt: endedAt });
    }
    for (const [holder, { lastAt }] of this.#seen) if (endedAt - lastAt > REMEMBERED_MS) this.#seen.delete(holder);
  }

  remove(holder: string): void {
    this.workers = this.workers.filter((worker) => worker.holder !== holder);
  }

  over(monotonic: number): readonly SeenWorker[] {
    return this.workers.filter(({ holder }) => this.#overAt(holder) <= monotonic);
  }

  nextOverMs(monotonic: number): number {
    return Math.min(...this.workers.map(({ holder }) => this.#overAt(holder) - monotonic));
  }

  databaseTime(monotonic: number): number {
    return monotonic + (this.#offset ?? 0);
  }

  /** Returns the monotonic time in ms by which a worker that is over began its last request. */
  trustedUntil(holder: string, monotonic: number): number {
    const seen = this.#seen.get(holder);
    if (seen === undefined) return monotonic;
    const latest = Math.min(monotonic, seen.at + TRUSTED_MS);
    const hasJumped = monotonic - this.#jumpedAt < REMEMBERED_MS;
    return hasJumped ? latest : Math.min(latest, this.#monotonic(seen.seenUntil) - HEARTBEAT_MS + TRUSTED_MS);
  }

  #overAt(holder: string): number {
    const seen = this.#seen.get(holder);
    if (seen === undefined) return Infinity;
    return Math.min(Math.max(this.#monotonic(seen.seenUntil), seen.at + TRUSTED_MS), seen.at + SILENT_MS);
  }

  #monotonic(databaseTime: number): number {
    return databaseTime - (this.#offset ?? 0);
  }
}
