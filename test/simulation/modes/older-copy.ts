import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Clock } from '../../../src/base/clock.ts';
import { acceptRestore } from '../../../src/extensions/restore/restore.ts';
import { readMark } from '../../../src/store/mark.ts';
import type { Position } from '../../../src/store/port.ts';
import { openStore } from '../../../src/store/sqlite/store.ts';
import type { SqliteConfig } from '../../support/test-program.ts';
import { COPY_ACCEPTED } from '../observer/history.ts';
import { MINUTE, type Chance } from '../plan/chance.ts';
import { planAlone, type Plan } from '../plan/plan.ts';
import type { WrapStatement } from '../process.ts';
import type { Machine } from './trial.ts';

/** As `order-sync db accept-restore`, `wrap` around its statements. */
export async function acceptCopy(
  config: SqliteConfig,
  clock: Clock,
  { isNothingSent, wrap }: { isNothingSent: boolean; wrap: WrapStatement | undefined },
): Promise<void> {
  const options = { expect: 'current', isRestored: true, synchronous: 'off' } as const;
  const store = await openStore(config.database.path, clock, { ...options, ...(wrap && { wrap }) });
  try {
    const acceptance = { actor: 'person', reason: COPY_ACCEPTED, isNothingSent };
    await acceptRestore({ accounts: ['default'], store, clock, settings: config.create }, acceptance);
  } finally {
    await store.close();
  }
}

/** How far a file has come, how many orders and owners' generations it has. */
export interface FileState extends Position {
  readonly orders: number;
}

/** Reads a file to which no process writes. */
export function readState(path: string): FileState {
  const database = new Database(path, { readonly: true });
  try {
    const count = (sql: string) => (database.prepare(sql).pluck().get() as number | null) ?? 0;
    return {
      eventId: count('select max(id) from events'),
      generation: count('select sum(generation) from account_owners'),
      orders: count('select count(*) from merchant_orders'),
    };
  } finally {
    database.close();
  }
}

/**
 * Tells whether the mark beside the database names more than the file has; written down a second time: the program's own rule may be wrong.
 */
export function isOlderThanMark(state: FileState, path: string): boolean {
  const mark = readMark(readFileSync(`${path}.mark`, 'utf8'));
  return mark !== undefined && (state.eventId < mark.eventId || state.generation < mark.generation);
}

/** A person who notices that an older copy is in place, and accepts it after a while; their command may be ended in the middle. */
export class Accepting {
  readonly #chance: Chance;
  #isNothingSent: boolean | undefined;
  #isDue = false;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Tells whether a copy waits for the person. */
  get isWaiting(): boolean {
    return this.#isNothingSent !== undefined;
  }

  /** An older copy is in place. No request of before is counted any more when the person comes. */
  plan({ scheduler }: Machine, isNothingSent: boolean): void {
    this.#isNothingSent = isNothingSent;
    scheduler.after(2 * MINUTE + this.#chance.below(MINUTE), 'a person comes to accept the copy', () => {
      this.#isDue = true;
    });
  }

  async afterStep(machine: Machine): Promise<void> {
    if (machine.isOpening || !this.#isDue || this.#isNothingSent === undefined) return;
    this.#isDue = false;
    if (this.#chance.next() < 0.3) await this.#tryInVain(machine, this.#isNothingSent);
    await machine.accept(this.#isNothingSent);
    machine.scheduler.note(`accepted, ${this.#isNothingSent ? 'nothing was sent' : 'orders may have been sent'}`);
    this.#isNothingSent = undefined;
  }

  /** The command ends at one of its statements; whoever runs it runs it again. */
  async #tryInVain(machine: Machine, isNothingSent: boolean): Promise<void> {
    let left = 1 + this.#chance.below(30);
    const wrap: WrapStatement = (_sql, statement) => {
      const count = <Result>(run: () => Result): Result => {
        left -= 1;
        if (left < 0) throw new Error('ended');
        return run();
      };
      return {
        reader: statement.reader,
        all: (parameters) => count(() => statement.all(parameters)),
        run: (parameters) => count(() => statement.run(parameters)),
        iterate: (parameters) => count(() => statement.iterate(parameters)),
      };
    };
    await machine.accept(isNothingSent, wrap).catch(() => machine.scheduler.note('the command of the person ended'));
  }
}

/** The plan of a seed without what belongs to other modes: orders at once, one process at a time, no end before 2 hours. */
export function planForFiles(seed: number): Plan {
  const plan = planAlone(seed);
  const calmAt = 120 * MINUTE;
  return {
    ...plan,
    orders: plan.orders.slice(0, 4).map((order) => ({ ...order, at: 0, mendedAt: null })),
    // A copy does not know of the creates since, which a limit would count.
    settings: { ...plan.settings, createsPerHour: undefined, assetPerHour: [] },
    outages: [],
    diskFull: null,
    readOnly: null,
    paused: null,
    resumedEveryMs: 20 * MINUTE,
    clockSet: [],
    blocked: [],
    staleSaves: [],
    trigger: null,
    shared: null,
    decisions: [],
    decidesInFlight: 0,
    receivers: [],
    isAudited: false,
    calmAt,
    lastAt: calmAt,
    endAt: calmAt + (plan.endAt - plan.calmAt),
    endsWhenSettled: true,
  };
}
