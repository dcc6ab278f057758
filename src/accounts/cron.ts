import { schedule, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';

const OVERDUE_MS = 10_000;

/** Ticks at the times of a cron expression in UTC, until disposed of. Never ticks without an expression. */
export class Cron implements AsyncDisposable {
  missed = 0;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #onTick: () => void;
  readonly #task: ScheduledTask | undefined;
  #overdueAt = 0;
  #tickedAt = new Date(0);

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, expression: string | undefined, onTick: () => void) {
    this.#clock = clock;
    this.#onTick = onTick;
    if (expression === undefined) return;
    this.#task = schedule(expression, () => this.#tick(), { timezone: 'UTC', noOverlap: true });
    // Without a listener node-cron writes a line of its own for each missed tick.
    this.#task.on('execution:missed', () => void (this.missed += 1));
    this.#expectNext();
  }

  /** The time of the last tick; 1970 before the first tick; no later than now, even if the clock was set back. */
  get tickedAt(): Date {
    const now = this.#clock.now();
    if (this.#tickedAt > now) this.#tickedAt = now;
    return this.#tickedAt;
  }

  /** Ticks if node-cron is over 10 s late, for example because the system's clock was set back. */
  tickIfOverdue(): void {
    if (this.#task !== undefined && this.#clock.monotonic() > this.#overdueAt) this.#tick();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task?.destroy();
  }

  #tick(): void {
    this.#tickedAt = this.#clock.now();
    this.#expectNext();
    this.#onTick();
  }

  #expectNext(): void {
    this.#overdueAt = this.#clock.monotonic() + (this.#task?.msToNext() ?? 0) + OVERDUE_MS;
  }
}

export function tellMissed(crons: readonly Cron[], log: Logger): void {
  const missed = crons.reduce((all, cron) => all + cron.missed, 0);
  for (const cron of crons) cron.missed = 0;
  if (missed > 0)
    log.warn({ missed }, 'the process stood still, or its clock was set forward: ticks of the schedule were missed');
}
