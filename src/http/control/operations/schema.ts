import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { ERRORS, failureSchema, type ErrorStatus } from './errors.ts';
import type { Operation } from './operation.ts';

/** The schema of an operation's route: requests are checked by it, and the OpenAPI document is made from it. */
export function schemaOf(operationId: string, operation: Operation): FastifySchema {
  const { tag, summary, description, params, query, body, values, errors } = operation;
  const successes = Object.entries(values).map(([status, value]) => [status, success(value)] as const);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(params !== undefined && { params }),
    ...(query !== undefined && { querystring: query }),
    ...(body !== undefined && { body }),
    response: { ...Object.fromEntries(successes), ...errorAnswers(errors) },
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
