import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { DueTimes } from '../domain/accounts/agenda.ts';
import { accountsToSend, dueTimes, type AccountDue } from '../store/due-times.ts';
import type { Store } from '../store/port.ts';
import type { DrivenAccount } from './driven-account.ts';
import type { DueKind, OwnedAccount } from './owned-account.ts';

/** The pass that each kind of due times wakes. */
const PASS_OF = { create: 'create', verify: 'lookup', follow: 'lookup' } as const satisfies Record<DueKind, string>;
const KINDS = Object.keys(PASS_OF) as DueKind[];
/** Those that wait for their times alone. */
const BY_TIME = ['create', 'verify'] as const;

const MOST_NAMED = 20;

interface DueDeps {
  readonly config: Pick<Config, 'accounts'>;
  readonly store: Pick<Store, 'db'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** The last tick of `schedule.cron`: the orders that are due by then are looked up. */
  readonly tickedAt: () => Date;
  readonly owned: ReadonlyMap<string, OwnedAccount>;
}

/** Knows when something is due in each owned account, and wakes those in which something is. */
export class DueAccounts {
  readonly #deps: DueDeps;
  readonly #times: Readonly<Record<DueKind, DueTimes>> = {
    create: new DueTimes(),
    verify: new DueTimes(),
    follow: new DueTimes(),
  };

  /** The accounts of the settings, and those that are known to be in none. */
  readonly #known: Set<string>;

  constructor(deps: DueDeps) {
    this.#deps = deps;
    this.#known = new Set(deps.config.accounts.map(({ name }) => name));
  }

  /** Wakes the accounts in which something has come due. Look-ups of followed orders wait for `tick`. */
  wakeDue(): void {
    for (const kind of BY_TIME) this.#wake(kind);
  }

  /** `schedule.cron` has ticked. */
  tick(): void {
    this.#wake('follow');
  }

  /** Reads anew what is due in an account. */
  async read({ name }: OwnedAccount): Promise<void> {
    await this.readRange(name, name);
  }

  /** Reads anew what is due in the owned accounts from one name to another, both included. */
  async readRange(from: string, to: string): Promise<void> {
    const { store, owned } = this.#deps;
    for (const due of await dueTimes(store.db, from, to)) {
      const account = owned.get(due.account);
      if (account !== undefined) this.#plan(account, due);
    }
  }

  /** Looks for new and corrected rows in all accounts. Says once of those that nobody drives. */
  async look(): Promise<void> {
    const { store, clock, owned } = this.#deps;
    const unknown: string[] = [];
    for (let place: string | undefined = ''; place !== undefined;) {
      const { due, next } = await accountsToSend(store.db, place);
      const now = clock.now().getTime();
      for (const [name, create] of due) {
        const account = owned.get(name);
        if (!this.#known.has(name)) unknown.push(name);
        if (account === undefined) continue;
        if (create > now) this.#times.create.setEarlier(name, create);
        // The same as before, where something keeps it from being sent.
        else if (account.due.create !== create) {
          account.due = { ...account.due, create };
          account.wake('create');
        }
      }
      place = next;
    }
    if (unknown.length === 0) return;
    for (const name of unknown) this.#known.add(name);
    const facts = { count: unknown.length, accounts: unknown.slice(0, MOST_NAMED) };
    this.#deps.log.warn(facts, 'orders of accounts that are not configured are pending; nobody sends them');
  }

  /** Wakes a driven account again for what is due and nothing keeps back. Tells whether something is due, or is before `until`. */
  wakeAgain(account: OwnedAccount, driven: DrivenAccount, until: number): boolean {
    const due = KINDS.filter((kind) => this.#isDue(account, kind));
    for (const pass of new Set(due.map((kind) => PASS_OF[kind]))) if (driven.mayRun(pass)) driven.wake(pass);
    // Followed orders wait for a tick, which may be far away.
    return due.length > 0 || BY_TIME.some((kind) => (this.#times[kind].of(account.name) ?? Infinity) < until);
  }

  /** True where something will be due. */
  isAwaited({ name }: OwnedAccount): boolean {
    return KINDS.some((kind) => this.#times[kind].of(name) !== undefined);
  }

  forget(name: string): void {
    for (const kind of KINDS) this.#times[kind].plan(name, undefined);
  }

  #plan(account: OwnedAccount, due: AccountDue): void {
    const before = account.due;
    account.due = due;
    for (const kind of KINDS) {
      const isDue = this.#isDue(account, kind);
      this.#times[kind].plan(account.name, isDue ? undefined : due[kind]);
      // What is due as it was before waits for a hold or a circuit breaker, or is no work at all.
      if (isDue && due[kind] !== before[kind]) account.wake(PASS_OF[kind]);
    }
  }

  #isDue({ due }: OwnedAccount, kind: DueKind): boolean {
    const at = due[kind];
    return at !== undefined && at <= this.#until(kind);
  }

  #until(kind: DueKind): number {
    return (kind === 'follow' ? this.#deps.tickedAt() : this.#deps.clock.now()).getTime();
  }

  #wake(kind: DueKind): void {
    for (const name of this.#times[kind].take(this.#until(kind))) this.#deps.owned.get(name)?.wake(PASS_OF[kind]);
  }
}
