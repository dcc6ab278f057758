import type { Clock } from '../../clock.ts';
import type { RateLimit, RateWindow, SpentRequests } from '../../exchange/rate-window.ts';
import { SharedWindow } from '../../exchange/shared-window.ts';
import type { AccountGroup, Holding, Store } from '../../store/port.ts';
import { SharedDemand } from './follow-pace.ts';
import { spentByLastOwner } from './lease.ts';

/**
 * Accounts that share a rate limit, for as long as this process drives them: the requests of each count for all, those of the
 * last owners before the first one here.
 */
export class RateGroup {
  /** The look-ups that its accounts plan. */
  readonly demand: SharedDemand;
  readonly #holdings: readonly Holding[];
  #window: Promise<SharedWindow> | undefined;

  constructor(holdings: readonly Holding[]) {
    this.#holdings = holdings;
    this.demand = new SharedDemand(holdings.length);
  }

  /** The window of one account of the group; `spent` are the requests of its lease. */
  async windowOf(
    deps: { readonly store: Store; readonly clock: Clock },
    limit: RateLimit,
    spent: readonly SpentRequests[],
  ): Promise<RateWindow> {
    this.#window ??= this.#open(deps, limit).catch((error: unknown) => {
      this.#window = undefined;
      throw error;
    });
    return (await this.#window).member(spent);
  }

  async #open({ store, clock }: { store: Store; clock: Clock }, limit: RateLimit): Promise<SharedWindow> {
    const all: SpentRequests[] = [];
    for (const holding of this.#holdings) {
      all.push(...(await spentByLastOwner({ store, clock, holding, account: holding.account }, limit)).spent);
    }
    return new SharedWindow(limit, all, clock);
  }
}

/** The limits that owned accounts share, each for as long as its accounts are owned. */
export class RateGroups {
  readonly #groupOf: ReadonlyMap<string, AccountGroup>;
  readonly #limits = new WeakMap<Holding, RateGroup>();

  constructor(groups: readonly AccountGroup[]) {
    const shared = groups.filter(({ length }) => length > 1);
    this.#groupOf = new Map(shared.flatMap((group) => group.map((name) => [name, group] as const)));
  }

  /** The limit that an owned account shares; undefined if it has its own. */
  of(account: string, holdingOf: (account: string) => Holding | undefined): RateGroup | undefined {
    const holdings = this.#groupOf.get(account)?.flatMap((name) => holdingOf(name) ?? []);
    const [first] = holdings ?? [];
    if (holdings === undefined || first === undefined) return undefined;
    // Its accounts come and go together: an earlier limit counts no more, as another owner may have sent since.
    const limit = this.#limits.get(first) ?? new RateGroup(holdings);
    this.#limits.set(first, limit);
    return limit;
  }
}
