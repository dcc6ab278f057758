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
  /** Decides in the transaction of the intent; may be asked once more if the transaction runs again. */
  decide(tx: Transaction, order: GuardedOrder): Promise<Exclude<GuardDecision, { kind: 'wait' }> | GuardWait>;
  /** False while the exchange has not taken it, for sure. */
  mayBeTaken: boolean;
}

export class CreateGuard {
  readonly #deps: GuardDeps;
  readonly #window: CreateWindow;
  readonly #isOff: boolean;
  /** A limit would have been passed, and no person is known to have allowed creates since. */
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

  /** Counts the creates of the last hour, whichever process owned the account then. */
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
        // One alone records that creates stop.
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

  /** If a person has allowed creates again, earlier creates count no more. */
  async #beginAnew(tx: Transaction): Promise<void> {
    const countsFrom = await guardCountsFrom(tx, this.#deps.account);
    // Another create may have seen it meanwhile.
    if (!this.#hasStopped || countsFrom === this.#countsFrom) return;
    this.#countsFrom = countsFrom;
    this.#hasStopped = false;
    this.#window.clear();
  }
}

/** Counts the creates of the last hour that were taken or may have been, since a person last allowed creates. */
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
      // Counts only the newest create of an order: earlier ones were not taken.
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
