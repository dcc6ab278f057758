import type { Clock } from '../clock.ts';
import { RateWindow, type RateLimit, type SpentRequests } from './rate-window.ts';

/**
 * The sliding window of accounts that share one limit: the requests of each count for all. Room is dealt out in turn, one
 * request each, so that no account waits for the backlog of another.
 */
export class SharedWindow {
  readonly #all: RateWindow;
  readonly #clock: Clock;
  /** Those that watch; the one whose request started last comes last. */
  #members: Member[] = [];
  /** While room is dealt out: the only one that may start a request. */
  #turnOf: Member | undefined;
  #isDealing = false;

  /** `spent` are requests of earlier owners, of all the accounts. */
  constructor(limit: RateLimit, spent: readonly SpentRequests[], clock: Clock) {
    this.#all = new RateWindow(limit, spent);
    this.#clock = clock;
  }

  /** The window as one account uses it; `spent` are requests of its own, which the shared one knows already. */
  member(spent: readonly SpentRequests[]): RateWindow {
    return new Member(this.#all.limit, spent, {
      waitMs: (member, now) => (this.#isDealing && this.#turnOf !== member ? undefined : this.#all.waitMs(now)),
      started: (member, now) => {
        this.#all.start(now);
        if (this.#turnOf === member) this.#turnOf = undefined;
        const others = this.#members.filter((one) => one !== member);
        if (others.length < this.#members.length) this.#members = [...others, member];
        // Those that are left without room pause now: their queues would go on.
        if (!this.#isDealing) for (const other of others) other.changed();
      },
      ended: (now, wasSent) => {
        this.#all.end(now, wasSent);
        this.#deal();
      },
      roomCame: () => this.#deal(),
      slowDown: (now) => this.#all.slowDown(now),
      join: (member) => {
        this.#members.unshift(member);
        return { [Symbol.dispose]: () => (this.#members = this.#members.filter((one) => one !== member)) };
      },
    });
  }

  #deal(): void {
    if (this.#isDealing) return;
    this.#isDealing = true;
    for (let isAnyStarted = true; isAnyStarted;) {
      isAnyStarted = false;
      for (const member of this.#members) {
        if (this.#all.waitMs(this.#clock.monotonic()) !== 0) break;
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

interface Sharing {
  waitMs(member: Member, now: number): number | undefined;
  started(member: Member, now: number): void;
  ended(now: number, wasSent: boolean): void;
  roomCame(): void;
  slowDown(now: number): void;
  join(member: Member): Disposable;
}

/** Counts the requests of one account for its lease; whether one may start, all accounts decide. */
class Member extends RateWindow {
  readonly #sharing: Sharing;
  #onChange = (): void => {};

  constructor(limit: RateLimit, spent: readonly SpentRequests[], sharing: Sharing) {
    super(limit, spent);
    this.#sharing = sharing;
  }

  changed(): void {
    this.#onChange();
  }

  override watch(onChange: () => void): Disposable {
    this.#onChange = onChange;
    return this.#sharing.join(this);
  }

  override roomCame(): void {
    this.#sharing.roomCame();
  }

  override waitMs(now: number): number | undefined {
    return this.#sharing.waitMs(this, now);
  }

  override start(now: number): void {
    super.start(now);
    this.#sharing.started(this, now);
  }

  override slowDown(now: number): void {
    this.#sharing.slowDown(now);
  }

  override end(now: number, wasSent: boolean): void {
    super.end(now, wasSent);
    this.#sharing.ended(now, wasSent);
  }
}
