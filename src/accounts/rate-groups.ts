import type { Config } from '../config/config.ts';
import { groupsOf } from '../config/rate-groups.ts';
import { RateGroup } from '../flows/pass/rate-group.ts';
import type { AccountGroup } from '../store/port.ts';
import type { OwnedAccount } from './owned-account.ts';

/** The shared limits of owned accounts, each for as long as its accounts are owned. */
export class RateGroups {
  readonly #owned: ReadonlyMap<string, OwnedAccount>;
  readonly #groupOf = new Map<string, AccountGroup>();
  readonly #limits = new Map<AccountGroup, RateGroup>();

  constructor(config: Pick<Config, 'accounts'>, owned: ReadonlyMap<string, OwnedAccount>) {
    this.#owned = owned;
    for (const group of groupsOf(config)) {
      if (group.length > 1) for (const name of group) this.#groupOf.set(name, group);
    }
  }

  /** The limit that an owned account shares; undefined where it has its own. */
  of(name: string): RateGroup | undefined {
    const group = this.#groupOf.get(name);
    if (group === undefined) return undefined;
    const known = this.#limits.get(group);
    if (known !== undefined) return known;
    const made = new RateGroup(group.flatMap((one) => this.#owned.get(one)?.holding ?? []));
    this.#limits.set(group, made);
    return made;
  }

  /** The accounts of a group come and go together. */
  forget(name: string): void {
    const group = this.#groupOf.get(name);
    if (group !== undefined) this.#limits.delete(group);
  }
}
