import PQueue from 'p-queue';
import type { Clock } from '../../base/clock.ts';
import type { Lane } from '../../accounts/rules/restraints.ts';
import type { AccountState, RequestListener } from '../account.ts';
import { onAbort } from './aborts.ts';
import {
  afterProbe,
  BREAKER_LANES,
  CLOSED,
  FAILURES_TO_OPEN,
  mostInFlight,
  nextBreaker,
  type BreakerLane,
  type BreakerState,
  type EndedProbe,
  type Health,
} from './breaker.ts';
import type { RateWindow } from './rate-window.ts';

/** While requests wait in all lanes, a lane with weight 4 gets four turns for each turn of a lane with weight 1. */
const WEIGHT: Readonly<Record<Lane, number>> = { person: 16, create: 4, lookup: 1 };

export interface TurnReport {
  /** False if the request is proved not to have left. */
  readonly wasSent: boolean;
  readonly health: Health;
  readonly isRateLimited?: boolean;
}

/** The right to send one request. The caller must call `end` or dispose of the turn. */
export interface Turn extends Disposable {
  readonly lane: Lane;
  report: TurnReport;
  /** Notes that the request leaves. A paced limit then counts the request, even if `report.wasSent` is false later. */
  leave(): void;
  end(): void;
}

export interface TurnRequest {
  readonly lane: Lane;
  readonly subject?: string;
  readonly isProbe?: boolean;
}

export interface GateOptions {
  readonly concurrency: number;
  readonly window: RateWindow;
  readonly account: Pick<AccountState, 'stoppedForMs' | 'isProbed' | 'isInDoubt'>;
  readonly tell?: RequestListener;
}

/**
 * Grants turns within the concurrency, the weights of the lanes, the rate limit, and the circuit breakers of creates
 * and look-ups. The queue contains only the requests that leave next; the backlog is in the database.
 *
 * p-queue runs its tasks in order of priority. A task lasts from the beginning of a turn to its end. p-queue's interval
 * is not used, because it reads the wall clock, which may be set, and counts only starts. Instead the gate has a
 * sliding window on the monotonic clock, and pauses the queue while the window is full.
 */
export class Gate {
  readonly #queue: PQueue;
  readonly #window: RateWindow;
  readonly #clock: Clock;
  readonly #breakers: Record<BreakerLane, BreakerState> = { create: CLOSED, lookup: CLOSED };
  readonly #inFlight: Record<Lane, number> = { person: 0, create: 0, lookup: 0 };
  readonly #places: Record<Lane, number> = { person: 0, create: 0, lookup: 0 };
  /** Requests whose lanes are full. They go back into the queue when a turn ends. */
  readonly #waitingForRoom: (() => void)[] = [];
  readonly #closing = new AbortController();
  readonly #account: GateOptions['account'];
  readonly #tell: GateOptions['tell'];
  readonly #watching: Disposable;
  /** True from the opening of a breaker until a request is answered. */
  isSilent = false;
  #latestPlace = 0;
  #isWaking = false;

  constructor({ concurrency, window, account, tell }: GateOptions, clock: Clock) {
    this.#queue = new PQueue({ concurrency });
    this.#window = window;
    this.#clock = clock;
    this.#account = account;
    this.#tell = tell;
    this.#watching = window.watch(() => this.#pauseWhileFull());
    this.#pauseWhileFull();
  }

  /** Milliseconds until the rate limit has room: 0 for now, undefined if a request in flight must end first. */
  get windowWaitMs(): number | undefined {
    return this.#window.waitMs(this.#clock.monotonic());
  }

  /** Returns the circuit breaker of a lane. It also counts as open while a restraint stops the lane. */
  breaker(lane: BreakerLane) {
    const { openUntil, openings, openingsEver, needsProbe, failedProbes } = this.#breakers[lane];
    const openForMs = Math.max(0, openUntil - this.#clock.monotonic(), this.#account.stoppedForMs(lane));
    return {
      isOpen: openForMs > 0,
      /** How long the breaker stays open, in ms: 0 if it is not open, infinite if a person must end a restraint. */
      openForMs,
      openings: openings + failedProbes,
      openingsEver,
      needsProbe: needsProbe || (lane === 'create' && this.#account.isInDoubt),
      failedProbes,
    };
  }

  /** Returns undefined if the breaker is open or needs a probe, if `signal` aborts, or if the gate closes. */
  turn(request: TurnRequest, signal?: AbortSignal): Promise<Turn | undefined> {
    const { lane } = request;
    // Weighted fair queueing: each request takes the next place of its lane, and an idle lane saves up no places.
    const place = Math.max(this.#places[lane], this.#latestPlace) + 1 / WEIGHT[lane];
    this.#places[lane] = place;
    const askedAt = this.#clock.monotonic();
    return new Promise((resolve) => {
      const leave = () => resolve(undefined);
      if (signal?.aborted === true) return leave();
      const forget = onAbort(signal, leave);
      // p-queue does not get `signal`, because an abort would let the next task start before this turn has ended.
      const queueUp = () => void this.#queue.add(takeTurn, { priority: -place });
      const takeTurn = async () => {
        this.#latestPlace = Math.max(this.#latestPlace, place);
        const isRefused = this.#isRefused(lane, signal);
        if (!isRefused && this.#isFull(lane)) {
          this.#waitingForRoom.push(queueUp);
          return;
        }
        forget();
        if (isRefused) return leave();
        this.#tell?.({ kind: 'turn.came', lane, waitedMs: this.#clock.monotonic() - askedAt });
        await new Promise<void>((onEnd) => resolve(this.#begin(request, onEnd)));
      };
      queueUp();
    });
  }

  close(): void {
    this.#closing.abort();
    this.#watching[Symbol.dispose]();
    this.#queue.start();
  }

  #isRefused(lane: Lane, signal?: AbortSignal): boolean {
    if (signal?.aborted === true || this.#closing.signal.aborted) return true;
    if (lane === 'person') return false;
    const { isOpen, needsProbe } = this.breaker(lane);
    return isOpen || needsProbe;
  }

  #isFull(lane: Lane): boolean {
    if (lane === 'person') return false;
    if (this.#inFlight[lane] >= mostInFlight(this.#breakers[lane], lane, this.#queue.concurrency)) return true;
    if (!this.#account.isProbed(lane)) return false;
    const probed = BREAKER_LANES.filter((one) => this.#account.isProbed(one));
    return probed.some((one) => this.#inFlight[one] > 0);
  }

  #begin(request: TurnRequest, onEnd: () => void): Turn {
    const { lane } = request;
    const startedAt = this.#clock.monotonic();
    this.#inFlight[lane] += 1;
    this.#window.start(startedAt);
    this.#pauseWhileFull();
    let isOverForWindow = false;
    const endForWindow = (wasSent: boolean) => {
      if (!isOverForWindow) this.#window.end(this.#clock.monotonic(), wasSent);
      isOverForWindow = true;
    };
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      const { report } = turn;
      this.#inFlight[lane] -= 1;
      endForWindow(report.wasSent);
      if (report.isRateLimited === true) this.#window.slowDown(this.#clock.monotonic());
      this.#feedBreakers(request, { ...report, startedAt });
      for (const queueUp of this.#waitingForRoom.splice(0)) queueUp();
      this.#pauseWhileFull();
      onEnd();
    };
    const turn: Turn = {
      lane,
      report: { wasSent: false, health: 'nothing' },
      leave: () => {
        turn.report = { wasSent: true, health: 'nothing' };
        if (this.#window.limit.mode === 'paced') endForWindow(true);
      },
      end,
      [Symbol.dispose]: end,
    };
    return turn;
  }

  #feedBreakers({ lane, subject = '', isProbe = false }: TurnRequest, ended: EndedProbe): void {
    const { health } = ended;
    if (health === 'nothing') return;
    const [now, random] = [this.#clock.monotonic(), health === 'answered' ? 0 : this.#clock.random()];
    const everBefore = this.#openingsEver;
    if (lane !== 'person') {
      // The breaker opens after at most `exchange.concurrency` + 1 failed creates, because each may have been taken.
      const failures = lane === 'create' ? Math.min(FAILURES_TO_OPEN, this.#queue.concurrency + 1) : FAILURES_TO_OPEN;
      this.#breakers[lane] = nextBreaker(this.#breakers[lane], { ...ended, lane, subject }, now, random, failures);
    }
    if (isProbe) this.#breakers.create = afterProbe(this.#breakers.create, ended, now, random);
    if (health === 'answered') this.isSilent = false;
    else if (this.#openingsEver > everBefore) this.isSilent = true;
  }

  get #openingsEver(): number {
    return this.#breakers.create.openingsEver + this.#breakers.lookup.openingsEver;
  }

  #pauseWhileFull(): void {
    const waitMs = this.windowWaitMs;
    if (waitMs === 0 || this.#closing.signal.aborted) {
      this.#queue.start();
      return;
    }
    this.#queue.pause();
    if (waitMs === undefined || this.#isWaking) return;
    this.#isWaking = true;
    void this.#clock
      .sleep(Math.ceil(waitMs), this.#closing.signal)
      .catch(() => undefined)
      .then(() => {
        this.#isWaking = false;
        this.#window.roomCame();
        this.#pauseWhileFull();
      });
  }
}
