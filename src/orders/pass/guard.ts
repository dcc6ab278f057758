import {
  CreateWindow,
  GUARD_WINDOW_MS,
  type CountedCreate,
  type GuardDecision,
  type GuardedOrder,
  type GuardSettings,
} from '../../accounts/rules/guard.ts';
import { after } from '../../base/instant.ts';
import { guardCountsFrom } from '../../store/tables/account-holds.ts';
import { sentCreates } from '../../store/tables/events.ts';
import type { Database, Transaction } from '../../store/port.ts';
import type { AccountRestraints } from './restraints.ts';

const PAGE = 1_000;
const NOT_TAKEN: readonly string[] = ['pending', 'rejected', 'invalid', 'cancelled'];

interface GuardDeps {
  readonly account: string;
  readonly restraints: Pick<AccountRestraints, 'all' | 'now'>;
  readonly settings: GuardSettings;
}

export interface GuardWait {
  readonly kind: 'wait';
  readonly outcome: Promise<void>;
}

export interface GuardedCreate extends Disposable {
  /** Decides in the transaction of the intent, and again if that transaction runs again. */
  decide(tx: Transaction, order: GuardedOrder): Promise<Exclude<GuardDecision, { kind: 'wait' }> | GuardWait>;
  /** False while it is certain that the exchange has not taken the create. */
  mayBeTaken: boolean;
}

export class CreateGuard {
  readonly #deps: GuardDeps;
  readonly #window: CreateWindow;
  readonly #isOff: boolean;
  /** True from the create that would pass a limit until a person is known to have allowed creates. */
  #hasStopped = false;
  #isStopping = false;
  #countsFrom: string | undefined;
  #outcome = Promise.withResolvers<void>();

  constructor(deps: GuardDeps) {
    this.#deps = deps;
    this.#window = new CreateWindow(deps.settings);
    const { createsPerHour, assetPerHour } = deps.settings;
    this.#isOff = createsPerHour === undefined && assetPerHour.length === 0;
  }

  /** Counts the creates of the last hour, also those of earlier owners of the account. */
  async open(db: Database): Promise<void> {
    if (this.#isOff) return;
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
        if (this.#isOff) return { kind: 'free' };
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

/** Counts creates that may have been taken: of the last hour, and since a person last allowed creates. */
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
      // Only the newest create of an order counts, because the earlier creates were not taken.
      if (row.sent_at !== row.observed_at || NOT_TAKEN.includes(row.state)) continue;
      const order = {
        externalOrderId: row.external_order_id,
        asset: row.asset ?? '',
        assetPosition: row.asset_position ?? '',
        fromCurrency: row.from_currency ?? '',
        toCurrency: row.to_currency ?? '',
      };
      const at = new Date(row.observed_at);
      window.settle(window.add(order, at < now ? at : now), true);
    }
    place = page.at(-1) ?? place;
    if (page.length < PAGE) return;
  }
}
