import { z } from 'zod';
import { failureSchema } from '../envelope.ts';
import { accountQuery, ERRORS, textParameter } from '../operation.ts';
import type { ErrorStatus, Operation, OperationAddress } from '../operation.ts';

/** The error statuses of every operation. */
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
    querystring: z.strictObject({ ...query?.shape, ...accountQuery.shape }),
    ...(body !== undefined && { body }),
    response: Object.fromEntries([...statuses.map((status) => [status, success(value)]), ...failures]) as object,
  };
}

/** Other headers are allowed. */
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
