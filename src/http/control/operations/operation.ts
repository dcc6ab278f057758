import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import type { FlowDeps } from '../../../flows/pass/deps.ts';
import type { Result } from '../envelope.ts';
import { ERRORS, failureSchema, type ErrorStatus } from './errors.ts';

/** The things that the operations of the control socket work with. */
export interface OperationDeps extends FlowDeps {
  /** Wakes the create pass: orders were put in, and need not wait for the next tick. */
  readonly wakeCreates: () => void;
}

/** An account that is in use, until this is disposed of: it is not stopped meanwhile, unless the process stops. */
export interface AccountInUse extends Disposable {
  readonly app: OperationDeps;
}

/** The accounts that operations are asked for. */
export interface Accounts {
  /** Gives undefined where this process does not drive the account. */
  use(account: string): Promise<AccountInUse | undefined>;
}

/** The field of every request that names the account. */
export const accountQuery = z.object({
  account: z
    .string()
    .min(1)
    .max(200)
    .default('default')
    .meta({ description: 'Name of the account, as the settings have it.', examples: ['default'] }),
});

/** One operation: what it takes and answers, as the OpenAPI document says it, and what it does. */
export interface Operation<Params = unknown, Query = unknown, Body = unknown> {
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodObject & z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** The `value` of a success. */
  readonly value: z.ZodType;
  /** The HTTP statuses of a success; 200 unless given. */
  readonly statuses?: readonly number[];
  /** The documented errors, by HTTP status. */
  readonly errors: readonly ErrorStatus[];
  /** Does it. `signal` aborts when nobody waits for the answer any more. Throws `UnusableIdError`. */
  run(deps: OperationDeps, input: Params & Query & Body, signal?: AbortSignal): Promise<Result>;
}

/** Gives an operation back as it is, with the types of its input. */
export function operation<Params, Query, Body>(
  described: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> {
  return described;
}

/** Names the schema of a value for the document. Nothing is checked against it but the example. */
export function named(id: string, description: string, schema: z.ZodType, example: unknown): z.ZodType {
  return schema.meta({ id, description, examples: [example] });
}

/** The schema of an operation's route: requests are checked by it, and the OpenAPI document is made from it. */
export function schemaOf(operationId: string, described: Omit<Operation, 'run'>): FastifySchema {
  const { tag, summary, description, params, query, body, value, statuses = [200], errors } = described;
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(params !== undefined && { params }),
    querystring: z.object({ ...query?.shape, ...accountQuery.shape }),
    ...(body !== undefined && { body }),
    response: { ...Object.fromEntries(statuses.map((status) => [status, success(value)])), ...errorAnswers(errors) },
  };
}

/** The documented answers for errors, by HTTP status. */
export function errorAnswers(errors: readonly ErrorStatus[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    errors.toSorted().map((status) => [status, failureSchema.describe(ERRORS[status].description)]),
  );
}

function success(value: z.ZodType): z.ZodType {
  const { description = '', examples = [] } = value.meta() ?? {};
  return z
    .object({ ok: z.literal(true), value })
    .meta({ description, examples: (examples as unknown[]).map((example) => ({ ok: true, value: example })) });
}
