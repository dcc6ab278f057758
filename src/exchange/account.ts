import type { AccountNews, Lane } from '../accounts/rules/restraints.ts';
import type { CreateOutcome } from '../orders/rules/create.ts';
import type { Operation } from './addresses.ts';
import type { BreakerLane, Health } from './transport/breaker.ts';
import type { UnreadReply } from './reply.ts';

/** The restraints of an account. The gate reads them, and replies change them. */
export interface AccountState {
  /** How long, in ms, no request of the lane may leave; infinite if a person must end the restraint. */
  stoppedForMs(lane: Lane): number;
  /** True while requests of the lane go one at a time: a restraint may be over, or the key has not worked yet. */
  isProbed(lane: BreakerLane): boolean;
  /** True while the next create waits for a look-up, which shows if only creates get no answer. */
  readonly isInDoubt: boolean;
  now(): Date;
  note(news: AccountNews, askedAt: Date): void;
}

/** Reads from a reply the health of the exchange, for the lane's circuit breaker, and the news about the account. */
export function evidenceOf(reply: UnreadReply, lane: Lane): { readonly health: Health; readonly news?: AccountNews } {
  // `newsOfCreate` judges creates. A person's request without an answer is no news of the account.
  const noAnswer = lane === 'lookup' ? { news: { kind: 'no-answer' } as const } : {};
  const served = { kind: 'served' } as const;
  switch (reply.kind) {
    case 'ok':
      return { health: 'answered', news: served };
    case 'refused':
      if (reply.httpStatus !== 403) return { health: 'answered', news: served };
      // A 403 to a create speaks of the order or the account, so the breaker ignores the 403.
      return { health: lane === 'create' ? 'nothing' : 'failed', news: served };
    case 'rate-limited':
      return { health: 'nothing', news: reply };
    case 'key-refused':
      // A person's request may be refused for a reason that concerns only that request.
      return lane === 'person' ? { health: 'nothing' } : { health: 'nothing', news: reply };
    case 'not-sent':
      return { health: 'unreachable', ...noAnswer };
    case 'unknown': {
      const { answer, retryAfterMs } = reply;
      // An odd answer about one order speaks of that order, not of the exchange's health.
      const isOdd = answer !== undefined && answer.httpStatus < 500;
      const health = isOdd ? 'answered' : 'failed';
      if (retryAfterMs !== undefined) return { health, news: { kind: 'rate-limited', retryAfterMs } };
      if (!isOdd) return { health, ...noAnswer };
      return answer.httpStatus === 403 ? { health } : { health, news: served };
    }
  }
}

export function newsOfCreate(outcome: CreateOutcome): AccountNews | undefined {
  const { kind } = outcome;
  if (kind === 'accepted' || kind === 'rejected') return { kind: `create-${kind}` };
  if (kind === 'forbidden') return { kind };
  if (kind !== 'unknown') return undefined;
  // An odd refusal speaks of its order, not of the account.
  const status = outcome.answer?.httpStatus ?? 0;
  return status >= 400 && status < 500 ? undefined : { kind: 'create-unknown' };
}

/** An event of a request. `waitedMs` is the wait for the rate limit, for earlier requests and for room in the lane. */
export type RequestEvent =
  | { readonly kind: 'turn.came'; readonly lane: Lane; readonly waitedMs: number }
  | { readonly kind: 'request.left' }
  | {
      readonly kind: 'request.ended';
      readonly operation: Operation;
      readonly outcome: UnreadReply['kind'];
      readonly tookMs: number;
      readonly isAnswered: boolean;
    };

/** Called at each event of a request. It must return at once, because requests wait for it. */
export type RequestListener = (event: RequestEvent) => void;
