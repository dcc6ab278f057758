import type { Clock } from '../clock.ts';
import { healthOf } from './account.ts';
import { operationOf, type Operation } from './addresses.ts';
import type { Lane } from './gate.ts';
import type { UnreadReply } from './reply.ts';
import type { HttpRequest } from './transport.ts';

/** A request that has ended. */
export interface WatchedRequest {
  readonly operation: Operation;
  /** What came of it; `unknown` also where the program failed before it could tell. */
  readonly outcome: UnreadReply['kind'];
  /** From when it left until its answer was read, in milliseconds. */
  readonly tookMs: number;
  /** The exchange answered it, whatever it said, but with no 5xx. */
  readonly isAnswered: boolean;
}

/** Hears of the requests of an account. It must be quick: requests wait for it. */
export interface RequestWatch {
  /** A turn came after a wait, in milliseconds: for the rate limit, for others that go first, for room in flight. */
  turned(lane: Lane, waitedMs: number): void;
  /** A request leaves. */
  left(): void;
  ended(request: WatchedRequest): void;
}

/** A request that is watched until it is disposed of. */
export class Watching implements Disposable {
  /** Set by whoever sends, once it is there. */
  reply: UnreadReply | undefined;
  readonly #watch: RequestWatch | undefined;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #request: HttpRequest;
  readonly #lane: Lane;
  readonly #leftAt: number;

  constructor(
    { watch, clock }: { readonly watch?: RequestWatch; readonly clock: Pick<Clock, 'monotonic'> },
    request: HttpRequest,
    lane: Lane,
  ) {
    this.#watch = watch;
    this.#clock = clock;
    this.#request = request;
    this.#lane = lane;
    this.#leftAt = clock.monotonic();
    watch?.left();
  }

  [Symbol.dispose](): void {
    const { reply } = this;
    const health = reply === undefined ? 'failed' : healthOf(reply, this.#lane);
    this.#watch?.ended({
      operation: operationOf(this.#request),
      outcome: reply?.kind ?? 'unknown',
      tookMs: this.#clock.monotonic() - this.#leftAt,
      isAnswered: health === 'answered' || (health === 'nothing' && reply?.kind !== 'not-sent'),
    });
  }
}
