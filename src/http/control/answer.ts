import { parse } from 'lossless-json';
import { refusalReason, type RefusalReason } from '../../exchange/refusals.ts';
import type { FailedReply } from '../../exchange/reply.ts';

/** What this program itself has against a request: nothing was sent to the exchange. */
export interface OwnRefusal {
  /** `unusable`: an id that cannot be sent. `invalid`: the request. `failed`: no fault of the request; the log says why. */
  readonly kind: 'unusable' | 'invalid' | 'failed';
  readonly message: string;
  readonly httpStatus: number;
}

/** What an operation of the control socket comes to. `body` is JSON as the exchange wrote it, every digit kept. */
export type Outcome =
  | { readonly kind: 'ok'; readonly body: string; readonly httpStatus?: number }
  | FailedReply
  | OwnRefusal;

/** The error of an answer: the same six fields whatever happened, null where there is nothing to say. */
export interface Failure {
  readonly kind: Exclude<Outcome['kind'], 'ok'>;
  readonly reason: RefusalReason | null;
  readonly message: string;
  /** What the exchange answered with (§7). */
  readonly httpStatus: number | null;
  readonly code: string | null;
  readonly status: string | null;
}

/** An answer of the control socket, before it is written. */
export interface ControlAnswer {
  readonly httpStatus: number;
  readonly retryAfterSeconds?: number;
  readonly body: string;
}

const SUCCESS_HEAD = '{"ok":true,"value":';
const SUCCESS_END = '}';
const NOTHING = { reason: null, httpStatus: null, code: null, status: null } as const;

/** Writes an outcome in the one shape of the control socket. */
export function answerOf(outcome: Outcome): ControlAnswer {
  switch (outcome.kind) {
    case 'ok':
      // As text: read and written again, numbers would lose digits.
      return { httpStatus: outcome.httpStatus ?? 200, body: `${SUCCESS_HEAD}${outcome.body}${SUCCESS_END}` };
    case 'refused': {
      const { message, code, status } = outcome.error;
      const { kind, httpStatus } = outcome;
      const failure = { kind, reason: refusalReason(outcome), message, httpStatus, code, status: status ?? null };
      return failed(httpStatus, failure);
    }
    case 'key-refused':
      return failed(502, {
        ...NOTHING,
        kind: outcome.kind,
        message: 'the exchange refuses the key (401)',
        httpStatus: 401,
      });
    case 'rate-limited': {
      const message = 'the exchange limits the rate (429)';
      const retryAfterSeconds = Math.ceil(outcome.retryAfterMs / 1_000);
      return { ...failed(503, { ...NOTHING, kind: outcome.kind, message, httpStatus: 429 }), retryAfterSeconds };
    }
    case 'not-sent':
      return failed(503, { ...NOTHING, kind: outcome.kind, message: outcome.why });
    case 'unknown':
      return failed(504, { ...NOTHING, kind: outcome.kind, message: outcome.why });
    case 'unusable':
    case 'invalid':
    case 'failed':
      return failed(outcome.httpStatus, { ...NOTHING, kind: outcome.kind, message: outcome.message });
  }
}

/** Reads an answer of the control socket: `answerOf` backwards. */
export function outcomeOf({ httpStatus, retryAfterSeconds, body }: ControlAnswer): Outcome {
  if (body.startsWith(SUCCESS_HEAD)) {
    return { kind: 'ok', body: body.slice(SUCCESS_HEAD.length, -SUCCESS_END.length), httpStatus };
  }
  const error = failureIn(body);
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

function failureIn(body: string): Omit<Failure, 'httpStatus'> | undefined {
  try {
    return (parse(body) as { error?: Omit<Failure, 'httpStatus'> }).error;
  } catch {
    return undefined;
  }
}

function failed(httpStatus: number, error: Failure): ControlAnswer {
  return { httpStatus, body: JSON.stringify({ ok: false, error }) };
}
