import { SimulatedProcess, type Surroundings } from './process.ts';
import type { Life } from './scheduler.ts';

/** The processes that follow each other: one drives the accounts at a time, and one that stood still may wake up late. */
export class Processes {
  readonly #world: Surroundings;
  #current: SimulatedProcess | undefined;
  /** The process that another has followed while it stood still. */
  #late: SimulatedProcess | undefined;
  #lastOwnerUntil: number | undefined;
  #cancelStart = () => {};
  #deaths = 0;
  #begunAt = 0;

  constructor(world: Surroundings) {
    this.#world = world;
  }

  /** The process that drives the accounts, or did last. */
  get current(): SimulatedProcess | undefined {
    return this.#current;
  }

  /** Since when one process has lived; undefined if none does. */
  get livesSince(): number | undefined {
    return this.#current?.isAlive === true ? this.#begunAt : undefined;
  }

  get deaths(): number {
    return this.#deaths;
  }

  /** Tells whether a process may take itself for the owner of an account. */
  isOwner(life: Life, _account: string): boolean {
    const late = this.#late;
    return life === this.#current || (life === late && this.#world.scheduler.now < late.trustedUntil);
  }

  /** Tells apart the times for which processes drive an account. */
  termOf(life: Life, _account: string): unknown {
    return life;
  }

  /** Tells whether another process owns the accounts: this one finds out when it looks. */
  isLate(process: SimulatedProcess): boolean {
    return process !== this.#current;
  }

  /** There may be work. */
  wake(): void {
    this.#current?.wake();
  }

  /** Another program has committed. */
  heed(): void {
    void this.#current?.heed();
  }

  /** Another process begins after a while, in place of one that was to begin. */
  begin(ms: number): void {
    this.#cancelStart();
    this.#cancelStart = this.#world.scheduler.after(ms, 'start', () => {
      const lastOwnerUntil = this.#world.plan.shared === null ? undefined : this.#lastOwnerUntil;
      this.#lastOwnerUntil = undefined;
      this.#begunAt = this.#world.scheduler.now;
      this.#current = new SimulatedProcess(this.#world, this, lastOwnerUntil);
      void this.#current.live();
    });
  }

  /** No process begins any more. */
  cancelStart(): void {
    this.#cancelStart();
  }

  /**
   * A process ended by itself. Another takes over after a while; one that could not continue is delayed longer, as a supervisor
   * does.
   */
  ended(process: SimulatedProcess, hasFailed: boolean): void {
    if (process !== this.#current) return;
    this.#world.lost();
    const waitMs = this.#world.chance.of(hasFailed ? [0, 15_000, 60_000, 300_000] : [0, 10, 1_000, 30_000]);
    this.begin(hasFailed ? Math.max(waitMs, this.#heldMs(process)) : waitMs);
  }

  /** A process has died. */
  died(process: SimulatedProcess, where: string): void {
    this.#world.scheduler.note(`death ${where}`);
    this.#deaths += 1;
    if (process !== this.#current) return;
    this.#world.lost();
    const waitMs = this.#world.chance.of([0, 10, 1_000, 30_000]);
    this.begin(Math.max(waitMs, this.#heldMs(process)));
  }

  /** The process that lives dies now; false if none does. */
  end(where: string): boolean {
    const process = this.#current;
    if (process?.isAlive !== true) return false;
    process.die(where);
    this.died(process, where);
    return true;
  }

  mayDie(where: string, likelihood: number): void {
    if (this.#current?.isAlive === true && this.#world.diesHere(likelihood, where)) this.end(where);
  }

  /** Its event loop is blocked. If processes share a server, no heartbeat is renewed meanwhile. */
  block(ms: number): void {
    if (this.#world.plan.shared === null) this.#current?.block(ms);
    else this.standStill(ms);
  }

  /** The server is out of the reach of a process: commits alone are lost in these worlds. */
  cut(_ms: number): void {}

  /** If it lasts longer than its heartbeat, another process takes over, and this one wakes up late. */
  standStill(ms: number): void {
    const { scheduler, chance, isCalm } = this.#world;
    const process = this.#current;
    if (process?.isAlive !== true || isCalm || this.#late?.isAlive === true) return;
    process.standStill(ms);
    scheduler.after(process.heldUntil - scheduler.now + chance.below(1_000), 'look for an owner', () => {
      if (this.#current !== process || !process.isAlive || process.stillUntil <= scheduler.now) return;
      this.#late = process;
      // Its death lets no other begin: another is about to.
      this.#current = undefined;
      this.#lastOwnerUntil = process.trustedUntil;
      this.begin(0);
    });
  }

  /** At the end of the world nothing lives any more. */
  endAll(): void {
    this.#current?.die('the end');
    this.#late?.die('the end');
  }

  /** If processes share a server, no other takes over before the heartbeat of a process that did not end in order is over. */
  #heldMs(process: SimulatedProcess): number {
    const { plan, scheduler } = this.#world;
    if (plan.shared === null) return 0;
    if (process.stillUntil <= scheduler.now) process.endHeartbeat();
    this.#lastOwnerUntil = process.trustedUntil;
    return process.heldUntil - scheduler.now;
  }
}
