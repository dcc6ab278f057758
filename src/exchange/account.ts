import type { AccountNews } from '../domain/accounts/holds.ts';
import type { CreateOutcome } from '../domain/orders/create.ts';
import type { BreakerLane, Health } from './breaker.ts';
import type { Lane } from './gate.ts';
import type { UnreadReply } from './reply.ts';

/** The account as its replies show it: what its holds let through, and who takes note of a reply. */
export interface AccountState {
  /** The time for which requests of the lane are held, in milliseconds; infinite until a person ends the hold. */
  heldForMs(lane: Lane): number;
  /** Requests of the lane go one at a time: a hold may be over, or nobody knows yet whether the key is right. */
  isProbed(lane: BreakerLane): boolean;
  /** A look-up must show, before the next create, whether creates alone are lost. */
  readonly isInDoubt: boolean;
  /** The time by which holds are kept: it is not set as a clock is. */
  now(): Date;
  /** Takes note of a reply to a request that was sent at `askedAt`. */
  note(news: AccountNews, askedAt: Date): void;
}

/** Reads from a reply how the exchange does, for the circuit breaker of the lane. */
export function healthOf(reply: UnreadReply, lane: Lane): Health {
  switch (reply.kind) {
    case 'ok':
      return 'answered';
    case 'refused':
      if (reply.httpStatus !== 403) return 'answered';
      // Of creates the account's hold takes care.
      return lane === 'create' ? 'nothing' : 'failed';
    case 'rate-limited':
    case 'key-refused':
      return 'nothing';
    case 'not-sent':
      return 'unreachable';
    case 'unknown':
      // An odd answer about one order speaks of that order, not of the exchange's health.
      return isOddAnswer(reply) ? 'answered' : 'failed';
  }
}

/** Reads from a reply what it says of the account. */
export function newsOf(reply: UnreadReply, lane: Lane): AccountNews | undefined {
  switch (reply.kind) {
    case 'ok':
    case 'refused':
      return { kind: 'served' };
    case 'rate-limited':
      return reply;
    case 'key-refused':
      // What a person asks for may be refused for reasons of its own.
      return lane === 'person' ? undefined : reply;
    case 'not-sent':
      return lane === 'lookup' ? { kind: 'no-answer' } : undefined;
    case 'unknown': {
      const { retryAfterMs } = reply;
      if (retryAfterMs !== undefined) return { kind: 'rate-limited', retryAfterMs };
      if (!isOddAnswer(reply)) return lane === 'lookup' ? { kind: 'no-answer' } : undefined;
      return reply.answer?.httpStatus === 403 ? undefined : { kind: 'served' };
    }
  }
}

/** Reads from the outcome of a create what it says of the account. */
export function newsOfCreate(outcome: CreateOutcome): AccountNews | undefined {
  const { kind } = outcome;
  switch (kind) {
    case 'accepted':
    case 'rejected':
      return { kind: `create-${kind}` };
    case 'forbidden':
      return { kind };
    case 'unknown': {
      // An odd refusal speaks of its order.
      const status = outcome.answer?.httpStatus ?? 0;
      return status >= 400 && status < 500 ? undefined : { kind: 'create-unknown' };
    }
    case 'not-sent':
    case 'rate-limited':
    case 'key-refused':
      return undefined;
  }
}

function isOddAnswer({ answer }: Extract<UnreadReply, { kind: 'unknown' }>): boolean {
  return answer !== undefined && answer.httpStatus < 500;
}
