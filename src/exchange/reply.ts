import type { Clock } from '../clock.ts';
import type { Passage } from './gate.ts';
import { readBody } from './json.ts';
import { errorSchema, type ErrorBody } from './schemas.ts';
import { HIDDEN, TransportError, type Transport, type HttpRequest } from './transport.ts';

/** What came of one request, before it is read for its endpoint. Carries no header, no key and no request body. */
export type Reply =
  | { readonly kind: 'ok'; readonly body: string }
  | { readonly kind: 'refused'; readonly httpStatus: number; readonly error: ErrorBody }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'key-refused' }
  | { readonly kind: 'not-sent'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

const DEFAULT_RETRY_AFTER_MS = 5_000;
const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60_000;

/** Sends one request and says what came of it. Never rejects. */
export async function ask(
  transport: Transport,
  clock: Clock,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<Reply> {
  try {
    const { status, body, retryAfter } = await transport.send(request, signal);
    if (status >= 200 && status < 300) return { kind: 'ok', body };
    if (status === 401) return { kind: 'key-refused' };
    if (status === 429) return { kind: 'rate-limited', retryAfterMs: retryAfterMs(retryAfter, clock.now()) };
    // It is shown as it is, and no number of it is an amount.
    const error = status >= 400 && status < 500 ? readBody(errorSchema, body, JSON.parse) : undefined;
    if (error !== undefined) return { kind: 'refused', httpStatus: status, error: hiding(request.secrets, error) };
    return { kind: 'unknown', why: `HTTP ${status} without a documented error` };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return error.sent === 'never' ? { kind: 'not-sent', why: error.message } : { kind: 'unknown', why: error.message };
  }
}

/** The error without what of the request it quotes, in whatever case; words such as `INVALID_EMAIL` stay. */
function hiding(secrets: readonly string[] = [], error: ErrorBody): ErrorBody {
  if (secrets.length === 0) return error;
  const quoted = new RegExp(secrets.map((secret) => RegExp.escape(secret)).join('|'), 'gi');
  const hide = (_name: string, value: unknown) =>
    typeof value === 'string' && !/^[A-Z0-9_]+$/.test(value) ? value.replace(quoted, HIDDEN) : value;
  return JSON.parse(JSON.stringify(error), hide) as ErrorBody;
}

/** What a reply means for the gate. */
export function passageOf(reply: Reply): Passage {
  switch (reply.kind) {
    case 'ok':
    case 'refused':
      return { wasSent: true, health: 'answered' };
    case 'rate-limited':
      return { wasSent: true, health: 'refused-for-now', holdMs: reply.retryAfterMs };
    case 'key-refused':
      return { wasSent: true, health: 'refused-for-now' };
    case 'not-sent':
      return { wasSent: false, health: 'refused-for-now' };
    case 'unknown':
      return { wasSent: true, health: 'failed' };
  }
}

/** Retry-After as seconds or as an HTTP date; a missing or unreadable one is 5 s, the longest taken is a day. */
export function retryAfterMs(header: string | undefined, now: Date): number {
  const seconds = header !== undefined && /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : undefined;
  const date = header === undefined || seconds !== undefined ? Number.NaN : Date.parse(header) - now.getTime();
  const ms = seconds ?? (Number.isNaN(date) ? DEFAULT_RETRY_AFTER_MS : Math.max(date, 0));
  return Math.min(ms, LONGEST_RETRY_AFTER_MS);
}
