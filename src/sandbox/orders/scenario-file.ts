import { parse } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../config/values.ts';
import type { Scenarios } from './scenario.ts';

const duration = z.string().transform((text, context) => {
  try {
    return parseDuration(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});
const status = z.string().min(1).optional();
const scenario = z
  .strictObject({
    appearsAfter: z.union([z.literal('never').transform(() => null), duration]),
    steps: z
      .array(
        z
          .strictObject({
            after: duration,
            order: status,
            crypto: status,
            fiat: status,
            completed: z.boolean().optional(),
          })
          .transform(({ after: afterMs, order: orderStatus, crypto: cryptoStatus, fiat: fiatStatus, completed }) => ({
            afterMs,
            orderStatus,
            cryptoStatus,
            fiatStatus,
            completed,
          })),
      )
      .default([]),
  })
  .transform(({ appearsAfter, steps }) => ({ appearsAfterMs: appearsAfter, steps }));
const file = z.record(z.string().regex(/^[\w-]+$/, 'must be a name of letters, digits, - and _'), scenario);

/**
 * Reads the scenarios of a YAML file, by name: `name: {appearsAfter: 2s, steps: [{after: 3s, order: PAID, completed: true}]}`; the
 * statuses of a step are `order`, `crypto` and `fiat`, `appearsAfter` may be `never`. Throws an error that says where.
 */
export function readScenarios(yaml: string): Scenarios {
  const checked = file.safeParse(parse(yaml));
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'cannot be read'}`);
}
