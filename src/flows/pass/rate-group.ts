import type { Clock } from '../../clock.ts';
import type { RateLimit, RateWindow, SpentRequests } from '../../exchange/rate-window.ts';
import { SharedWindow } from '../../exchange/shared-window.ts';
import type { AccountGroup, AccountLease, Store } from '../../store/port.ts';
import { SharedDemand } from './follow-pace.ts';
import { spentByLastOwner } from './lease.ts';

/**
 * Accounts that share a rate limit, for as long as this process drives them: the requests of each count for all, those of the
 * last owners before the first one here.
 */
export class RateGroup {
  /** The look-ups that its accounts plan. */
  readonly demand: SharedDemand;
  readonly #leases: readonly AccountLease[];
  #window: Promise<SharedWindow> | undefined;

  constructor(accountLeases: readonly AccountLease[]) {
    this.#leases = accountLeases;
    this.demand = new SharedDemand(accountLeases.length);
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
    for (const accountLease of this.#leases) {
      all.push(...(await spentByLastOwner({ store, clock, accountLease, account: accountLease.account }, limit)).spent);
    }
    return new SharedWindow(limit, all, clock);
  }
}

/** The limits that owned accounts share, each for as long as its accounts are owned. */
export class RateGroups {
  readonly #groupOf: ReadonlyMap<string, AccountGroup>;
  readonly #limits = new WeakMap<AccountLease, RateGroup>();

  constructor(groups: readonly AccountGroup[]) {
    const shared = groups.filter(({ length }) => length > 1);
    this.#groupOf = new Map(shared.flatMap((group) => group.map((name) => [name, group] as const)));
  }

  /** The limit that an owned account shares; undefined if it has its own. */
  of(account: string, leaseOf: (account: string) => AccountLease | undefined): RateGroup | undefined {
    const accountLeases = this.#groupOf.get(account)?.flatMap((name) => leaseOf(name) ?? []);
    const [first] = accountLeases ?? [];
    if (accountLeases === undefined || first === undefined) return undefined;
    // Its accounts come and go together: an earlier limit counts no more, as another owner may have sent since.
    const limit = this.#limits.get(first) ?? new RateGroup(accountLeases);
    this.#limits.set(first, limit);
    return limit;
  }
}
