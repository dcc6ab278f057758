import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import {
  decideRestraints,
  decideSending,
  isInDoubt,
  RESUMED_HOLDS,
  slowedAgain,
  slowedFrom,
  takenOver,
  type AccountNews,
  type Lane,
  type Hold,
  type HoldKind,
  type HoldSettings,
  type LostCreates,
  type RestraintChange,
  type Restraints,
} from '../../domain/accounts/holds.ts';
import { after } from '../../domain/instant.ts';
import { messageOf } from '../../domain/text.ts';
import type { AccountState } from '../../exchange/account.ts';
import { endHolds, readHolds, setHold } from '../../store/account-holds.ts';
import { readAccountFact, setAccountFact } from '../../store/accounts.ts';
import type { Store, Transaction } from '../../store/port.ts';
import type { Incidents } from './incidents.ts';

interface HoldsDeps {
  readonly account: string;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Logger;
  readonly incidents: Pick<Incidents, 'failed' | 'served' | 'keyRefused'>;
  readonly settings: HoldSettings;
  /** Reads the merchant key again; tells whether there is another one. */
  readonly rereadKey: () => boolean;
}

/** What is remembered of an account beside its holds. */
const FACTS = {
  keyTaken: 'holds.keyTaken',
  unknownInARow: 'holds.unknownInARow',
  forbiddenEnded: 'holds.forbiddenEnded',
} as const;

/**
 * The holds of the account. They stand in the database, where a person sets and ends them; those that replies set bind
 * from the moment of the reply on. Times are kept by the monotonic clock, so that a clock that is set changes no wait.
 */
export class AccountHolds implements AccountState {
  readonly #deps: HoldsDeps;
  readonly #began: { readonly at: number; readonly monotonic: number };
  #holds: readonly Hold[] = [];
  #unknownInARow = 0;
  #evidence: LostCreates | undefined;
  #forbiddenEnded = 0;
  #isKeyTaken = false;
  #isKeyRefused = false;
  #writing = 0;
  /** Those that the database did not take: that they are not there does not mean that a person has ended them. */
  readonly #unwritten = new Set<HoldKind>();
  #timesHeld = 0;

  constructor(deps: HoldsDeps) {
    this.#deps = deps;
    this.#began = { at: deps.clock.now().getTime(), monotonic: deps.clock.monotonic() };
  }

  /** Takes over what the last owner left. */
  async open(): Promise<void> {
    const { store, account } = this.#deps;
    const fact = async (name: string) => await readAccountFact(store.db, { account, name });
    this.#isKeyTaken = (await fact(FACTS.keyTaken)) !== undefined;
    const unknownInARow = Number((await fact(FACTS.unknownInARow)) ?? 0);
    this.#forbiddenEnded = Number((await fact(FACTS.forbiddenEnded)) ?? 0);
    const holds = await readHolds(store.db, account);
    this.#holds = holds.map((hold) => takenOver(hold, this.now()));
    // Without the hold, the last evidence may be an outage, or a person ended the hold.
    const most = this.#isSlowed ? unknownInARow : slowedFrom(this.#deps.settings) - 1;
    this.#unknownInARow = Math.min(unknownInARow, most);
  }

  /** Reads what persons have set and ended, whenever another program has committed. */
  async read(): Promise<void> {
    const { store, account } = this.#deps;
    const before = { timesHeld: this.#timesHeld, isWriting: this.#writing > 0 };
    const stored = await readHolds(store.db, account);
    // One that was written meanwhile may not have been read.
    const isWritten = before.isWriting || this.#writing > 0 || this.#timesHeld > before.timesHeld;
    const isStored = ({ kind }: Hold) =>
      isWritten || this.#unwritten.has(kind) || stored.some((one) => one.kind === kind);
    const isResumed = (hold: Hold) => RESUMED_HOLDS.includes(hold.kind) && !isStored(hold);
    const own = this.#holds.filter((hold) => hold.until !== null && !isResumed(hold));
    const wasSlowed = this.#isSlowed;
    this.#holds = [...stored.filter(({ until }) => until === null), ...own];
    // A person ended the hold: the count begins anew.
    if (wasSlowed && !this.#isSlowed) [this.#unknownInARow, this.#evidence] = [0, undefined];
  }

  get #isSlowed(): boolean {
    return this.#holds.some(({ kind }) => kind === 'slowed');
  }

  get isInDoubt(): boolean {
    return isInDoubt(this.#restraints, this.#deps.settings);
  }

  get #restraints(): Restraints {
    return { holds: this.#holds, unknownInARow: this.#unknownInARow, evidence: this.#evidence };
  }

  get all(): readonly Hold[] {
    return this.#holds;
  }

  /** The number of times that a reply set a hold, since the program started. */
  get timesHeld(): number {
    return this.#timesHeld;
  }

  /** The exchange refuses the key, and has never taken one with this database: a wrong setting, not a passing fault. */
  get isKeyWrong(): boolean {
    return this.#isKeyRefused && !this.#isKeyTaken;
  }

  /** The number of the hold in which a create is refused now (403). */
  get forbiddenHold(): number {
    return this.#forbiddenEnded + 1;
  }

  now(): Date {
    return new Date(this.#began.at + Math.floor(this.#deps.clock.monotonic() - this.#began.monotonic));
  }

  heldForMs(lane: Lane): number {
    if (this.#holds.length === 0) return 0;
    const now = this.now();
    const decision = decideSending(this.#holds, lane, now);
    if (decision.kind !== 'held') return 0;
    const { until } = decision.hold;
    return until === null ? Number.POSITIVE_INFINITY : until.getTime() - now.getTime();
  }

  isProbed(lane: Lane): boolean {
    return !this.#isKeyTaken || decideSending(this.#holds, lane, this.now()).kind === 'probe';
  }

  note(news: AccountNews, askedAt: Date): void {
    const isFirstTaken = news.kind === 'served' && !this.#isKeyTaken;
    if (news.kind === 'served') {
      this.#isKeyTaken = true;
      this.#deps.incidents.served();
    }
    if (news.kind === 'key-refused') this.#deps.incidents.keyRefused();
    if (news.kind === 'served' || news.kind === 'key-refused') this.#isKeyRefused = news.kind === 'key-refused';
    const change = decideRestraints(this.#restraints, news, askedAt, this.now(), this.#deps.settings);
    this.#evidence = change.evidence;
    const facts = [
      ...(isFirstTaken ? [[FACTS.keyTaken, 'yes']] : []),
      ...(change.unknownInARow === this.#unknownInARow ? [] : [[FACTS.unknownInARow, String(change.unknownInARow)]]),
      ...(change.ended.includes('forbidden') ? [[FACTS.forbiddenEnded, String(this.forbiddenHold)]] : []),
    ] as const;
    if (change.set === undefined && change.ended.length === 0 && facts.length === 0) return;
    const isLimited = this.#holds.some(({ kind }) => kind === 'rate-limited');
    if (news.kind === 'rate-limited' && news.hadRoom === true && !isLimited) {
      const message =
        'the exchange answers 429 although exchange.rate has room: its limit is lower, or something else uses the key';
      this.#deps.incidents.failed({ message, cause: '429', facts: { retryAfterMs: news.retryAfterMs } });
    }
    this.#apply(change);
    void this.#write(change, facts);
    if (news.kind === 'key-refused') this.rereadKey();
  }

  /** Reads the merchant key again. Another one is tried at once. */
  rereadKey(): void {
    if (!this.#deps.rereadKey()) return;
    this.#isKeyRefused = false;
    this.#holds = this.#holds.map((hold) => (hold.kind === 'key-refused' ? { ...hold, until: this.now() } : hold));
  }

  /** Makes the next create wait if creates are slowed. Call the result once the transaction is durable. */
  async claimWithin(tx: Transaction): Promise<() => void> {
    const slowed = this.#holds.find(({ kind }) => kind === 'slowed');
    if (slowed === undefined) return () => {};
    const { account, clock, settings } = this.#deps;
    const next = slowedAgain(slowed, this.#unknownInARow, this.now(), settings);
    await setHold(tx, account, this.#asStored(next), clock.now());
    return () => this.#apply({ set: next, ended: [], unknownInARow: this.#unknownInARow });
  }

  /** Stops creates, as one more would pass a limit, until a person lets them go on. Call what it returns once the transaction is durable. */
  async guardWithin(tx: Transaction, reason: string): Promise<() => void> {
    const { account, clock } = this.#deps;
    const set: Hold = { kind: 'guarded', since: this.now(), until: null, reason, actor: null };
    await setHold(tx, account, this.#asStored(set), clock.now());
    return () => this.#apply({ set, ended: [], unknownInARow: this.#unknownInARow });
  }

  #apply({ set, ended, unknownInARow }: RestraintChange): void {
    this.#unknownInARow = unknownInARow;
    if (set !== undefined) this.#timesHeld += 1;
    if (ended.includes('forbidden')) this.#forbiddenEnded += 1;
    const left = this.#holds.filter(({ kind }) => !ended.includes(kind) && kind !== set?.kind);
    this.#holds = set === undefined ? left : [...left, set];
  }

  async #write({ set, ended }: RestraintChange, facts: readonly (readonly string[])[]): Promise<void> {
    const { store, account, clock, log } = this.#deps;
    this.#writing += 1;
    try {
      await store.writer.write(async (tx) => {
        const now = clock.now();
        for (const [name = '', given = ''] of facts) await setAccountFact(tx, { account, name, given, now });
        if (ended.length > 0) {
          await endHolds(tx, account, ended, { reason: 'the exchange took a request', actor: null, now });
        }
        if (set !== undefined) await setHold(tx, account, this.#asStored(set), now);
      });
      if (set !== undefined) this.#unwritten.delete(set.kind);
    } catch (error) {
      if (set !== undefined) this.#unwritten.add(set.kind);
      // It binds this process all the same.
      log.error({ cause: messageOf(error) }, 'a hold of the account cannot be written');
    } finally {
      this.#writing -= 1;
    }
  }

  /** The same hold by the clock on the wall, which other processes read. */
  #asStored(hold: Hold): Hold {
    const aheadMs = this.#deps.clock.now().getTime() - this.now().getTime();
    const until = hold.until === null ? null : after(hold.until, aheadMs);
    return { ...hold, since: after(hold.since, aheadMs), until };
  }
}
