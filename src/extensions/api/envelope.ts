import { parse } from 'lossless-json';
import { z } from 'zod';
import { type FailedReply, refusalReason } from '../../exchange/reply.ts';

/** A refusal by this program itself: nothing was sent to the exchange. */
export interface OwnRefusal {
  readonly kind: 'unusable' | 'invalid' | 'not-owner' | 'failed';
  readonly message: string;
  readonly httpStatus: number;
  /**
   * `not-found`: the database does not have it; `conflict`: a decision that cannot be made, or stands already; `key-reused`: the
   * `Idempotency-Key` is that of another request; otherwise why a reader cannot go on after its cursor.
   */
  readonly reason?:
    | 'not-found'
    | 'conflict'
    | 'key-reused'
    | 'cursor-unreadable'
    | 'cursor-ahead'
    | 'cursor-of-another';
}

/** The result of an operation. `body` is JSON as the exchange wrote it, with every digit. */
export type Result =
  | { readonly kind: 'ok'; readonly body: string; readonly httpStatus?: number; readonly isReplay?: true }
  | FailedReply
  /** Nothing tells what became of an earlier request of the same `Idempotency-Key`: this one was not sent. */
  | { readonly kind: 'unknown'; readonly why: string; readonly httpStatus: 409 }
  | OwnRefusal;

export type FailedResult = Exclude<Result, { kind: 'ok' }>;

export function done(value: unknown, httpStatus = 200): Result {
  return { kind: 'ok', body: JSON.stringify(value), httpStatus };
}

export function notFound(message: string): OwnRefusal {
  return { ...invalid(message, 404), reason: 'not-found' };
}

export function invalid(message: string, httpStatus = 400): OwnRefusal {
  return { kind: 'invalid', message, httpStatus };
}

export interface Envelope {
  readonly httpStatus: number;
  readonly retryAfterSeconds?: number;
  readonly body: string;
}

const KINDS = {
  refused: 'the exchange said no',
  'key-refused': 'the exchange refuses the merchant key',
  'rate-limited': 'the exchange limits the rate',
  'not-sent': 'nothing was sent, ask again',
  unknown: 'it is not known whether the exchange did it',
  unusable: 'an id cannot be sent',
  invalid: 'this request is wrong',
  'not-owner': 'this process does not drive the account, nothing was done',
  failed: 'the daemon could not do it',
};
const REASONS = [
  'not-found',
  'invalid-email',
  'link-already-exists',
  'bad-request',
  'upload-url-not-set',
  'other',
  'conflict',
  'key-reused',
  'cursor-unreadable',
  'cursor-ahead',
  'cursor-of-another',
] as const;
const kinds = Object.entries(KINDS).map(([kind, meaning]) => `${kind}: ${meaning}.`);
/** An answer that is no success: its error has always these six fields, null if there is nothing to say. */
export const failureSchema = z
  .object({
    ok: z.literal(false),
    error: z.object({
      kind: z.enum(Object.keys(KINDS) as (keyof typeof KINDS)[]).describe(kinds.join(' ')),
      reason: z
        .enum(REASONS)
        .nullable()
        .describe('The documented refusal of the exchange, or why this request cannot be done as things stand.'),
      message: z.string().describe('For people.'),
      httpStatus: z.int().nullable().describe('HTTP status that the exchange answered with.'),
      code: z.string().nullable().describe('Code in the error of the exchange.'),
      status: z.string().nullable().describe('Status in the error of the exchange.'),
    }),
  })
  .meta({ id: 'Failure', description: 'An answer that is no success.' });

export type EnvelopeError = Readonly<z.output<typeof failureSchema>['error']>;

const SUCCESS_HEAD = '{"ok":true,"value":';
const SUCCESS_END = '}';

export function writeEnvelope(result: Result): Envelope {
  if (result.kind === 'ok') {
    // The body goes in as text: parsed and written again, its numbers would lose digits.
    return { httpStatus: result.httpStatus ?? 200, body: `${SUCCESS_HEAD}${result.body}${SUCCESS_END}` };
  }
  const status = 'httpStatus' in result ? result.httpStatus : STATUS_OF_KIND[result.kind];
  // §4.5 may be refused with a success status, which would mislead a reader of the status alone.
  const httpStatus = status < 400 ? 502 : status;
  const body = JSON.stringify({ ok: false, error: envelopeError(result) });
  if (result.kind !== 'rate-limited') return { httpStatus, body };
  return { httpStatus, body, retryAfterSeconds: Math.ceil(result.retryAfterMs / 1_000) };
}

const STATUS_OF_KIND = { 'key-refused': 502, 'rate-limited': 503, 'not-sent': 503, unknown: 504 } as const;

export function envelopeError(result: FailedResult): EnvelopeError {
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

/** Reads a result out of an envelope: the reverse of `writeEnvelope`. An envelope that cannot be read is a `failed` one. */
export function readEnvelope({ httpStatus, retryAfterSeconds, body }: Envelope): Result {
  if (body.startsWith(SUCCESS_HEAD)) {
    return { kind: 'ok', body: body.slice(SUCCESS_HEAD.length, -SUCCESS_END.length), httpStatus };
  }
  const unreadable = 'its answer cannot be read, it may be of another version; start it again';
  const { kind, message, code, status } = errorIn(body) ?? { kind: 'failed', message: unreadable };
  switch (kind) {
    case 'refused':
      return { kind, httpStatus, error: { message, code: code ?? '', ...(typeof status === 'string' && { status }) } };
    case 'key-refused':
      return { kind };
    case 'rate-limited':
      return { kind, retryAfterMs: (retryAfterSeconds ?? 0) * 1_000 };
    case 'not-sent':
      return { kind, why: message };
    case 'unknown':
      return { kind, why: message };
    default:
      return { kind, message, httpStatus };
  }
}

type ReadError = Pick<EnvelopeError, 'kind' | 'message'> & Partial<EnvelopeError>;

function errorIn(body: string): ReadError | undefined {
  try {
    const { error } = parse(body) as { error?: ReadError };
    return error !== undefined && Object.hasOwn(KINDS, error.kind) ? error : undefined;
  } catch {
    return undefined;
  }
}
