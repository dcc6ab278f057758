/** A refusal of the sandbox. */
export interface Refusal {
  readonly httpStatus: number;
  readonly body: { readonly message: string; readonly code: string; readonly status?: string };
  /** The cause. */
  readonly when: string;
  /** The interface shows it (§7); the others are ours. */
  readonly isDocumented: boolean;
}

/** Every refusal of the sandbox, by a name of ours. */
export const REFUSALS = {
  keyRefused: documented(401, 'UNAUTHORIZED', 'invalid x-api-key', 'another key, or none'),
  invalidEmail: ofEmail(
    'INVALID_EMAIL',
    'an e-mail address without one @ between two parts, with a space, or of over 254 characters',
  ),
  linkAlreadyExists: ofEmail('LINK_ALREADY_EXISTS', 'an e-mail address that a link was made for, in whatever case'),
  badEmailRequest: ofEmail('BAD_REQUEST', 'an e-mail address that begins with bad-request'),
  linkNotFound: documented(404, 'NOT_FOUND', 'link not found', 'the id of no link'),
  uploadUrlNotSet: {
    httpStatus: 400,
    body: { message: 'Upload url was not set', code: 'INVALID_VALUE' },
    when: 'no delivery address is set, or the client has an e-mail address that begins with no-upload-url',
    isDocumented: true,
  },
  malformed: ours(400, 'BAD_REQUEST', 'what is wrong, and where', 'a request that is not what the interface says'),
  preOrderNotFound: ours(404, 'NOT_FOUND', 'pre-order not found', 'the id of no pre-order'),
  orderNotFound: ours(404, 'NOT_FOUND', 'order not found', 'the external order id of no order that has appeared'),
  noSuchEndpoint: ours(404, 'NOT_FOUND', 'no such endpoint', 'another method or path'),
  tooManyRequests: ours(429, 'TOO_MANY_REQUESTS', 'too many requests', 'more requests than the rate of the sandbox'),
} as const satisfies Record<string, Refusal>;

/** The name of a refusal. */
export type RefusalName = keyof typeof REFUSALS;

function documented(httpStatus: number, status: string, message: string, when: string): Refusal {
  return { httpStatus, body: { message, code: String(httpStatus), status }, when, isDocumented: true };
}

function ofEmail(status: string, when: string): Refusal {
  return documented(400, status, 'validation errors', when);
}

function ours(httpStatus: number, status: string, message: string, when: string): Refusal {
  return { ...documented(httpStatus, status, message, when), isDocumented: false };
}
