import type { DueKind, DueTimes } from './rules/due.ts';
import { accountsToSend, dueTimes } from '../store/orders/due-times.ts';
import type { Sweep } from '../orders/pass/deps.ts';
import type { AccountsDeps, OwnedAccount } from './account.ts';

const PASS_OF = { create: 'create', verify: 'lookup', follow: 'lookup' } as const satisfies Record<DueKind, string>;
const KINDS = Object.keys(PASS_OF) as DueKind[];
const BY_TIME = ['create', 'verify'] as const;

const REST_AFTER_MS = 60_000;
/** The longest sleep. A longer timer would be late after the clock is set forward. */
const LONGEST_SLEEP_MS = 1_000;
/** All accounts are read again within this time, so that no change is missed for longer. */
const READ_IN_S = 60;
/** A read waits until it covers this many accounts, or for `LONGEST_READ_S`, because each read costs a transaction. */
const READ_TOGETHER = 300;
const LONGEST_READ_S = 20;
const MOST_NAMED = 20;

interface DueDeps extends AccountsDeps {
  readonly owned: ReadonlyMap<string, OwnedAccount>;
  readonly sweeps: readonly Sweep[];
}

export class DueAccounts {
  readonly #deps: DueDeps;
  #next = Number.POSITIVE_INFINITY;
  #wakesAt = Number.POSITIVE_INFINITY;
  #wakeSooner: () => void = () => {};
  #place = 0;
  #unreadS = 0;
  /** The accounts of the settings, and accounts without settings that were logged. */
  readonly #known: Set<string>;

  constructor(deps: DueDeps) {
    this.#deps = deps;
    this.#known = new Set(deps.config.accounts.map(({ name }) => name));
  }

  /** Wakes each account when a create or a verification comes due in it, until `stop` aborts. */
  async wakeInTime(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const sooner = Promise.withResolvers<void>();
      this.#wakeSooner = sooner.resolve;
      const now = this.#until('create');
      this.#wakesAt = Math.min(this.#next, now + LONGEST_SLEEP_MS);
      const slept = this.#deps.clock.sleep(this.#wakesAt - now, stop).catch(() => undefined);
      await Promise.race([slept, sooner.promise]);
      if (!stop.aborted) this.wakeDue();
    }
  }

  /** Wakes the accounts with a due create or verification. Look-ups of followed orders wait for `tick`. */
  wakeDue(): void {
    if (this.#until('create') < this.#next) return;
    const accounts = [...this.#deps.owned.values()];
    for (const kind of BY_TIME) this.#wake(kind, accounts);
    this.#next = Number.POSITIVE_INFINITY;
    for (const account of accounts) this.#expect(account);
  }

  /** Wakes accounts with due look-ups of followed orders. Must be called at each tick of `schedule.cron`. */
  tick(): void {
    this.#wake('follow', [...this.#deps.owned.values()]);
  }

  async read(names: readonly string[]): Promise<void> {
    for (const { account, ...times } of await dueTimes(this.#deps.store.db, names)) this.#take(account, times);
  }

  /** Looks in all accounts for rows that wait to be sent. Logs once each account that has such rows and no settings. */
  async findNewRows(): Promise<void> {
    const { store, log } = this.#deps;
    const unknown: string[] = [];
    for (let place: string | undefined = ''; place !== undefined;) {
      const { due, next } = await accountsToSend(store.db, place);
      for (const [name, create] of due) {
        if (!this.#known.has(name)) unknown.push(name);
        this.#take(name, { create });
      }
      place = next;
    }
    if (unknown.length === 0) return;
    for (const name of unknown) this.#known.add(name);
    const facts = { count: unknown.length, accounts: unknown.slice(0, MOST_NAMED) };
    log.warn(facts, 'orders wait for accounts that are not in the settings; add these accounts to the settings');
  }

  /** Makes `readNext` wake the pass in each account that has work for the pass. Wakes the only account at once. */
  sweep(pass: string): void {
    for (const account of this.#deps.owned.values()) {
      if (this.#isOnly) account.wake(pass);
      else if (!account.sweepsToRun.includes(pass)) account.sweepsToRun = [...account.sweepsToRun, pass];
    }
  }

  /** Reads a few accounts at a time, and all in a minute if called each second. During a sweep each call reads some. */
  async readNext(all: readonly string[]): Promise<void> {
    const { store, owned } = this.#deps;
    this.#unreadS += 1;
    const count = Math.ceil((all.length * this.#unreadS) / READ_IN_S);
    const isSweeping = all.some((name) => owned.get(name)?.sweepsToRun.length !== 0);
    if (!isSweeping && count < READ_TOGETHER && this.#unreadS < LONGEST_READ_S) return;
    this.#unreadS = 0;
    if (this.#place >= all.length) this.#place = 0;
    const slice = all.slice(this.#place, this.#place + count);
    if (slice.length === 0) return;
    const accounts = slice.flatMap((name) => owned.get(name) ?? []);
    for (const { wired } of accounts) await wired?.app.restraints.read();
    await this.read(slice);
    for (const sweep of this.#deps.sweeps) {
      const toSweep = accounts.filter((account) => account.sweepsToRun.includes(sweep.name));
      if (toSweep.length === 0) continue;
      const names = toSweep.map(({ name }) => name);
      const found = new Set(await sweep.accounts(store.db, names));
      for (const account of toSweep) {
        account.sweepsToRun = account.sweepsToRun.filter((name) => name !== sweep.name);
        if (found.has(account.name)) account.wake(sweep.name);
      }
    }
    this.#place += slice.length;
  }

  /** Wakes a wired account for due work. Stops an account without work after a minute, or at once if `isCrowded`. */
  async wakeOrStop(account: OwnedAccount, isCrowded: boolean): Promise<void> {
    const { wired, due } = account;
    if (wired === undefined) return;
    await wired.app.eachSecond();
    if (wired.app.wrongTimes.dueInMs <= 0) account.wake('uncorrected');
    if (wired.app.restraints.isKeyOther) account.wake('create');
    // A long pass, or a caller that uses the account, may bring new due times.
    if (wired.isBusy) await this.read([account.name]);
    const kinds = KINDS.filter((kind) => due.isDue(kind, this.#until(kind)));
    for (const pass of new Set(kinds.map((kind) => PASS_OF[kind]))) if (wired.mayBegin(pass)) account.wake(pass);
    const soon = isCrowded ? 0 : this.#deps.clock.now().getTime() + REST_AFTER_MS;
    // A follow time that awaits a tick keeps no account wired, because the next tick may be far away.
    const isAwaited = kinds.length > 0 || BY_TIME.some((kind) => due.isDue(kind, soon));
    const isIdle = isCrowded || wired.idleMs >= REST_AFTER_MS;
    if (!this.#isOnly && !isAwaited && isIdle && !wired.isBusy && !wired.isRecovering) wired.stop();
  }

  get #isOnly(): boolean {
    return this.#deps.config.accounts.length === 1;
  }

  #take(name: string, times: Parameters<DueTimes['read']>[0]): void {
    const account = this.#deps.owned.get(name);
    if (account === undefined) return;
    account.due.read(times);
    for (const kind of KINDS) if (kind in times) this.#wake(kind, [account]);
    this.#expect(account);
  }

  #wake(kind: DueKind, accounts: readonly OwnedAccount[]): void {
    const due = accounts.filter((account) => account.due.take(kind, this.#until(kind)));
    for (const account of due) account.wake(PASS_OF[kind]);
  }

  #expect({ due }: OwnedAccount): void {
    this.#next = Math.min(this.#next, ...BY_TIME.map((kind) => due.next(kind)));
    if (this.#next < this.#wakesAt) this.#wakeSooner();
  }

  #until(kind: DueKind): number {
    return (kind === 'follow' ? this.#deps.tickedAt() : this.#deps.clock.now()).getTime();
  }
}
