import { parse } from 'lossless-json';
import { refusalReason, type RefusalReason } from '../../exchange/refusals.ts';
import type { FailedResult, Result } from './result.ts';

/** A result as the control socket writes it: the one shape of all its answers, with the HTTP status. */
export interface Envelope {
  readonly httpStatus: number;
  readonly retryAfterSeconds?: number;
  readonly body: string;
}

/** The error in an envelope: always these six fields, null where there is nothing to say. */
export interface EnvelopeError {
  readonly kind: FailedResult['kind'];
  readonly reason: RefusalReason | null;
  readonly message: string;
  /** HTTP status that the exchange answered with (§7). */
  readonly httpStatus: number | null;
  readonly code: string | null;
  readonly status: string | null;
}

/** The fields of an error that does not come from the exchange. */
export const NOT_OF_THE_EXCHANGE = { reason: null, httpStatus: null, code: null, status: null } as const;

const SUCCESS_HEAD = '{"ok":true,"value":';
const SUCCESS_END = '}';

/** Writes a result into an envelope. */
export function writeEnvelope(result: Result): Envelope {
  switch (result.kind) {
    case 'ok':
      // The body goes in as text: parsed and written again, its numbers would lose digits.
      return { httpStatus: result.httpStatus ?? 200, body: `${SUCCESS_HEAD}${result.body}${SUCCESS_END}` };
    case 'refused': {
      const { message, code, status = null } = result.error;
      const { kind, httpStatus } = result;
      return failure(httpStatus, { kind, reason: refusalReason(result), message, httpStatus, code, status });
    }
    case 'key-refused': {
      const message = 'the exchange refuses the key (401)';
      return failure(502, { ...NOT_OF_THE_EXCHANGE, kind: result.kind, message, httpStatus: 401 });
    }
    case 'rate-limited': {
      const message = 'the exchange limits the rate (429)';
      const error = { ...NOT_OF_THE_EXCHANGE, kind: result.kind, message, httpStatus: 429 };
      return { ...failure(503, error), retryAfterSeconds: Math.ceil(result.retryAfterMs / 1_000) };
    }
    case 'not-sent':
      return failure(503, { ...NOT_OF_THE_EXCHANGE, kind: result.kind, message: result.why });
    case 'unknown':
      return failure(504, { ...NOT_OF_THE_EXCHANGE, kind: result.kind, message: result.why });
    case 'unusable':
    case 'invalid':
    case 'failed':
      return failure(result.httpStatus, { ...NOT_OF_THE_EXCHANGE, kind: result.kind, message: result.message });
  }
}

/** Reads a result out of an envelope: the reverse of `writeEnvelope`. An envelope that cannot be read is a `failed` one. */
export function readEnvelope({ httpStatus, retryAfterSeconds, body }: Envelope): Result {
  if (body.startsWith(SUCCESS_HEAD)) {
    return { kind: 'ok', body: body.slice(SUCCESS_HEAD.length, -SUCCESS_END.length), httpStatus };
  }
  const error = errorIn(body);
  switch (error?.kind) {
    case 'refused': {
      const { message, code, status } = error;
      return { kind: 'refused', httpStatus, error: { message, code: code ?? '', ...(status !== null && { status }) } };
    }
    case 'key-refused':
      return { kind: 'key-refused' };
    case 'rate-limited':
      return { kind: 'rate-limited', retryAfterMs: (retryAfterSeconds ?? 0) * 1_000 };
    case 'not-sent':
    case 'unknown':
      return { kind: error.kind, why: error.message };
    case 'unusable':
    case 'invalid':
    case 'failed':
      return { kind: error.kind, message: error.message, httpStatus };
    case undefined:
      break;
  }
  const message = 'its answer cannot be read, it may be of another version; start it again';
  return { kind: 'failed', message, httpStatus };
}

function errorIn(body: string): Omit<EnvelopeError, 'httpStatus'> | undefined {
  try {
    return (parse(body) as { error?: Omit<EnvelopeError, 'httpStatus'> }).error;
  } catch {
    return undefined;
  }
}

function failure(httpStatus: number, error: EnvelopeError): Envelope {
  return { httpStatus, body: JSON.stringify({ ok: false, error }) };
}
