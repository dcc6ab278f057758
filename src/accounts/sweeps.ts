import { accountsWith, type SweptPass } from '../store/due-times.ts';
import type { Store } from '../store/port.ts';
import type { OwnedAccount } from './owned-account.ts';

/** Accounts of a sweep that are looked at in a second. */
const LOOKED_AT = 100;

interface SweepDeps {
  readonly store: Pick<Store, 'db'>;
  readonly owned: ReadonlyMap<string, OwnedAccount>;
  /** The names of the owned accounts, in their order. */
  readonly names: () => readonly string[];
}

/** Wakes a pass in each owned account that has work for it, a few accounts a second: an account without is not driven for it. */
export class Sweeps {
  readonly #deps: SweepDeps;
  /** The account after which each sweep goes on. */
  readonly #places = new Map<SweptPass, string>();

  constructor(deps: SweepDeps) {
    this.#deps = deps;
  }

  /** Begins a sweep, anew where one is under way. */
  begin(pass: SweptPass): void {
    this.#places.set(pass, '');
  }

  async eachSecond(): Promise<void> {
    for (const pass of this.#places.keys()) await this.#goOn(pass);
  }

  async #goOn(pass: SweptPass): Promise<void> {
    const { store, owned, names } = this.#deps;
    const place = this.#places.get(pass) ?? '';
    const first = names().findIndex((name) => name > place);
    const next = first === -1 ? [] : names().slice(first, first + LOOKED_AT);
    const [from, to] = [next[0], next.at(-1)];
    if (from === undefined || to === undefined) return void this.#places.delete(pass);
    this.#places.set(pass, to);
    for (const name of await accountsWith(pass, store.db, from, to)) owned.get(name)?.wake(pass);
  }
}
