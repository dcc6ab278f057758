import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import {
  decideRestraints,
  stoppedForMs,
  isInDoubt,
  isProbed,
  RESUMED_RESTRAINTS,
  slowedAgain,
  slowedFrom,
  takenOver,
  type AccountNews,
  type Lane,
  type Restraint,
  type RestraintKind,
  type RestraintSettings,
  type RestraintChange,
  type Restraints,
} from '../../accounts/rules/restraints.ts';
import { after } from '../../base/instant.ts';
import { messageOf } from '../../base/text.ts';
import type { AccountState } from '../../exchange/account.ts';
import { endHolds, readHolds, setHold } from '../../store/tables/account-holds.ts';
import { readAccountFact, setAccountFact } from '../../store/tables/accounts.ts';
import type { Store, Transaction } from '../../store/port.ts';
import type { Observers } from './outcomes.ts';

interface RestraintDeps {
  readonly account: string;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Logger;
  readonly observers: Pick<Observers, 'tell'>;
  readonly settings: RestraintSettings;
  readonly key: { readonly place: string; readonly reread: () => boolean };
}

const FACTS = {
  keyTaken: 'holds.keyTaken',
  unknownInARow: 'holds.unknownInARow',
  forbiddenEnded: 'holds.forbiddenEnded',
} as const;

export class AccountRestraints implements AccountState {
  /** True if the key may be new, and no create pass has yet made due the orders that a 401 answered. */
  isKeyOther = false;
  /** When a changed key was read. Undefined before, and once the exchange has accepted or refused that key. */
  keyUntriedSince: Date | undefined;
  timesHeld = 0;
  /** The number, from 1, of the `forbidden` restraint in force, or else of the next one. */
  forbiddenHold = 1;
  readonly #deps: RestraintDeps;
  readonly #began: { readonly at: number; readonly monotonic: number };
  #state: Restraints = { restraints: [], unknownInARow: 0 };
  #isKeyTaken = false;
  #isKeyRefused = false;
  #writing = 0;
  /** Restraints that could not be written. Their absence from the database does not show that a person ended them. */
  readonly #unwritten = new Set<RestraintKind>();

  constructor(deps: RestraintDeps) {
    this.#deps = deps;
    this.#began = { at: deps.clock.now().getTime(), monotonic: deps.clock.monotonic() };
  }

  async open(): Promise<void> {
    const { store, account } = this.#deps;
    const fact = async (name: string) => await readAccountFact(store.db, { account, name });
    const facts = [fact(FACTS.keyTaken), fact(FACTS.unknownInARow), fact(FACTS.forbiddenEnded)] as const;
    const [keyTaken, unknown, forbiddenEnded, stored] = await Promise.all([...facts, readHolds(store.db, account)]);
    this.#isKeyTaken = keyTaken !== undefined;
    const unknownInARow = Number(unknown ?? 0);
    this.forbiddenHold = Number(forbiddenEnded ?? 0) + 1;
    this.isKeyOther = stored.some(({ kind }) => kind === 'key-refused');
    const restraints = stored.map((restraint) => takenOver(restraint, this.now()));
    // Without `slowed`, an outage may have caused the counted outcomes, so the count stays below `slowedFrom`.
    const most = isSlowed(restraints) ? unknownInARow : slowedFrom(this.#deps.settings) - 1;
    this.#state = { restraints, unknownInARow: Math.min(unknownInARow, most) };
  }

  async read(): Promise<void> {
    const { store, account } = this.#deps;
    const before = { timesHeld: this.timesHeld, isWriting: this.#writing > 0 };
    const stored = await readHolds(store.db, account);
    // `stored` may lack a restraint that was written during the read.
    const isWritten = before.isWriting || this.#writing > 0 || this.timesHeld > before.timesHeld;
    const isStored = ({ kind }: Restraint) =>
      isWritten || this.#unwritten.has(kind) || stored.some((one) => one.kind === kind);
    const isResumed = (restraint: Restraint) => RESUMED_RESTRAINTS.includes(restraint.kind) && !isStored(restraint);
    const own = this.all.filter((restraint) => restraint.until !== null && !isResumed(restraint));
    const restraints = [...stored.filter(({ until }) => until === null), ...own];
    // If a person ended `slowed`, the count begins anew.
    const isEnded = isSlowed(this.all) && !isSlowed(restraints);
    this.#state = isEnded ? { restraints, unknownInARow: 0 } : { ...this.#state, restraints };
  }

  get isInDoubt(): boolean {
    return isInDoubt(this.#state, this.#deps.settings);
  }

  get all(): readonly Restraint[] {
    return this.#state.restraints;
  }

  /** True if the exchange refuses the key and never took a key of the account, so the setting is wrong. */
  get isKeyWrong(): boolean {
    return this.#isKeyRefused && !this.#isKeyTaken;
  }

  now(): Date {
    return new Date(this.#began.at + Math.floor(this.#deps.clock.monotonic() - this.#began.monotonic));
  }

  stoppedForMs(lane: Lane): number {
    return stoppedForMs(this.all, lane, this.now());
  }

  isProbed(lane: Lane): boolean {
    return !this.#isKeyTaken || isProbed(this.all, lane, this.now());
  }

  note(news: AccountNews, askedAt: Date): void {
    const { tell } = this.#deps.observers;
    const isServed = news.kind === 'served';
    const isFirstTaken = isServed && !this.#isKeyTaken;
    if (isServed || news.kind === 'key-refused') {
      tell(isServed ? { kind: 'exchange.served' } : { kind: 'key.refused', place: this.#deps.key.place });
      this.#isKeyTaken ||= isServed;
      this.#isKeyRefused = !isServed;
      if (this.keyUntriedSince !== undefined && askedAt >= this.keyUntriedSince) this.keyUntriedSince = undefined;
    }
    const change = decideRestraints(this.#state, news, askedAt, this.now(), this.#deps.settings);
    const { unknownInARow, evidence } = change;
    const isCountChanged = unknownInARow !== this.#state.unknownInARow;
    this.#state = { ...this.#state, evidence };
    const facts = [
      ...(isFirstTaken ? [[FACTS.keyTaken, 'yes']] : []),
      ...(isCountChanged ? [[FACTS.unknownInARow, String(unknownInARow)]] : []),
      ...(change.ended.includes('forbidden') ? [[FACTS.forbiddenEnded, String(this.forbiddenHold)]] : []),
    ] as const;
    if (change.set === undefined && change.ended.length === 0 && facts.length === 0) return;
    const isLimited = this.all.some(({ kind }) => kind === 'rate-limited');
    if (news.kind === 'rate-limited' && news.hadRoom === true && !isLimited) {
      const message =
        'the exchange answers 429 although exchange.rate has room: its limit is lower, or something else uses the key';
      tell({ kind: 'failed', failure: { message, cause: '429', facts: { retryAfterMs: news.retryAfterMs } } });
    }
    this.#apply(change);
    void this.#write(change, facts);
    if (news.kind === 'key-refused') this.rereadKey();
  }

  rereadKey(): void {
    if (!this.#deps.key.reread()) return;
    this.#isKeyRefused = false;
    this.isKeyOther = true;
    this.keyUntriedSince = this.now();
    const restraints = this.all.map((restraint) =>
      restraint.kind === 'key-refused' ? { ...restraint, until: this.now() } : restraint,
    );
    this.#state = { ...this.#state, restraints };
  }

  /** Makes the next create wait if creates are slowed. Call the result when the transaction is durable. */
  claimWithin(tx: Transaction): Promise<() => void> {
    const slowed = this.all.find(({ kind }) => kind === 'slowed');
    if (slowed === undefined) return Promise.resolve(() => {});
    return this.#setWithin(tx, slowedAgain(slowed, this.#state.unknownInARow, this.now(), this.#deps.settings));
  }

  /** Stops creates until a person allows them. Call the result when the transaction is durable. */
  guardWithin(tx: Transaction, reason: string): Promise<() => void> {
    return this.#setWithin(tx, { kind: 'guarded', since: this.now(), until: null, reason, actor: null });
  }

  async #setWithin(tx: Transaction, set: Restraint): Promise<() => void> {
    const { account, clock } = this.#deps;
    await setHold(tx, account, this.#asStored(set), clock.now());
    return () => this.#apply({ ...this.#state, set, ended: [] });
  }

  #apply({ set, ended, unknownInARow }: RestraintChange): void {
    if (set !== undefined) this.timesHeld += 1;
    if (ended.includes('forbidden')) this.forbiddenHold += 1;
    const left = this.all.filter(({ kind }) => !ended.includes(kind) && kind !== set?.kind);
    this.#state = { ...this.#state, restraints: set === undefined ? left : [...left, set], unknownInARow };
  }

  async #write({ set, ended }: RestraintChange, facts: readonly (readonly string[])[]): Promise<void> {
    const { store, account, clock, log } = this.#deps;
    this.#writing += 1;
    try {
      await store.writer.write(async (tx) => {
        const now = clock.now();
        for (const [name = '', value = ''] of facts) await setAccountFact(tx, { account, name, value, now });
        if (ended.length > 0) {
          await endHolds(tx, account, ended, { reason: 'the exchange took a request', actor: null, now });
        }
        if (set !== undefined) await setHold(tx, account, this.#asStored(set), now);
      });
      if (set !== undefined) this.#unwritten.delete(set.kind);
    } catch (error) {
      if (set !== undefined) this.#unwritten.add(set.kind);
      // The restraint stays in force in this process.
      log.error({ cause: messageOf(error) }, 'a restraint of the account cannot be written');
    } finally {
      this.#writing -= 1;
    }
  }

  /** Returns the restraint in times of the wall clock, because other processes read the stored times. */
  #asStored(restraint: Restraint): Restraint {
    const aheadMs = this.#deps.clock.now().getTime() - this.now().getTime();
    const until = restraint.until === null ? null : after(restraint.until, aheadMs);
    return { ...restraint, since: after(restraint.since, aheadMs), until };
  }
}

function isSlowed(restraints: readonly Restraint[]): boolean {
  return restraints.some(({ kind }) => kind === 'slowed');
}
