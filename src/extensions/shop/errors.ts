import { nowMs } from './clock.ts';

/** The documented refusals of the exchange (§7). `other` is any other refusal. */
export type RefusalReason =
  | 'not-found'
  | 'invalid-email'
  | 'link-already-exists'
  | 'bad-request'
  | 'upload-url-not-set'
  | 'other';

/** `conflict`: the database contradicts the request; `key-reused`: another request had this Idempotency-Key. */
export type InvalidReason =
  | 'not-found'
  | 'cursor-unreadable'
  | 'cursor-ahead'
  | 'cursor-of-another'
  | 'conflict'
  | 'key-reused';

/** The fields of each kind of error beside its message. */
type Facts =
  /** The exchange refused the request. */
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly status: number; readonly code: string | null }
  /** The request is wrong, or contradicts the state of the order. Nothing was done. */
  | { readonly kind: 'invalid'; readonly reason: InvalidReason | null; readonly status: number }
  /** Nothing was done. The token (`limited`) or the exchange (`rate-limited`) limits the rate, or nothing was sent. */
  | { readonly kind: 'limited' | 'rate-limited' | 'not-sent'; readonly status: number }
  /** The token is missing or wrong (`unauthorized`), or lacks the scope or the account (`forbidden`). */
  | { readonly kind: 'unauthorized' | 'forbidden'; readonly status: number }
  /** No process of `urls` drives the account, the exchange refuses the key, or the daemon failed. */
  | { readonly kind: 'not-owner' | 'key-refused' | 'failed'; readonly status: number }
  /** An id or another text cannot be sent. Nothing was done. */
  | { readonly kind: 'unusable'; readonly status: number | null }
  /** No connection was made. Nothing was sent. */
  | { readonly kind: 'unreachable'; readonly status: null }
  /** A request that only reads got no whole answer. */
  | { readonly kind: 'no-answer'; readonly status: null }
  /** The answer is not from order-sync. A proxy may have answered. */
  | { readonly kind: 'unreadable'; readonly status: number }
  /** The outcome is not known. Find out what became of the request before you repeat it. */
  | { readonly kind: 'unknown'; readonly status: number | null };

export type ErrorKind = Facts['kind'];

class RequestError extends Error {
  override readonly name = 'OrderSyncError';
  readonly kind: ErrorKind;
  /** The cause as a word for programs; null if the kind has no reasons. */
  readonly reason: string | null = null;
  /** The HTTP status of the answer; null if there was none. */
  readonly status: number | null = null;
  /** The code in the error of the exchange. */
  readonly code: string | null = null;
  /** Milliseconds to wait before the next try, if the answer names them. */
  readonly retryAfterMs: number | null = null;
  /** The address of the process that drives the account, if the answer says so. */
  readonly owner: string | null = null;

  constructor(kind: ErrorKind, message: string, { cause, ...facts }: Partial<ErrorFacts> = {}) {
    super(message, { cause });
    this.kind = kind;
    Object.assign(this, facts);
  }
}

type ErrorFacts = Pick<RequestError, 'reason' | 'status' | 'code' | 'retryAfterMs' | 'owner' | 'cause'>;

/** The error of a request. `kind` narrows the type of `reason`, `status` and `code`. */
export type OrderSyncError = RequestError & Facts;

interface ErrorClass {
  new (...args: ConstructorParameters<typeof RequestError>): OrderSyncError;
  [Symbol.hasInstance](value: unknown): value is OrderSyncError;
}

// The cast makes the type of an instance a union, so that `kind` narrows the other fields.
export const OrderSyncError = RequestError as unknown as ErrorClass;

export type Answer = Readonly<{ status: number; retryAfter: string | null; body: string }>;

const KINDS: Readonly<Record<ErrorKind, true>> = {
  refused: true,
  invalid: true,
  limited: true,
  'rate-limited': true,
  'not-sent': true,
  unauthorized: true,
  forbidden: true,
  'not-owner': true,
  'key-refused': true,
  failed: true,
  unusable: true,
  unreachable: true,
  'no-answer': true,
  unreadable: true,
  unknown: true,
};
const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = { 401: 'unauthorized', 403: 'forbidden', 429: 'limited' };

export function errorIn({ status, retryAfter, body }: Answer, isRead: boolean): OrderSyncError {
  const retryAfterMs = millisecondsOf(retryAfter);
  const { error, owner } = problemIn(body);
  if (error !== undefined && Object.hasOwn(KINDS, error.kind)) {
    const { kind, message, reason = null, code = null } = error;
    return new OrderSyncError(kind, message, { status, reason, code, retryAfterMs, owner: owner ?? null });
  }
  const message = `the answer (HTTP ${status}) is not from order-sync`;
  // A proxy may forward the request to order-sync and then answer by itself.
  const mayBeDone = !isRead && (status < 300 || status >= 500);
  return new OrderSyncError(KIND_OF_STATUS[status] ?? (mayBeDone ? 'unknown' : 'unreadable'), message, {
    status,
    retryAfterMs,
  });
}

interface Problem {
  readonly error?: Pick<RequestError, 'kind' | 'message'> & Partial<Pick<RequestError, 'reason' | 'code'>>;
  readonly owner?: string;
}

export function problemIn(body: string): Problem {
  try {
    return (JSON.parse(body) as Problem | null) ?? {};
  } catch {
    return {};
  }
}

function millisecondsOf(retryAfter: string | null): number | null {
  if (retryAfter === null || retryAfter === '') return null;
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - nowMs();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Codes of Node, Bun and Deno for a connection that was not made, or whose certificate was refused. */
const NOT_MADE =
  /^(?:ECONNREFUSED|ENOENT|ENOTDIR|EACCES|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|ERR_TLS_\w+|\w*CERT\w*|UNABLE_TO_\w+)$/;

/** True if a request failed before anything of it was sent. */
export function isNeverSent(error: unknown): boolean {
  for (let [inner, depth] = [error as Inner | undefined, 0]; inner && depth < 5; depth += 1) {
    // An established connection may fail with the same codes.
    if (inner.syscall === 'read' || inner.syscall === 'write') return false;
    if (inner.syscall === 'connect' || inner.syscall === 'getaddrinfo' || NOT_MADE.test(inner.code ?? '')) return true;
    inner = inner.errors?.[0] ?? inner.cause;
  }
  return false;
}

type Inner = Readonly<{ code?: string; syscall?: string; cause?: Inner; errors?: readonly Inner[] }>;
