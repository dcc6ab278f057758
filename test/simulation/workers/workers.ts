import type { Processes } from '../processes.ts';
import { SimulatedProcess, type Surroundings } from '../process.ts';
import type { Life } from '../scheduler.ts';
import type { WorkerServer } from './server.ts';

/** A process that is always there: another one follows it when it has ended. */
interface Place {
  process: SimulatedProcess | undefined;
  cancelStart: () => void;
}

/** Processes that live at the same time and share the accounts of a server. */
export class Workers implements Pick<Processes, keyof Processes> {
  readonly #world: Surroundings;
  readonly #server: WorkerServer;
  readonly #places: readonly Place[];
  #deaths = 0;
  /** When something last happened to one of them. */
  #changedAt = 0;

  constructor(world: Surroundings, server: WorkerServer, count: number) {
    this.#world = world;
    this.#server = server;
    this.#places = Array.from({ length: count }, () => ({ process: undefined, cancelStart: () => {} }));
  }

  /** The first that lives. */
  get current(): SimulatedProcess | undefined {
    return this.#living[0];
  }

  get livesSince(): number | undefined {
    const { now } = this.#world.scheduler;
    const living = this.#living.filter(({ stillUntil, cutUntil }) => Math.max(stillUntil, cutUntil) <= now);
    return living.length === this.#places.length ? this.#changedAt : undefined;
  }

  get deaths(): number {
    return this.#deaths;
  }

  isOwner(life: Life, account: string): boolean {
    return this.#server.ownerOf(account)?.life === life;
  }

  termOf(_life: Life, account: string): unknown {
    return this.#server.ownerOf(account)?.term;
  }

  /** None is followed by another: they find out by themselves whether they still drive an account. */
  isLate(): boolean {
    return false;
  }

  begin(ms: number): void {
    const { chance } = this.#world;
    for (const [index, place] of this.#places.entries())
      this.#beginAt(place, index === 0 ? ms : ms + chance.of([0, 1_000, 10_000, 300_000]));
  }

  cancelStart(): void {
    for (const { cancelStart } of this.#places) cancelStart();
  }

  ended(process: SimulatedProcess, hasFailed: boolean): void {
    this.#followed(process, hasFailed ? [0, 15_000, 60_000, 300_000] : [0, 10, 1_000, 30_000]);
  }

  died(process: SimulatedProcess, where: string): void {
    this.#world.scheduler.note(`death ${where}`);
    this.#deaths += 1;
    this.#followed(process, [0, 10, 1_000, 30_000]);
  }

  end(where: string): boolean {
    const process = this.#one();
    if (process === undefined) return false;
    process.die(where);
    this.died(process, where);
    return true;
  }

  mayDie(where: string, likelihood: number): void {
    if (this.#living.length > 0 && this.#world.diesHere(likelihood, where)) this.end(where);
  }

  block(ms: number): void {
    this.standStill(ms);
  }

  /** One of them stands still. The others decide whether another takes its accounts. */
  standStill(ms: number): void {
    const process = this.#one();
    if (process === undefined || this.#world.isCalm) return;
    process.block(ms);
    this.#disturb(process, ms);
  }

  /** The server is out of the reach of one of them. */
  cut(ms: number): void {
    const process = this.#one();
    if (process === undefined || this.#world.isCalm) return;
    process.cutUntil = this.#world.scheduler.now + ms;
    this.#disturb(process, ms);
  }

  wake(): void {
    for (const process of this.#living) process.wake();
  }

  heed(): void {
    for (const process of this.#living) void process.heed();
  }

  endAll(): void {
    for (const process of this.#living) process.die('the end');
  }

  get #living(): readonly SimulatedProcess[] {
    return this.#places.flatMap(({ process }) => (process?.isAlive === true ? [process] : []));
  }

  #one(): SimulatedProcess | undefined {
    const living = this.#living;
    return living.length === 0 ? undefined : this.#world.chance.of(living);
  }

  #disturb(process: SimulatedProcess, ms: number): void {
    const { scheduler } = this.#world;
    const stir = () => {
      this.#changedAt = scheduler.now;
      this.#server.time.stir();
    };
    stir();
    scheduler.after(ms, 'a process continues', stir, process);
  }

  #followed(process: SimulatedProcess, waits: readonly number[]): void {
    this.#server.time.stir();
    this.#world.lost();
    const place = this.#places.find((one) => one.process === process);
    if (place !== undefined) this.#beginAt(place, this.#world.chance.of(waits));
  }

  #beginAt(place: Place, ms: number): void {
    place.cancelStart();
    place.cancelStart = this.#world.scheduler.after(ms, 'start', () => {
      this.#changedAt = this.#world.scheduler.now;
      place.process = new SimulatedProcess(this.#world, this, undefined);
      void place.process.live();
    });
  }
}
