import { z } from 'zod';
import { NOT_OF_THE_EXCHANGE, type EnvelopeError } from '../envelope.ts';

const KINDS = [
  'refused',
  'key-refused',
  'rate-limited',
  'not-sent',
  'unknown',
  'unusable',
  'invalid',
  'failed',
] as const satisfies readonly EnvelopeError['kind'][];

const REASONS = [
  'not-found',
  'invalid-email',
  'link-already-exists',
  'bad-request',
  'upload-url-not-set',
  'other',
] as const satisfies readonly EnvelopeError['reason'][];

/** Every answer that is no success. */
export const failureSchema = z
  .object({
    ok: z.literal(false),
    error: z.object({
      kind: z
        .enum(KINDS)
        .describe(
          'refused: the exchange said no. key-refused: the exchange refuses the merchant key. rate-limited: the exchange ' +
            'limits the rate. not-sent: nothing left, ask again. unknown: nobody can tell whether the exchange did it. ' +
            'unusable: an id cannot be sent. invalid: this request cannot be used. failed: the daemon could not do it.',
        ),
      reason: z.enum(REASONS).nullable().describe('Which of the documented refusals of the exchange it is.'),
      message: z.string().describe('For people.'),
      httpStatus: z.int().nullable().describe('HTTP status that the exchange answered with.'),
      code: z.string().nullable().describe('Code in the error of the exchange.'),
      status: z.string().nullable().describe('Status in the error of the exchange.'),
    }),
  })
  .meta({ id: 'Failure', description: 'What every answer is that is no success.' });

interface DocumentedError {
  readonly name: string;
  readonly description: string;
  readonly examples: Readonly<Record<string, EnvelopeError>>;
}

function refused(
  httpStatus: number,
  reason: EnvelopeError['reason'],
  message: string,
  code: string,
  status: string | null,
) {
  return { kind: 'refused', reason, message, httpStatus, code, status } as const;
}

/** The errors of the control socket by HTTP status. */
export const ERRORS = {
  '400': {
    name: 'BadRequest',
    description: 'The request cannot be used, an id cannot be sent, or the exchange refused it.',
    examples: {
      invalid: { ...NOT_OF_THE_EXCHANGE, kind: 'invalid', message: 'body/email: Invalid input: expected string' },
      unusable: {
        ...NOT_OF_THE_EXCHANGE,
        kind: 'unusable',
        message: '".." cannot be an id; check the id and try again',
      },
      invalidEmail: refused(400, 'invalid-email', 'invalid email', '400', 'INVALID_EMAIL'),
      linkExists: refused(400, 'link-already-exists', 'link already exists', '400', 'LINK_ALREADY_EXISTS'),
      badRequest: refused(400, 'bad-request', 'validation error', '400', 'BAD_REQUEST'),
      noUploadUrl: refused(400, 'upload-url-not-set', 'Upload url was not set', 'INVALID_VALUE', null),
    },
  },
  '404': {
    name: 'NotFound',
    description: 'The exchange does not have it.',
    examples: { linkNotFound: refused(404, 'not-found', 'link not found', '404', 'NOT_FOUND') },
  },
  '409': {
    name: 'Conflict',
    description: 'The id stands for an order with other content already. Nothing was changed.',
    examples: {
      differs: {
        ...NOT_OF_THE_EXCHANGE,
        kind: 'invalid',
        message: '"shop-1001" stands in the table with another asset',
      },
    },
  },
  '413': {
    name: 'TooLarge',
    description: 'The body of the request is too large.',
    examples: { tooLarge: { ...NOT_OF_THE_EXCHANGE, kind: 'invalid', message: 'Request body is too large' } },
  },
  '4xx': {
    name: 'Refused',
    description: 'Any other refusal of the exchange, with its own HTTP status, or of this request.',
    examples: { otherRefusal: refused(403, 'other', 'not for this merchant', '403', 'FORBIDDEN') },
  },
  '500': {
    name: 'Failed',
    description:
      'The daemon failed; its log says why. A link that was made but cannot be remembered is named in the message.',
    examples: { failed: { ...NOT_OF_THE_EXCHANGE, kind: 'failed', message: 'the daemon failed; its log says why' } },
  },
  '502': {
    name: 'KeyRefused',
    description: 'The exchange refuses the merchant key.',
    examples: {
      keyRefused: {
        ...NOT_OF_THE_EXCHANGE,
        kind: 'key-refused',
        message: 'the exchange refuses the key (401)',
        httpStatus: 401,
      },
    },
  },
  '503': {
    name: 'NotNow',
    description:
      'Nothing was done; ask again, after Retry-After where it is given. The exchange limits the rate, it cannot be ' +
      'reached, the daemon stops, or its database cannot be written.',
    examples: {
      rateLimited: {
        ...NOT_OF_THE_EXCHANGE,
        kind: 'rate-limited',
        message: 'the exchange limits the rate (429)',
        httpStatus: 429,
      },
      notSent: {
        ...NOT_OF_THE_EXCHANGE,
        kind: 'not-sent',
        message: 'GET /api/v1/merchant/client/link-1: ECONNREFUSED',
      },
    },
  },
  '504': {
    name: 'OutcomeUnknown',
    description: 'No answer came, or none that can be read. Nobody can tell whether the exchange did what was asked.',
    examples: {
      unknown: { ...NOT_OF_THE_EXCHANGE, kind: 'unknown', message: 'POST /api/v1/merchant/client: ETIMEDOUT' },
    },
  },
} as const satisfies Readonly<Record<string, DocumentedError>>;

/** HTTP status of a documented error. */
export type ErrorStatus = keyof typeof ERRORS;

/** What an operation may answer that is done here. */
export const OWN_ERRORS: readonly ErrorStatus[] = ['400', '4xx', '500', '503'];
/** What an operation may answer that asks the exchange. */
export const EXCHANGE_ERRORS: readonly ErrorStatus[] = [...OWN_ERRORS, '502', '504'];
/** The same of one that is about a link or another thing that the exchange may not have. */
export const LOOKUP_ERRORS: readonly ErrorStatus[] = [...EXCHANGE_ERRORS, '404'];
