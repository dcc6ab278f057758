/** No more are remembered: an endpoint that fails at so many is at fault itself. */
const MOST_SUSPECTS = 1_000;

/**
 * Events at which an endpoint failed (5xx, no answer), by a name: one that it can never take would stop all others with it.
 * They are sent after the others, and an event that fails again, where others were taken in between, is itself the cause.
 */
export class Suspects {
  /** How many events the endpoint had taken when each of them failed. */
  readonly #failed = new Map<string, number>();

  has(name: string): boolean {
    return this.#failed.has(name);
  }

  /** Notes a failure, with how many events the endpoint has taken by now. Gives true where the event is the cause. */
  failed(name: string, takenCount: number): boolean {
    const takenBefore = this.#failed.get(name);
    if (takenBefore === undefined && this.#failed.size >= MOST_SUSPECTS) this.#failed.clear();
    this.#failed.set(name, takenCount);
    return takenBefore !== undefined && takenBefore < takenCount;
  }

  taken(name: string): void {
    this.#failed.delete(name);
  }
}
