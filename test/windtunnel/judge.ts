import type { SandboxExchange } from '../../src/extensions/sandbox/exchange.ts';
import type { Answer } from './faults.ts';
import type { Arrival, Watcher } from './front.ts';
import type { Row, Shop } from './shop.ts';

/** The longest time in which a request of a process that was killed arrives. */
const ON_ITS_WAY_MS = 100;
/** A process that ends so soon after it has read such an answer may not have written that down. */
const WRITTEN_WITHIN_MS = 1_000;
const MOST_MEMORY_BYTES = 700 * 1_048_576;
const MOST_NAMED = 20;

/** The promises of the program, each account for itself. */
interface Limits {
  readonly requests: number;
  readonly intervalMs: number;
  /** Requests at a time. */
  readonly concurrency: number;
}

/** An answer that asked to wait, in monotonic milliseconds. */
interface Wait {
  readonly readAt: number;
  readonly until: number;
  /** Requests that came before the time: the requests that were on their way, one fewer than there may be at a time. */
  later: number;
}

/** The result of a tunnel. */
export interface Verdict {
  readonly orders: number;
  readonly preOrders: number;
  readonly requests: number;
  readonly held: number;
  /** Answers that asked to wait, and were read by a process that lived on. */
  readonly waits: number;
  /** Milliseconds from a kill until each account of the killed process had its next request, in order. */
  readonly takeOverMs: readonly number[];
  /** The broken promises. */
  readonly violations: readonly string[];
}

/** The evidence to judge, once the processes have ended. */
interface Remains {
  readonly shop: Shop;
  /** The exchange as an account has it. */
  readonly exchangeOf: (account: string) => SandboxExchange;
  /** Orders need not be settled. */
  readonly isBrokenOff: boolean;
}

/** The requests of an order, and the acts of the exchange that were seen. */
interface Sent {
  /** A create has left, and no answer proved that it was not taken. */
  mayBeTaken: boolean;
  doubled: number;
  wasForbidden: boolean;
  isRejected: boolean;
}

/** Sees the requests as the exchange does, what the shops insert and what the processes say. */
export class Judge implements Watcher {
  readonly #limits: Limits;
  readonly #say: (text: string) => void;
  readonly #inserted = new Map<string, string>();
  readonly #abandoned = new Set<string>();
  readonly #recent = new Map<string, number[]>();
  readonly #sent = new Map<string, Sent>();
  readonly #waits = new Map<string, Wait[]>();
  /** When processes were killed and stopped. */
  readonly #interruptions: number[] = [];
  /** Accounts whose process was killed, and when. */
  readonly #killedAt = new Map<string, number>();
  readonly #takeOverMs: number[] = [];
  readonly #violations = new Set<string>();
  readonly #taken = new Set<string>();
  /** When requests came. */
  readonly #arrivals: number[] = [];
  #waitsRead = 0;
  #onDriven = () => {};
  /** The statuses that the exchange has shown of each order, one after the other. */
  readonly statuses = new Map<string, string[]>();

  constructor(limits: Limits, say: (text: string) => void) {
    this.#limits = limits;
    this.#say = say;
  }

  fail(what: string): void {
    this.#say(`BROKEN ${what}`);
    this.#violations.add(what);
  }

  inserted(account: string, id: string): void {
    this.#inserted.set(id, account);
  }

  /** A person may have ended the order. */
  abandoned(id: string): void {
    this.#abandoned.add(id);
  }

  arrived({ isCreate, id }: Arrival, at: number): void {
    const account = accountOf(id);
    this.#arrivals.push(at);
    const { requests, intervalMs } = this.#limits;
    const recent = (this.#recent.get(account) ?? []).filter((one) => one > at - intervalMs);
    recent.push(at);
    this.#recent.set(account, recent);
    if (recent.length > requests) this.fail(`${account}: ${recent.length} requests in ${intervalMs} ms`);
    this.#checkWaits(account, at, isCreate ? 'create' : 'look-up');
    if (isCreate) {
      const sent = this.#of(id);
      if (sent.mayBeTaken) this.fail(`${id} was sent again, although it may have been taken`);
      sent.mayBeTaken = true;
    }
    const killedAt = this.#killedAt.get(account);
    if (killedAt === undefined || at < killedAt + ON_ITS_WAY_MS) return;
    this.#takeOverMs.push(at - killedAt);
    this.#killedAt.delete(account);
    if (this.#killedAt.size === 0) this.#onDriven();
  }

  /** The orders of which a create came that may have been taken. */
  get created(): ReadonlySet<string> {
    return new Set([...this.#sent].filter(([, { mayBeTaken }]) => mayBeTaken).map(([id]) => id));
  }

  notTaken({ isCreate, id }: Arrival, status: number): void {
    if (!isCreate) return;
    const sent = this.#of(id);
    sent.mayBeTaken = false;
    // The first 403 may speak of the account, the next one is about the order.
    sent.isRejected ||= status === 400 || (status === 403 && sent.wasForbidden);
    sent.wasForbidden ||= status === 403;
  }

  doubled({ id }: Arrival): void {
    this.#of(id).doubled += 1;
  }

  askedToWait({ id }: Arrival, readAt: number, until: number): void {
    const account = accountOf(id);
    this.#waitsRead += 1;
    this.#waits.set(account, [...(this.#waits.get(account) ?? []), { readAt, until, later: 0 }]);
  }

  shown({ id }: Arrival, { status, body }: Answer): void {
    if (status !== 200) return;
    const { order } = JSON.parse(body) as { readonly order?: { readonly status: string } };
    const statuses = this.statuses.get(id) ?? [];
    if (order !== undefined && statuses.at(-1) !== order.status) statuses.push(order.status);
    this.statuses.set(id, statuses);
  }

  strayed(where: string): void {
    this.fail(`a request went ${where}`);
  }

  /** A process is killed or stopped about now. */
  interrupted(): void {
    this.#interruptions.push(performance.now());
  }

  /** The process that drove these accounts was killed. */
  killed(accounts: readonly string[], at: number): void {
    for (const account of accounts) this.#killedAt.set(account, at);
  }

  /** Returns the broken promises that it has not returned before. */
  takeViolations(): readonly string[] {
    const newest = [...this.#violations].filter((one) => !this.#taken.has(one));
    for (const one of newest) this.#taken.add(one);
    return newest;
  }

  /** The longest time without a request from this moment on, up to the last request. */
  longestPauseMs(since: number): number {
    let [longest, last] = [0, since];
    for (const at of this.#arrivals) {
      if (at <= since) continue;
      longest = Math.max(longest, at - last);
      last = at;
    }
    return longest;
  }

  /** Resolves once each account of a process that was killed has an owner again. */
  async allDriven(): Promise<void> {
    if (this.#killedAt.size > 0) await new Promise<void>((resolve) => (this.#onDriven = resolve));
  }

  /** The most memory that a process was seen to take. */
  tookMemory(bytes: number): void {
    if (bytes > MOST_MEMORY_BYTES) this.fail(`a process took ${Math.round(bytes / 1_048_576)} MiB of memory`);
  }

  async judge(remains: Remains): Promise<Verdict> {
    const rows = await remains.shop.rows();
    const states = new Map(rows.map((row) => [row.id, row]));
    for (const [id, account] of this.#inserted) {
      if (states.get(id)?.account !== account) this.fail(`${id} is not in the table`);
    }
    const preOrders = this.#judgeExchange(remains, rows);
    await this.#judgeHistory(remains.shop, rows);
    return {
      orders: rows.length,
      preOrders,
      requests: this.#arrivals.length,
      held: rows.filter(({ state }) => state === 'held').length,
      waits: this.#waitsRead,
      takeOverMs: this.#takeOverMs.toSorted((one, other) => one - other),
      violations: [...this.#violations].slice(0, MOST_NAMED),
    };
  }

  #checkWaits(account: string, at: number, what: string): void {
    const waits = (this.#waits.get(account) ?? []).filter(({ until }) => until > at);
    this.#waits.set(account, waits);
    for (const wait of waits) {
      const wasWritten = this.#interruptions.every((one) => Math.abs(one - wait.readAt) > WRITTEN_WITHIN_MS);
      if (!wasWritten) continue;
      wait.later += 1;
      if (wait.later >= this.#limits.concurrency) {
        this.fail(
          `${account}: ${wait.later} requests after a Retry-After was read, the last a ${what} ${Math.round(wait.until - at)} ms early`,
        );
      }
    }
  }

  /** Every order is at the exchange once, unless a person has to say whether it is. */
  #judgeExchange({ exchangeOf, isBrokenOff }: Remains, rows: readonly Row[]): number {
    let all = 0;
    for (const { account, id, state } of rows) {
      const made = exchangeOf(account).preOrdersOf(id).length;
      const { doubled, isRejected } = this.#of(id);
      all += made;
      if (made > 1 + doubled) this.fail(`${id} was created ${made} times`);
      if (state === 'final' && made === 0) this.fail(`${id} is final, and the exchange does not know it`);
      const isSettled =
        isBrokenOff ||
        state === 'final' ||
        state === 'held' ||
        (state === 'rejected' && isRejected) ||
        (state === 'abandoned' && this.#abandoned.has(id));
      if (!isSettled) this.fail(`${id} is ${state}`);
    }
    return all;
  }

  /** The state of each order is its last event, and every event continues from the one before it. */
  async #judgeHistory(shop: Shop, rows: readonly Row[]): Promise<void> {
    const last = new Map<string, string | null>();
    for (const { id, before, after } of await shop.stateEvents()) {
      if (before !== (last.get(id) ?? 'pending')) this.fail(`${id}: an event says ${before}, it was ${last.get(id)}`);
      last.set(id, after);
    }
    for (const { id, state } of rows) {
      if ((last.get(id) ?? 'pending') !== state) this.fail(`${id} is ${state}, its last event says ${last.get(id)}`);
    }
  }

  #of(id: string): Sent {
    const known = this.#sent.get(id);
    if (known !== undefined) return known;
    const sent = { mayBeTaken: false, doubled: 0, wasForbidden: false, isRejected: false };
    this.#sent.set(id, sent);
    return sent;
  }
}

/** Ids begin with the name of their account. */
function accountOf(id: string): string {
  return id.split(':')[0] ?? '';
}
