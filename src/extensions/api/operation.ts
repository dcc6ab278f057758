import { z } from 'zod';
import type { ServerResponse } from 'node:http';
import type { AccountInUse, OperationDeps } from '../../accounts/account.ts';
import type { Services } from '../../daemon.ts';
import type { Store } from '../../store/port.ts';
import type { Clock } from '../../base/clock.ts';
import type { Caller, Scope } from './caller.ts';
import { conflict, forbidden, invalid, limited, notFound, UNAUTHORIZED_RESULT } from './envelope.ts';
import { failureSchema, PROBLEM_TYPE, problemOf, writeEnvelope } from './envelope.ts';
import type { FailedResult, Result } from './envelope.ts';

export interface Accounts {
  use(account: string): Promise<AccountInUse | undefined>;
  /** Reads the URL of the account's owner from the database; undefined if no owner or no URL is known. */
  ownerUrl?(account: string): Promise<string | undefined>;
}

export interface CalledDeps extends OperationDeps {
  readonly caller: Caller;
  /** A second request with this key is not executed again. */
  readonly idempotencyKey?: string | undefined;
}

/** The address of an operation. A command that asks a daemon loads only the address, so that it starts fast. */
export interface OperationAddress {
  readonly method: 'GET' | 'POST';
  /** A caller needs one of these scopes. */
  readonly scopes: readonly Scope[];
  /** A `:name` stands for a field of the input. */
  readonly url: string;
  /** The part of the request that carries the other fields of the input. */
  readonly rest?: 'query' | 'body';
  /** The first words of a command's error if the exchange does not have the link. Default: `no link`. */
  readonly absent?: string;
}

/** An operation that only the owner of the account executes. */
export type AskedOperation = OperationAddress & { readonly load: () => Promise<Operation> };

/** An operation that any process executes, because the operation only reads the database. */
export type ReadAddress = OperationAddress & { readonly read: () => Promise<ReadOperation> };

export type InputOf<Asked extends AskedOperation> = Parameters<Awaited<ReturnType<Asked['load']>>['run']>[1] & object;

declare module '../../cli/extension.ts' {
  interface Extension {
    /** Operations of the control socket and the API, by their ids in the OpenAPI document. */
    readonly operations?: Readonly<Record<string, AskedOperation | ReadAddress>>;
  }
}

export const textParameter = (description: string, example: string) =>
  z.string().meta({ description, examples: [example] });

export function countParameter(description: string, most: number, usual: number) {
  return z.coerce
    .number<string>()
    .int()
    .min(1)
    .max(most)
    .default(usual)
    .meta({ description, examples: [usual] });
}

const account = textParameter('Name of the account, as the settings have it.', 'default').min(1).max(200);

export interface Operation<Params = unknown, Query = unknown, Body = unknown> {
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodObject & z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  readonly value: z.ZodType;
  /** The HTTP statuses of a success. Default: 200. */
  readonly statuses?: readonly number[];
  /** If an operation lists 422, it accepts an `Idempotency-Key` and executes a request with the key once. */
  readonly errors: readonly ErrorStatus[];
  /** `signal` aborts when the server stops, the caller disconnects or the time is over. Throws `UnusableIdError`. */
  run(deps: CalledDeps, input: Params & Query & Body, signal?: AbortSignal): Promise<Result>;
}

export interface ReadDeps {
  readonly store: Pick<Store, 'db' | 'newEvents'>;
  readonly clock: Clock;
  readonly services: Services;
  /** Aborts when the server stops, which ends the streams. */
  readonly stopping: AbortSignal;
}

export interface ReadOperation<Params = unknown, Query = unknown> extends Omit<
  Operation<Params, Query>,
  'run' | 'body'
> {
  run(deps: ReadDeps, input: Params & Query & { readonly account: string }): Promise<Result>;
  /** Makes the streams that answer requests with `accept: text/event-stream`. Each server calls `streams` once. */
  streams?(deps: ReadDeps): {
    open(input: Params & Query & { readonly account: string }, lastId: string | undefined): Promise<Begun>;
  };
}

/** A function that begins a stream, or the refusal of the stream. */
type Begun = FailedResult | ((response: ServerResponse) => void);

export const reading = <Params, Query>(described: ReadOperation<Params, Query>) => described;
export const operation = <Params, Query, Body>(described: Operation<Params, Query, Body>) => described;

/** Names the schema of a value for the OpenAPI document. Answers are not checked against the schema. */
export const named = (id: string, description: string, schema: z.ZodType, example: unknown) =>
  schema.meta({ id, description, examples: [example] });

const RETRY_AFTER = { 'retry-after': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } } };
const HEADERS: Readonly<Record<string, object>> = {
  KeyRefused: RETRY_AFTER,
  NotNow: RETRY_AFTER,
  OutcomeUnknown: RETRY_AFTER,
  Limited: RETRY_AFTER,
  Unauthorized: { 'www-authenticate': { description: 'Bearer.', schema: { type: 'string' } } },
  MethodNotAllowed: { allow: { description: 'The methods of this path.', schema: { type: 'string' } } },
};

function documented(name: string, description: string, results: Record<string, FailedResult>) {
  const valueOf = (result: FailedResult) => ({ value: problemOf(result, writeEnvelope(result).httpStatus) });
  const examples = Object.fromEntries(Object.entries(results).map(([example, result]) => [example, valueOf(result)]));
  const content = { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Failure' }, examples } };
  const headers = HEADERS[name];
  return { name, response: { description, ...(headers !== undefined && { headers }), content } };
}

function refused(httpStatus: number, message: string, code: string, status?: string): FailedResult {
  return { kind: 'refused', httpStatus, error: { message, code, ...(status !== undefined && { status }) } };
}

export const NOT_OWNER_RESULT = {
  kind: 'not-owner',
  message: 'this process does not drive the account; ask the one that does',
  httpStatus: 421,
} as const satisfies FailedResult;

const NOT_OWNER = 'This process does not drive the account. Nothing was done; another process may drive it.';
const NO_ANSWER_YET = 'a request with this Idempotency-Key began at 2026-01-05T12:00:00.000Z and has no stored answer';

export const ERRORS = {
  '400': documented('BadRequest', 'The request is wrong, an id cannot be sent, or the exchange refused the request.', {
    invalid: invalid('body/email: Invalid input: expected string'),
    unusable: { kind: 'unusable', message: '".." cannot be an id; check the id and try again', httpStatus: 400 },
    invalidEmail: refused(400, 'invalid email', '400', 'INVALID_EMAIL'),
    linkExists: refused(400, 'link already exists', '400', 'LINK_ALREADY_EXISTS'),
    badRequest: refused(400, 'validation error', '400', 'BAD_REQUEST'),
    noUploadUrl: refused(400, 'Upload url was not set', 'INVALID_VALUE'),
  }),
  '401': documented('Unauthorized', 'The API: the request has no token, or a token that `api.tokens` does not list.', {
    unauthorized: UNAUTHORIZED_RESULT,
  }),
  '403': documented(
    'Forbidden',
    'The API: the token lacks the scope or the account that this request needs. Or the exchange answered 403.',
    {
      forbidden: forbidden('this needs a token with the scope orders'),
      otherRefusal: refused(403, 'not for this merchant', '403', 'FORBIDDEN'),
    },
  ),
  '404': documented(
    'NotFound',
    'The exchange does not have what the request names. If the request reads only the database, the database does not have it.',
    {
      linkNotFound: refused(404, 'link not found', '404', 'NOT_FOUND'),
      orderNotFound: notFound('there is no order "shop-1001"'),
    },
  ),
  '405': documented('MethodNotAllowed', 'The path exists, but not with this method.', {
    methodNotAllowed: invalid('the methods of this path are GET, POST', 405, 'method-not-allowed'),
  }),
  '409': documented(
    'Conflict',
    'The table has an order of this id with other content, the decision cannot be made as things stand, the same decision ' +
      'was made before, a request of this Idempotency-Key has no stored answer, or the cursor is not of this feed. Nothing was changed.',
    {
      conflict: conflict('it is final; a person has nothing to decide'),
      noAnswerYet: { kind: 'unknown', why: NO_ANSWER_YET, httpStatus: 409 },
      differs: conflict('"shop-1001" is in the table with another asset'),
      cursorAhead: invalid('the cursor 1042 is ahead of the feed, which ends at 7', 409, 'cursor-ahead'),
    },
  ),
  '413': documented('TooLarge', 'The body of the request is too large.', {
    tooLarge: invalid('Request body is too large', 413),
  }),
  '421': documented('NotOwner', NOT_OWNER, { notOwner: NOT_OWNER_RESULT }),
  '422': documented('KeyReused', 'Another request of the last day has used the Idempotency-Key. Nothing was done.', {
    keyReused: invalid('another request has used this Idempotency-Key', 422, 'key-reused'),
  }),
  '429': documented('Limited', 'The API: the token asks more often than its `rate`. Nothing was done.', {
    limited: limited(40),
  }),
  '4xx': documented('Refused', 'Any other refusal: by the exchange, with its HTTP status, or by this program.', {
    otherRefusal: refused(410, 'the link is gone', '410', 'GONE'),
  }),
  '500': documented(
    'Failed',
    'The daemon failed; its log says why. If a link was made but cannot be remembered, the message names it.',
    { failed: { kind: 'failed', message: 'the daemon failed; its log says why', httpStatus: 500 } },
  ),
  '502': documented('KeyRefused', 'The exchange refuses the merchant key.', { keyRefused: { kind: 'key-refused' } }),
  '503': documented(
    'NotNow',
    'Nothing was done; ask again, after Retry-After if the answer has it. The exchange limits the rate, it cannot be ' +
      'reached, the daemon stops, or its database cannot be written.',
    {
      rateLimited: { kind: 'rate-limited', retryAfterMs: 7_000 },
      notSent: { kind: 'not-sent', why: 'GET /api/v1/merchant/client/link-1: ECONNREFUSED' },
    },
  ),
  '504': documented(
    'OutcomeUnknown',
    'No answer came, or none that can be read. It is not known whether the exchange did what was asked.',
    { unknown: { kind: 'unknown', why: 'POST /api/v1/merchant/client: ETIMEDOUT' } },
  ),
};

export type ErrorStatus = keyof typeof ERRORS;

export const OWN_ERRORS: readonly ErrorStatus[] = ['400', '421', '4xx', '500', '503'];
export const EXCHANGE_ERRORS: readonly ErrorStatus[] = [...OWN_ERRORS, '502', '504'];
export const DECISION_ERRORS: readonly ErrorStatus[] = [...OWN_ERRORS, '404', '409', '413', '422'];
export const READ_ERRORS: readonly ErrorStatus[] = ['400', '4xx', '500', '503'];
export const LOOKUP_ERRORS: readonly ErrorStatus[] = [...EXCHANGE_ERRORS, '404'];

const EVERYWHERE: readonly ErrorStatus[] = ['401', '403', '405', '429'];

export function schemaOf(operationId: string, { scopes }: OperationAddress, described: Omit<Operation, 'run'>) {
  const { tag, summary, description, params, query, body, value, statuses = [200], errors } = described;
  const needed = `Scope of a token: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
  const failures = [...errors, ...EVERYWHERE]
    .toSorted()
    .map((status) => [status, failureSchema.describe(ERRORS[status].response.description)]);
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, needed].filter(Boolean).join(' '),
    'x-scopes': scopes,
    ...(errors.includes('422') && { headers: keyHeader }),
    ...(params !== undefined && { params }),
    querystring: z.strictObject({ ...query?.shape, account: account.default('default') }),
    ...(body !== undefined && { body }),
    response: Object.fromEntries([...statuses.map((status) => [status, success(value)]), ...failures]) as object,
  };
}

/** A loose object, because a request has other headers too. */
const keyHeader = z.looseObject({
  'idempotency-key': textParameter('A request with the key of an earlier one is not done again.', '3f9ac0d1-e2b4')
    .regex(/^[\x21-\x7e]{1,200}$/)
    .optional(),
});

function success(value: z.ZodType): z.ZodType {
  const { description = '', examples = [] } = value.meta() ?? {};
  return z
    .object({ ok: z.literal(true), value })
    .meta({ description, examples: (examples as unknown[]).map((example) => ({ ok: true, value: example })) });
}
