import { existsSync, rmSync, copyFileSync } from 'node:fs';
import { MINUTE, SECOND, Chance } from '../plan/chance.ts';
import { planOrders } from '../plan/orders.ts';
import { planAlone, type Plan } from '../plan/plan.ts';
import { live } from '../world.ts';
import type { Mode } from './mode.ts';
import { drawLostKinds, LostStretches, type LostKinds } from './lost-stretch.ts';
import { planForFiles, readState } from './older-copy.ts';
import type { Machine, Trial } from './trial.ts';

const MOST_PROMOTIONS = 4;
const LEAST_STEPS = 5;
const MOST_STEPS = 120;
const FASTEST = { requests: 5, interval: SECOND } as const;
/** A slow limit of the rate: with more orders than a pass reads in the time that is counted at least. */
const RATES = [
  { requests: 1, interval: 30 * SECOND },
  { requests: 1, interval: 10 * SECOND },
  { requests: 2, interval: 10 * SECOND },
  FASTEST,
] as const;

/**
 * Worlds of a server whose machine is lost together with the process that drives the account: a standby that lacks the last steps is
 * promoted, and another process takes over. In some the lost process comes back a while later and names what it had sent. A person
 * asks the exchange about the orders in doubt, and decides on all of them. Corrections of the shop, and what a person decided in the
 * lost time, are lost with it; the shop corrects its rows once more. In half of the worlds the lost time also has locked rows,
 * retries by a person, the end of a pause, or a process with other limits.
 */
export const promoted: Mode = {
  name: 'promoted',
  run: async (seed, ground) => await live(planForServer(seed), ground, new Promotions(seed)),
};

/** The commits that a standby has received, when, and after how many creates. */
interface Standby {
  readonly path: string;
  readonly at: number;
  readonly creates: number;
}

class Promotions implements Trial {
  readonly counts = { promotions: 0, lostCreates: 0, inDoubt: 0, lateWorkers: 0 };
  readonly #chance: Chance;
  readonly #stretches: LostStretches;
  #stepsLeft: number;
  #standby: Standby | undefined;
  #isDeciding = false;

  constructor(seed: number) {
    this.#chance = new Chance(seed + 8_000_027);
    this.#stretches = new LostStretches(new Chance(seed + 8_000_099), kindsOf(seed));
    this.#stepsLeft = this.#steps();
  }

  dies(_where: string, { isOpening }: Machine): boolean {
    return !isOpening && this.#chance.next() < 0.0003;
  }

  async afterStep(machine: Machine): Promise<void> {
    if (machine.isOpening) return;
    if (this.#isDeciding) {
      this.#isDeciding = false;
      this.counts.inDoubt += await machine.decideFailOvers();
    }
    if (machine.isCalm || this.counts.promotions >= MOST_PROMOTIONS) return;
    this.#stepsLeft -= 1;
    if (this.#stepsLeft > 0 || readState(machine.path).orders < machine.plan.orders.length) return;
    this.#stepsLeft = this.#steps();
    if (this.#standby !== undefined) await this.#promote(machine, this.#standby);
    else if (this.#stretches.mayBegin(machine)) await this.#receive(machine);
  }

  #steps(): number {
    return LEAST_STEPS + this.#chance.below(MOST_STEPS);
  }

  async #receive(machine: Machine): Promise<void> {
    const { path, scheduler, observer } = machine;
    await this.#stretches.beforeIt(machine);
    const standby = `${path}.standby`;
    removeFiles(standby);
    copyFiles(path, standby);
    machine.received();
    scheduler.note('what a standby has received');
    this.#standby = { path: standby, at: scheduler.now, creates: observer.creates };
    this.#stretches.begun(machine);
  }

  async #promote(machine: Machine, { path: standby, at, creates }: Standby): Promise<void> {
    const { path, scheduler, observer } = machine;
    this.#standby = undefined;
    const heardAt = at - this.#chance.below(SECOND);
    const reportsAfterMs = this.#chance.next() < 0.4 ? this.#chance.of([0, 6 * SECOND, MINUTE]) : undefined;
    this.counts.promotions += 1;
    this.counts.lostCreates += observer.creates - creates;
    if (reportsAfterMs !== undefined) this.counts.lateWorkers += 1;
    await machine.promote({ heardAt, reportsAfterMs }, () => {
      removeFiles(path);
      copyFiles(standby, path);
      removeFiles(standby);
    });
    this.#stretches.ended(machine);
    scheduler.note(`the standby is promoted; ${observer.creates - creates} creates are lost`);
    scheduler.after(
      this.#chance.of([5, 5, 45]) * MINUTE + this.#chance.below(MINUTE),
      'a person asks the exchange',
      () => {
        this.#isDeciding = true;
      },
    );
  }
}

/** Many orders, most of them at once, and a slow limit. */
function planForServer(seed: number): Plan {
  const plan = planForFiles(seed);
  const chance = new Chance(seed + 8_000_051);
  const own = planAlone(seed);
  const count = chance.of([4, 20, 45]);
  const unsendable = chance.of([0, 0, count / 2, count - 8]);
  const orders = Array.from({ length: count }, () => planOrders(chance, plan.calmAt).slice(0, 1))
    .flat()
    .map((order, index) => ({
      ...order,
      id: `order-${String(index).padStart(2, '0')}`,
      at: 0,
      // Rows that a pass reads and does not send move the sent ones away from the beginning.
      ...(index < unsendable && { isValid: false, asset: 'one' }),
      mendedAt: order.mendedAt === null ? null : chance.below(10 * MINUTE),
    }));
  const faults = chance.of([0, 0, 0.1]);
  const { isRetried } = kindsOf(seed);
  const drawn = chance.of(RATES);
  // A slow limit lets too few go: some must be rejected before the stretch, and sent again in it.
  const rate = isRetried ? FASTEST : drawn;
  return {
    ...plan,
    orders,
    faults: isRetried ? 0.4 : faults,
    ...(isRetried && { createFaults: [...plan.createFaults, 'refused', 'refused'] as const }),
    settings: { ...plan.settings, rate: { ...rate, mode: 'proved' }, concurrency: 1 + chance.below(3) },
    shared: { stills: [], lostCommits: chance.of([0, 0, 0.05]) },
    decisions: own.decisions.map((one, index) => ({
      ...one,
      id: orders[index % orders.length]?.id ?? one.id,
      at: chance.below(20 * MINUTE),
    })),
  };
}

function kindsOf(seed: number): LostKinds {
  return drawLostKinds(new Chance(seed + 8_000_112), RATES);
}

/** The server that is simulated is a file, and that has a mark. Nothing writes it between two steps. */
function copyFiles(from: string, to: string): void {
  for (const ending of ['', '-wal', '.mark'])
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`);
}

function removeFiles(path: string): void {
  for (const ending of ['', '-wal', '-shm', '.mark'])
    if (existsSync(`${path}${ending}`)) rmSync(`${path}${ending}`, { force: true });
}
