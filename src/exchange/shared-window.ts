import type { Clock } from '../clock.ts';
import { RateWindow, type RateLimit, type SpentRequests } from './rate-window.ts';

/**
 * The sliding window of accounts that share one limit: the requests of each count for all. Room is dealt out in turn, one
 * request each, so that no account waits for the backlog of another.
 */
export class SharedWindow {
  /** Of all accounts. */
  readonly window: RateWindow;
  readonly #clock: Clock;
  /** The members that watch; the one whose request started last comes last. */
  #members: Member[] = [];
  /** While room is dealt out: the only member that may start a request. */
  #turnOf: Member | undefined;
  #isDealing = false;

  /** `spent` are requests of earlier owners, of all the accounts. */
  constructor(limit: RateLimit, spent: readonly SpentRequests[], clock: Clock) {
    this.window = new RateWindow(limit, spent);
    this.#clock = clock;
  }

  /** The window as one account uses it; `spent` are requests of its own, which the shared one knows already. */
  member(spent: readonly SpentRequests[]): RateWindow {
    return new Member(this, spent);
  }

  join(member: Member): Disposable {
    this.#members.unshift(member);
    return { [Symbol.dispose]: () => (this.#members = this.#members.filter((one) => one !== member)) };
  }

  waitMs(member: Member, now: number): number | undefined {
    return this.#isDealing && this.#turnOf !== member ? undefined : this.window.waitMs(now);
  }

  started(member: Member, now: number): void {
    this.window.start(now);
    if (this.#turnOf === member) this.#turnOf = undefined;
    const others = this.#members.filter((one) => one !== member);
    if (others.length < this.#members.length) this.#members = [...others, member];
    // The queues of members without room would go on.
    if (!this.#isDealing) for (const other of others) other.changed();
  }

  deal(): void {
    if (this.#isDealing) return;
    this.#isDealing = true;
    for (let isAnyStarted = true; isAnyStarted;) {
      isAnyStarted = false;
      for (const member of this.#members) {
        if (this.window.waitMs(this.#clock.monotonic()) !== 0) break;
        this.#turnOf = member;
        member.changed();
        isAnyStarted ||= this.#turnOf === undefined;
      }
    }
    this.#turnOf = undefined;
    this.#isDealing = false;
    for (const member of this.#members) member.changed();
  }
}

/** Counts the requests of one account for its lease; whether one may start, all accounts decide. */
class Member extends RateWindow {
  readonly #shared: SharedWindow;
  #onChange = (): void => {};

  constructor(shared: SharedWindow, spent: readonly SpentRequests[]) {
    super(shared.window.limit, spent);
    this.#shared = shared;
  }

  changed(): void {
    this.#onChange();
  }

  override watch(onChange: () => void): Disposable {
    this.#onChange = onChange;
    return this.#shared.join(this);
  }

  override roomCame(): void {
    this.#shared.deal();
  }

  override waitMs(now: number): number | undefined {
    return this.#shared.waitMs(this, now);
  }

  override start(now: number): void {
    super.start(now);
    this.#shared.started(this, now);
  }

  override slowDown(now: number): void {
    this.#shared.window.slowDown(now);
  }

  override end(now: number, wasSent: boolean): void {
    super.end(now, wasSent);
    this.#shared.window.end(now, wasSent);
    this.#shared.deal();
  }
}
