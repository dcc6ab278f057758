import { HIDDEN, withoutAddresses } from '../base/text.ts';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { isLosslessNumber } from 'lossless-json';
import { readJson, readUnambiguous, withDigits, textOrDigits } from './json.ts';
import { isSuccess, type Answer } from '../orders/rules/record.ts';
import { TransportError, type HttpRequest, type Send } from './transport/http.ts';

/** The error body (§7). `status` may be missing, as in §4.5, or null. A `code` that is a number becomes text. */
export const errorBody = z.object({
  message: z.string(),
  code: textOrDigits,
  status: z.preprocess((value) => value ?? undefined, z.string().optional()),
});
type ErrorBody = z.output<typeof errorBody>;

/** A reply without a value. It carries no header, no key and no request body. */
export type FailedReply =
  | { readonly kind: 'refused'; readonly httpStatus: number; readonly error: ErrorBody }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'key-refused' }
  /** It is proved that the exchange got nothing. */
  | { readonly kind: 'not-sent'; readonly why: string }
  /** Nothing proves whether the exchange did what was asked. */
  | { readonly kind: 'unknown'; readonly why: string };

/** `body` is the text of the answer, with every digit. `value` is read from it. */
export type Reply<Value> = { readonly kind: 'ok'; readonly value: Value; readonly body: string } | FailedReply;

/** A reply whose body is not read yet. People must not see `answer`, which may quote the request. */
export type UnreadReply =
  | ({ readonly kind: 'ok' } & Answer)
  | (FailedReply & { readonly answer?: Answer; readonly retryAfterMs?: number });

const DEFAULT_RETRY_AFTER_MS = 5_000;
const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60_000;

export async function ask(
  send: Send,
  clock: Pick<Clock, 'now'>,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<UnreadReply> {
  try {
    const { status, body, retryAfter, isUtf8 = true } = await send(request, signal);
    const answer = { httpStatus: status, body };
    if (isSuccess(answer)) return isUtf8 ? { kind: 'ok', ...answer } : { kind: 'unknown', why: 'no UTF-8', answer };
    if (status === 401) return { kind: 'key-refused' };
    if (status === 429) return { kind: 'rate-limited', retryAfterMs: retryAfterMs(retryAfter, clock.now()) };
    const error = status >= 400 && status < 500 ? errorBody.safeParse(readJson(body)).data : undefined;
    if (error === undefined) {
      const why = status >= 500 ? `HTTP ${status}` : `HTTP ${status} without a documented error`;
      const asksToWait = status === 503 && retryAfter !== undefined;
      const wait = asksToWait && { retryAfterMs: retryAfterMs(retryAfter, clock.now()) };
      return { kind: 'unknown', why, answer, ...wait };
    }
    return { kind: 'refused', httpStatus: status, error: hiding(request.secrets, error), answer };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return error.sent === 'never' ? { kind: 'not-sent', why: error.message } : { kind: 'unknown', why: error.message };
  }
}

/** Reads the body of a reply by `schema`. If the body names another id than `asked`, the result is `unknown`. */
export function readReply<Value>(reply: UnreadReply, schema: z.ZodType<Value>, asked?: AskedFor): Reply<Value> {
  if (reply.kind === 'unknown') return { kind: 'unknown', why: reply.why };
  if (reply.kind !== 'ok') {
    const { answer: _answer, ...failed } = reply;
    return failed;
  }
  const { body } = reply;
  const value = schema.safeParse(readUnambiguous(body)).data;
  if (value === undefined) return { kind: 'unknown', why: 'the answer cannot be read' };
  const isOther = asked && idsIn(value, asked.field.toLowerCase()).some((id) => withDigits(id) !== asked.id);
  if (!isOther) return { kind: 'ok', value, body };
  return { kind: 'unknown', why: `the exchange answered about another ${asked.what}, so its answer is not shown` };
}

/** The subject of a request, and the field of the answer that bears its id. */
export interface AskedFor {
  readonly what: 'link' | 'pre-order' | 'order';
  readonly field: string;
  readonly id: string;
}

/** Returns the values of a field; its name may have any case. Objects without the field are searched in depth. */
function idsIn(value: unknown, field: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return [];
  const named = Object.entries(value).filter(([name, id]) => name.toLowerCase() === field && id !== null);
  if (named.length > 0) return named.map(([, id]) => id as unknown);
  return Object.values(value).flatMap((part) => idsIn(part, field));
}

/** Returns the answer behind a reply; undefined if none came, or if it was a 401 or 429. */
export function answerOf(reply: UnreadReply): Answer | undefined {
  return reply.kind === 'ok' ? { httpStatus: reply.httpStatus, body: reply.body } : reply.answer;
}

/** Returns an answer without e-mail addresses, because no e-mail address may be stored. */
export function keepable({ httpStatus, body }: Answer): Answer {
  return { httpStatus, body: withoutAddresses(body) };
}

const LONGEST_MESSAGE = 500;
const LONGEST_CODE = 100;
/** Code words such as `INVALID_EMAIL` may contain a shorter secret by chance, so shorter secrets stay in them. */
const SHORTEST_IN_WORD = 8;

/** Hides secrets and e-mail addresses in an error. Cuts its message to 500 characters, its other texts to 100. */
export function hiding(secrets: readonly string[] = [], { message, code, status }: ErrorBody): ErrorBody {
  const inWords = secrets.filter(({ length }) => length >= SHORTEST_IN_WORD);
  const hidden = (text: string) => hide(/^[A-Z0-9_]+$/.test(text) ? inWords : secrets, text);
  const shown = (text: string, longest: number) => withoutAddresses(hidden(text)).slice(0, longest);
  return {
    message: shown(message, LONGEST_MESSAGE),
    code: shown(code, LONGEST_CODE),
    ...(status !== undefined && { status: shown(status, LONGEST_CODE) }),
  };
}

/** Hides the secrets in a text, in any letter case, also if JSON or an address encodes their characters. */
export function hide(secrets: readonly string[], text: string): string {
  if (secrets.length === 0) return text;
  const quoted = secrets.map((secret) =>
    secret
      .split('')
      .map((unit) => {
        const code = unit.charCodeAt(0).toString(16);
        return `(?:\\\\?${RegExp.escape(unit)}|\\\\u${code.padStart(4, '0')}|%${code.padStart(2, '0')})`;
      })
      .join(''),
  );
  return text.replace(new RegExp(quoted.join('|'), 'gi'), HIDDEN);
}

/** Matches a date in a header (RFC 9110), `Tue, 06 Jan 2026 12:00:00 GMT`, and two older forms. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w -]+ \d\d:\d\d:\d\d( GMT| \d{4})$/;

/** Returns the wait of a Retry-After in ms, at most a day. If the header is missing or unreadable, the wait is 5 s. */
export function retryAfterMs(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? '';
  const date = HTTP_DATE.test(text) ? Date.parse(`${text.replace(/ GMT$/, '')} GMT`) - now.getTime() : Number.NaN;
  const ms = /^\d+(\.\d*)?$/.test(text) ? Number(text) * 1_000 : date;
  return Number.isNaN(ms) ? DEFAULT_RETRY_AFTER_MS : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
}

/** The exchange refuses the key and never took a key of this account, so a setting is wrong. */
export class KeyRefusedError extends Error {
  override readonly name = 'KeyRefusedError';
}
