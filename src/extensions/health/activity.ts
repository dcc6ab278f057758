import type { Clock } from '../../base/clock.ts';
import { sumOf } from '../../base/words.ts';
import { groupOf, groupsOf, type Config } from '../../settings/config.ts';
import type { Listen, Listener, LiveAccount, OverdueLookups, ProcessEvent } from '../../orders/pass/process-events.ts';
import type { AccountLease, Writer } from '../../store/port.ts';
import type { LiveStatus, LookupFacts } from './status/status.ts';

/** Receives the events of all accounts of a process. Must return quickly, because the accounts wait. */
export type ProcessListener = (account: string, event: ProcessEvent) => void;

type PassActivity = Omit<LiveStatus['passes'][number], 'pass'>;

const NEVER: PassActivity = { wantedSince: null, runningSince: null, goodAt: null };
const RECENT_SECONDS = 10;
/** The most orders that are listed as not written, and for how many ms after the last try. */
const MOST_KEPT_BACK = 20;
const KEPT_BACK_MS = 15 * 60_000;
/** The number of newest changes whose delays are kept. */
const MOST_CHANGES = 200;

/** The state of an account in this process, collected from events. No pass reads this state. */
export class Activity implements Listener {
  readonly account: string;
  live: LiveAccount | undefined;
  /** The newest writer of the account. In PostgreSQL each account has a writer of its own. */
  writer: Pick<Writer, 'failure'> | undefined;
  inFlight = 0;
  answeredAt: string | null = null;
  failure: string | undefined;
  readonly passes = new Map<string, PassActivity>();
  overdue: OverdueLookups | undefined;
  changesSeen = 0;
  /** The delays of the newest changes in ms, in any order. */
  readonly seenLate: number[] = [];
  readonly #clock: Clock;
  readonly #listeners: readonly ProcessListener[];
  readonly #requests = new Map<number, number>();
  readonly #keptBack = new Map<string, { readonly since: Date; readonly triedAt: Date; readonly cause: string }>();

  constructor(account: string, clock: Clock, listeners: readonly ProcessListener[] = []) {
    this.account = account;
    this.#clock = clock;
    this.#listeners = listeners;
  }

  hear(event: ProcessEvent): void {
    switch (event.kind) {
      case 'account.wired':
        this.live = event.live;
        break;
      case 'request.left':
        this.inFlight += 1;
        break;
      case 'request.ended':
        this.inFlight -= 1;
        this.#count();
        if (event.isAnswered) this.answeredAt = this.#now();
        break;
      case 'exchange.failed':
        this.failure = event.cause;
        break;
      case 'pass.wanted':
        this.#note(event.pass, { wantedSince: this.passes.get(event.pass)?.wantedSince ?? this.#now() });
        break;
      case 'pass.began':
        this.#note(event.pass, { runningSince: this.#now() });
        break;
      case 'pass.ended':
        this.#note(event.pass, event.isGood ? { ...NEVER, goodAt: this.#now() } : { runningSince: null });
        break;
      case 'change.seen':
        this.seenLate[this.changesSeen % MOST_CHANGES] = event.lateMs;
        this.changesSeen += 1;
        break;
      case 'followed.read':
        this.overdue = event.overdue;
        break;
      case 'order.written':
        this.#keptBack.delete(event.externalOrderId);
        break;
      case 'order.unwritten':
        this.#keepBack(event.externalOrderId, event.cause);
        break;
      default:
    }
    for (const listen of this.#listeners) listen(this.account, event);
  }

  get recentRequests(): number {
    const before = this.#second() - RECENT_SECONDS;
    return sumOf([...this.#requests], ([second, requests]) => (second > before ? requests : 0));
  }

  keptBack(now: Date): LiveStatus['keptBack'] {
    return [...this.#keptBack]
      .filter(([, { triedAt }]) => now.getTime() - triedAt.getTime() < KEPT_BACK_MS)
      .map(([externalOrderId, { since, cause }]) => ({ externalOrderId, since: since.toISOString(), cause }));
  }

  newsOf(externalOrderId: string, now: Date) {
    return { kept: this.keptBack(now).find((one) => one.externalOrderId === externalOrderId), failure: this.failure };
  }

  /** The reason why the account cannot be written; undefined if it can. */
  get unwritten(): string | undefined {
    return (this.writer?.failure ?? this.live?.accountLease.failure)?.message;
  }

  close(): void {
    this.live = undefined;
    this.overdue = undefined;
    for (const name of this.passes.keys()) this.#note(name, { wantedSince: null, runningSince: null });
  }

  #note(name: string, times: Partial<PassActivity>): void {
    this.passes.set(name, { ...NEVER, ...this.passes.get(name), ...times });
  }

  #keepBack(externalOrderId: string, cause: string): void {
    const triedAt = this.#clock.now();
    const since = this.#keptBack.get(externalOrderId)?.since ?? triedAt;
    this.#keptBack.delete(externalOrderId);
    this.#keptBack.set(externalOrderId, { since, triedAt, cause });
    const [oldest] = this.#keptBack.keys();
    if (this.#keptBack.size > MOST_KEPT_BACK && oldest !== undefined) this.#keptBack.delete(oldest);
  }

  #now(): string {
    return this.#clock.now().toISOString();
  }

  #second(): number {
    return Math.floor(this.#clock.monotonic() / 1_000);
  }

  #count(): void {
    const second = this.#second();
    this.#requests.set(second, (this.#requests.get(second) ?? 0) + 1);
    for (const old of this.#requests.keys()) if (old <= second - RECENT_SECONDS) this.#requests.delete(old);
  }
}

export class Activities {
  /** The newest lease stands for all, because in PostgreSQL one heartbeat renews all leases of the process. */
  lease: Pick<AccountLease, 'failure'> | undefined;
  readonly listener: Listen = async ({ account, store }) => Object.assign(this.of(account), { writer: store.writer });
  readonly #clock: Clock;
  readonly #listeners: ProcessListener[] = [];
  readonly #byAccount = new Map<string, Activity>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): Iterable<Activity> {
    return this.#byAccount.values();
  }

  find(account: string): Activity | undefined {
    return this.#byAccount.get(account);
  }

  of(account: string): Activity {
    const activity = this.find(account) ?? new Activity(account, this.#clock, this.#listeners);
    this.#byAccount.set(account, activity);
    return activity;
  }

  listen(listener: ProcessListener): void {
    this.#listeners.push(listener);
  }
}

type RateSettings = Pick<Config, 'accounts' | 'exchange'>;

export function lookupFacts(activities: Activities, config: RateSettings, account?: string): LookupFacts {
  const asked = askedOf(activities, account);
  const waiting = asked.flatMap(({ overdue }) => overdue ?? []);
  const [first] = waiting.map(({ since }) => since.toISOString()).toSorted();
  const late = asked.flatMap(({ seenLate }) => seenLate).toSorted((a, b) => a - b);
  const lateOf = (share: number) => late[Math.max(0, Math.ceil(late.length * share) - 1)] ?? 0;
  return {
    rate: rateUse(activities, config, account),
    seenLate: { count: sumOf(asked, ({ changesSeen }) => changesSeen), p50Ms: lateOf(0.5), p99Ms: lateOf(0.99) },
    overdue: first === undefined ? null : { orders: sumOf(waiting, ({ orders }) => orders), since: first },
  };
}

export function askedOf(activities: Activities, account: string | undefined): readonly Activity[] {
  return [...activities.all].filter((activity) => account === undefined || activity.account === account);
}

function rateUse(activities: Activities, config: RateSettings, account?: string): LookupFacts['rate'] {
  const groups = account === undefined ? groupsOf(config) : [groupOf(config, account)];
  const exchanges = new Map(config.accounts.map(({ name, exchange }) => [name, exchange]));
  const intervalMs = RECENT_SECONDS * 1_000;
  const requests = sumOf(groups, ([name = '']) => {
    const { rate } = exchanges.get(name) ?? config.exchange;
    return (rate.requests * intervalMs) / rate.interval;
  });
  const spent = sumOf(groups.flat(), (name) => activities.find(name)?.recentRequests ?? 0);
  return { spent, requests: Math.floor(requests), intervalMs };
}
