import type { Config } from '../config/config.ts';
import { groupsOf } from '../config/rate-groups.ts';
import { RateGroup } from '../flows/pass/rate-group.ts';
import type { AccountGroup, Holding } from '../store/port.ts';
import type { OwnedAccount } from './owned-account.ts';

/** The shared limits of owned accounts, each for as long as its accounts are owned. */
export class RateGroups {
  readonly #owned: ReadonlyMap<string, OwnedAccount>;
  readonly #groupOf = new Map<string, AccountGroup>();
  readonly #limits = new WeakMap<Holding, RateGroup>();

  constructor(config: Pick<Config, 'accounts'>, owned: ReadonlyMap<string, OwnedAccount>) {
    this.#owned = owned;
    for (const group of groupsOf(config)) {
      if (group.length > 1) for (const name of group) this.#groupOf.set(name, group);
    }
  }

  /** The limit that an owned account shares; undefined where it has its own. */
  of(name: string): RateGroup | undefined {
    const holdings = this.#groupOf.get(name)?.flatMap((one) => this.#owned.get(one)?.holding ?? []);
    const [first] = holdings ?? [];
    if (holdings === undefined || first === undefined) return undefined;
    // Its accounts come and go together: what was held before counts no more, as another may have sent since.
    const limit = this.#limits.get(first) ?? new RateGroup(holdings);
    this.#limits.set(first, limit);
    return limit;
  }
}
