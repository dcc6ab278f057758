import { parse } from 'lossless-json';
import { z } from 'zod';
import { type FailedReply } from '../../exchange/reply.ts';
import { refusalReason } from './asking/refusal-reason.ts';

const CURSOR_REASONS = ['cursor-unreadable', 'cursor-ahead', 'cursor-of-another'] as const;
const OWN_REASONS = ['not-found', 'method-not-allowed', 'conflict', 'key-reused', ...CURSOR_REASONS] as const;

/** A refusal by this program. Nothing was sent to the exchange, unless the kind is `failed`. */
export interface OwnRefusal {
  readonly kind: Exclude<keyof typeof KINDS, FailedReply['kind']>;
  readonly message: string;
  readonly httpStatus: number;
  /**
   * `not-found`: the database has no such row; `conflict`: the database contradicts the request; `key-reused`: the
   * `Idempotency-Key` was used by another request; `cursor-…`: why the cursor cannot be used.
   */
  readonly reason?: (typeof OWN_REASONS)[number] | undefined;
  readonly retryAfterMs?: number;
  /** The URL of the process that drives the account. */
  readonly owner?: string | undefined;
}

/** The result of an operation. `body` is JSON, and keeps every digit of an answer of the exchange. */
export type Result =
  | { readonly kind: 'ok'; readonly body: string; readonly httpStatus?: number; readonly isReplay?: true }
  | FailedReply
  /** The outcome of an earlier request with this `Idempotency-Key` is unknown, so this request was not sent. */
  | { readonly kind: 'unknown'; readonly why: string; readonly httpStatus: 409 }
  | OwnRefusal;

export type FailedResult = Exclude<Result, { kind: 'ok' }>;

export function done(value: unknown, httpStatus = 200): Result {
  return { kind: 'ok', body: JSON.stringify(value), httpStatus };
}

export function invalid(message: string, httpStatus = 400, reason?: OwnRefusal['reason']): OwnRefusal {
  return { kind: 'invalid', message, httpStatus, reason };
}
export const notFound = (message: string) => invalid(message, 404, 'not-found');
export const conflict = (message: string) => invalid(message, 409, 'conflict');
export const forbidden = (message: string): OwnRefusal => ({ kind: 'forbidden', message, httpStatus: 403 });
export const UNAUTHORIZED_RESULT: OwnRefusal = {
  kind: 'unauthorized',
  message: 'send the secret of a token of api.tokens as Authorization: Bearer SECRET',
  httpStatus: 401,
};

export function limited(retryAfterMs: number): OwnRefusal {
  return { kind: 'limited', message: 'the token asks more often than its rate', httpStatus: 429, retryAfterMs };
}

type Envelope = Readonly<{ httpStatus: number; retryAfterSeconds?: number; body: string }>;

const KINDS = {
  refused: 'The exchange said no.',
  'key-refused': 'The exchange refuses the merchant key.',
  'rate-limited': 'The exchange limits the rate.',
  'not-sent': 'Nothing was sent, ask again.',
  unknown: 'It is not known whether the operation was done.',
  unusable: 'An id cannot be sent.',
  invalid: 'This request is wrong.',
  unauthorized: 'This request bears no valid token.',
  forbidden: 'The token may not ask for this.',
  limited: 'The token asks too often.',
  'not-owner': 'This process does not drive the account, nothing was done.',
  failed: 'The daemon could not do the operation.',
};
const OF_EXCHANGE = ['invalid-email', 'link-already-exists', 'bad-request', 'upload-url-not-set', 'other'] as const;
const kinds = Object.entries(KINDS).map(([kind, meaning]) => `${kind}: ${meaning}`);
/** A problem of RFC 9457. `error` always has these six fields; a field without a value is null. */
export const failureSchema = z
  .object({
    type: z.string().describe('urn:order-sync:problem: and the kind of the error.'),
    title: z.string().describe('What the kind means.'),
    status: z.int().describe('HTTP status of this answer.'),
    detail: z.string().describe('The message of the error.'),
    owner: z.url().optional().describe('With `not-owner`: the URL of the process that drives the account, if known.'),
    ok: z.literal(false),
    error: z.object({
      kind: z.enum(Object.keys(KINDS) as (keyof typeof KINDS)[]).describe(kinds.join(' ')),
      reason: z
        .enum([...OF_EXCHANGE, ...OWN_REASONS])
        .nullable()
        .describe('The documented refusal of the exchange, or why this request is refused.'),
      message: z.string().describe('For people.'),
      httpStatus: z.int().nullable().describe('HTTP status that the exchange answered with.'),
      code: z.string().nullable().describe('Code in the error of the exchange.'),
      status: z.string().nullable().describe('Status in the error of the exchange.'),
    }),
  })
  .meta({ id: 'Failure', description: 'An answer that is no success.' });

type Failure = z.output<typeof failureSchema>;
export type EnvelopeError = Readonly<Failure['error']>;

export const PROBLEM_TYPE = 'application/problem+json';

const SUCCESS_HEAD = '{"ok":true,"value":';
const SUCCESS_END = '}';

export function writeEnvelope(result: Result): Envelope {
  if (result.kind === 'ok') {
    // The body is inserted as text, because parsing and writing it again would lose digits of numbers.
    return { httpStatus: result.httpStatus ?? 200, body: `${SUCCESS_HEAD}${result.body}${SUCCESS_END}` };
  }
  const status = 'httpStatus' in result ? result.httpStatus : STATUS_OF_KIND[result.kind];
  // The exchange may refuse §4.5 with a success status, which would mislead a reader of the status alone.
  const httpStatus = status < 400 ? 502 : status;
  const body = JSON.stringify(problemOf(result, httpStatus));
  const waitMs = 'retryAfterMs' in result ? result.retryAfterMs : httpStatus > 500 ? TRY_AGAIN_MS : undefined;
  return { httpStatus, body, ...(waitMs !== undefined && { retryAfterSeconds: Math.ceil(waitMs / 1_000) }) };
}

/** The wait in ms after an answer above 500 that names no wait. */
const TRY_AGAIN_MS = 1_000;

const STATUS_OF_KIND = { 'key-refused': 502, 'rate-limited': 503, 'not-sent': 503, unknown: 504 } as const;

export function problemOf(result: FailedResult, status: number): Failure {
  const error = envelopeError(result);
  const [type, title] = [`urn:order-sync:problem:${error.kind}`, KINDS[error.kind]];
  const owner = 'owner' in result && result.owner !== undefined && { owner: result.owner };
  return { type, title, status, detail: error.message, ...owner, ok: false, error };
}

function envelopeError(result: FailedResult): EnvelopeError {
  const { kind } = result;
  const nothing = { reason: null, httpStatus: null, code: null, status: null };
  switch (kind) {
    case 'refused': {
      const { message, code, status = null } = result.error;
      return { kind, reason: refusalReason(result), message, httpStatus: result.httpStatus, code, status };
    }
    case 'key-refused':
      return { ...nothing, kind, message: 'the exchange refuses the key (401)', httpStatus: 401 };
    case 'rate-limited':
      return { ...nothing, kind, message: 'the exchange limits the rate (429)', httpStatus: 429 };
    case 'not-sent':
    case 'unknown':
      return { ...nothing, kind, message: result.why };
    default:
      return { ...nothing, kind, reason: result.reason ?? null, message: result.message };
  }
}

/** Reads the result that `writeEnvelope` wrote. An unreadable answer is `unknown`, or `failed` with a 4xx status. */
export function readEnvelope({ httpStatus, retryAfterSeconds, body }: Envelope): Result {
  if (body.startsWith(SUCCESS_HEAD))
    return { kind: 'ok', body: body.slice(SUCCESS_HEAD.length, -SUCCESS_END.length), httpStatus };
  const retryAfterMs = (retryAfterSeconds ?? 0) * 1_000;
  const { owner, error } = problemIn(body) ?? { error: unreadable(httpStatus) };
  const { kind, message, code, status } = error;
  switch (kind) {
    case 'refused':
      return { kind, httpStatus, error: { message, code: code ?? '', ...(typeof status === 'string' && { status }) } };
    case 'key-refused':
      return { kind };
    case 'rate-limited':
      return { kind, retryAfterMs };
    case 'not-sent':
      return { kind, why: message };
    case 'unknown':
      return { kind, why: message };
    default: {
      const reason = OWN_REASONS.find((one) => one === error.reason);
      return { kind, message, httpStatus, reason, owner, ...(kind === 'limited' && { retryAfterMs }) };
    }
  }
}

function unreadable(httpStatus: number): ReadProblem['error'] {
  if (httpStatus >= 400 && httpStatus < 500)
    return {
      kind: 'failed',
      message: 'its answer cannot be read, and it may run another version of order-sync; restart it',
    };
  return {
    kind: 'unknown',
    message: `the answer with HTTP ${httpStatus} is not from order-sync, so it is not known whether the operation was done`,
  };
}

type ReadProblem = Pick<Failure, 'owner'> & { error: Pick<EnvelopeError, 'kind' | 'message'> & Partial<EnvelopeError> };

function problemIn(body: string): ReadProblem | undefined {
  try {
    const problem = parse(body) as Partial<ReadProblem>;
    return Object.hasOwn(KINDS, problem.error?.kind ?? '') ? (problem as ReadProblem) : undefined;
  } catch {
    return undefined;
  }
}
