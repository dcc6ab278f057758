import { CreateWindow, GUARD_WINDOW_MS } from './create-window.ts';
import type { CountedCreate, GuardedOrder, GuardSettings } from './create-window.ts';
import { after } from '../../base/instant.ts';
import { NO_GUARD, type CreateGuard, type GuardDeps, type GuardedCreate } from '../../orders/pass/guard.ts';
import { uncheckedOrderOf } from '../../store/orders/order-columns.ts';
import type { Database, Transaction } from '../../store/port.ts';
import { GUARD_COUNTS_FROM } from '../../store/tables/account-holds.ts';
import { readAccountFact } from '../../store/tables/accounts.ts';
import { guardSettings } from './settings.ts';
import { sentCreates } from './tables/sent-creates.ts';

const PAGE = 1_000;
const NOT_TAKEN: readonly string[] = ['pending', 'rejected', 'invalid', 'cancelled'];

export async function createGuard(deps: GuardDeps, db: Database): Promise<CreateGuard> {
  const settings = settingsOf(deps.config);
  if (settings.createsPerHour === undefined && settings.assetPerHour.length === 0) return NO_GUARD;
  const guard = new HourlyGuard(deps, settings);
  await guard.open(db);
  return guard;
}

export function settingsOf(config: GuardDeps['config']): GuardSettings {
  return { ...guardSettings.of(config).guard, outputPosition: config.exchange.outputPosition };
}

class HourlyGuard implements CreateGuard {
  readonly #deps: GuardDeps;
  readonly #window: CreateWindow;
  /** True from the create that would exceed a limit until this process reads that a person allowed creates. */
  #hasStopped = false;
  #isStopping = false;
  #countsFrom: string | undefined;
  #outcome = Promise.withResolvers<void>();

  constructor(deps: GuardDeps, settings: GuardSettings) {
    this.#deps = deps;
    this.#window = new CreateWindow(settings);
  }

  async open(db: Database): Promise<void> {
    const { account, restraints } = this.#deps;
    this.#countsFrom = await guardCountsFrom(db, account);
    this.#hasStopped = restraints.all.some(({ kind }) => kind === 'guarded');
    await countSent(db, { account, now: restraints.now(), countsFrom: this.#countsFrom }, this.#window);
  }

  begin(): GuardedCreate {
    let counted: CountedCreate | undefined;
    let isStopping = false;
    const settle = () => {
      if (counted === undefined && !isStopping) return;
      if (counted !== undefined) this.#window.settle(counted, create.mayBeTaken);
      if (isStopping) this.#isStopping = false;
      [counted, isStopping] = [undefined, false];
      this.#outcome.resolve();
      this.#outcome = Promise.withResolvers();
    };
    const create: GuardedCreate = {
      mayBeTaken: false,
      decide: async (tx, order) => {
        settle();
        if (this.#hasStopped) await this.#beginAnew(tx);
        const now = this.#deps.restraints.now();
        const decision = this.#window.decide(order, now);
        if (decision.kind === 'free') counted = this.#window.add(order, now);
        // Only one create records that creates stop. Every other create waits for that record.
        if (decision.kind === 'wait' || (decision.kind === 'guarded' && this.#isStopping)) {
          return { kind: 'wait', outcome: this.#outcome.promise };
        }
        if (decision.kind === 'guarded') this.#hasStopped = this.#isStopping = isStopping = true;
        return decision;
      },
      [Symbol.dispose]: settle,
    };
    return create;
  }

  /** Clears the count of creates if a person has allowed creates since the stop. */
  async #beginAnew(tx: Transaction): Promise<void> {
    const countsFrom = await guardCountsFrom(tx, this.#deps.account);
    // Another create may have cleared the count during this read.
    if (!this.#hasStopped || countsFrom === this.#countsFrom) return;
    this.#countsFrom = countsFrom;
    this.#hasStopped = false;
    this.#window.clear();
  }
}

/** Returns the time at which a person last ended a stop of the guard. Earlier creates do not count. */
export async function guardCountsFrom(db: Database, account: string): Promise<string | undefined> {
  return await readAccountFact(db, { account, name: GUARD_COUNTS_FROM });
}

/** Counts creates of the last hour that the exchange may have taken. Creates before `countsFrom` do not count. */
export async function countSent(
  db: Database,
  { account, now, countsFrom = '' }: { account: string; now: Date; countsFrom: string | undefined },
  window: CreateWindow,
): Promise<void> {
  const from = after(now, -GUARD_WINDOW_MS).toISOString();
  let place = { observed_at: countsFrom > from ? countsFrom : from, id: 0 };
  for (;;) {
    const page = await sentCreates(db, { account, after: place, limit: PAGE });
    for (const row of page) {
      // Only the newest create of an order counts, because the exchange did not take the earlier ones.
      if (row.sent_at !== row.observed_at || NOT_TAKEN.includes(row.state)) continue;
      const order = uncheckedOrderOf(row, '') as GuardedOrder;
      const at = new Date(row.observed_at);
      window.settle(window.add(order, at < now ? at : now), true);
    }
    place = page.at(-1) ?? place;
    if (page.length < PAGE) return;
  }
}
