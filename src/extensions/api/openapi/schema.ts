import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import type { Scope } from '../caller.ts';
import { failureSchema } from '../envelope.ts';
import {
  accountQuery,
  ERRORS,
  textParameter,
  type ErrorStatus,
  type Operation,
  type OperationAddress,
} from '../operation.ts';

/** The error statuses of every operation. */
const EVERYWHERE: readonly ErrorStatus[] = ['401', '403', '405', '429'];

export function schemaOf(
  operationId: string,
  { scopes }: OperationAddress,
  described: Omit<Operation, 'run'>,
): FastifySchema {
  const { tag, summary, description, params, query, body, value, statuses = [200], errors } = described;
  return {
    operationId,
    tags: [tag],
    summary,
    ...scopesOf(scopes, description),
    ...(errors.includes('422') && { headers: keyHeader }),
    ...(params !== undefined && { params }),
    querystring: z.strictObject({ ...query?.shape, ...accountQuery.shape }),
    ...(body !== undefined && { body }),
    response: { ...Object.fromEntries(statuses.map((status) => [status, success(value)])), ...errorAnswers(errors) },
  };
}

/** Other headers are allowed. */
const keyHeader = z.looseObject({
  'idempotency-key': textParameter('A request with the key of an earlier one is not done again.', '3f9ac0d1-e2b4')
    .regex(/^[\x21-\x7e]{1,200}$/)
    .optional(),
});

/** Describes the scopes of an operation in the OpenAPI document. */
export function scopesOf(scopes: readonly Scope[], description?: string) {
  const needed = `Scope of a token: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
  return { description: [description, needed].filter(Boolean).join(' '), 'x-scopes': scopes };
}

export function errorAnswers(errors: readonly ErrorStatus[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    [...errors, ...EVERYWHERE]
      .toSorted()
      .map((status) => [status, failureSchema.describe(ERRORS[status].response.description)]),
  );
}

function success(value: z.ZodType): z.ZodType {
  const { description = '', examples = [] } = value.meta() ?? {};
  return z
    .object({ ok: z.literal(true), value })
    .meta({ description, examples: (examples as unknown[]).map((example) => ({ ok: true, value: example })) });
}
