import Big from 'big.js';
import { isLosslessNumber, type LosslessNumber, parse } from 'lossless-json';
import { z } from 'zod';
import { termsOf } from '../terms.ts';
import { refuse, type SandboxAnswer, type SandboxRequest } from './answer.ts';

/** The two verification flows (§4.4). */
export const levelSchema = z.enum(['MAIN', 'LIVENESS']);

/** A JSON number with every digit. */
const exactNumber = z.custom<LosslessNumber>(isLosslessNumber, { error: 'must be a number', abort: true });
const text = z.string().min(1);
const bodyError = (issue: { code?: string }) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined);

// Strict: a field that the interface does not show is an error of the sender.

/** The body of §4.1 and §4.2. An invalid address has a refusal of its own, INVALID_EMAIL. */
export const emailRequest = z.strictObject({ email: z.string() }, { error: bodyError });

/** The body of §4.5. */
export const photoRequest = z.strictObject(
  { kycLevelType: levelSchema, actionId: z.string().nullish(), token: z.string().nullish() },
  { error: bodyError },
);
/** The fields of a request for photos. */
export type PhotoRequest = z.infer<typeof photoRequest>;

/** The body of §4.9 by the rules of §2.6 and §8. */
export const preOrderRequest = z
  .strictObject(
    {
      externalOrderId: text,
      asset: exactNumber.refine(({ value }) => new Big(value).gt(0), 'must be positive'),
      assetPosition: text,
      currencyPair: z.strictObject({ fromCurrency: text, toCurrency: text }),
      orderType: text,
      limit: exactNumber.nullish(),
      paymentToken: z.string().nullish(),
      providerType: z.string().nullish(),
      cryptoAddress: z.string().nullish(),
      bonus: exactNumber.nullish(),
    },
    { error: bodyError },
  )
  .refine(
    ({ asset, bonus, currencyPair }) => !bonus || new Big(bonus.value).lt(termsOf(currencyPair, asset.value).crypto),
    {
      path: ['bonus'],
      message: 'must be less than the crypto amount',
    },
  );

/** The fields of a create (§4.9), numbers with every digit. */
export type PreOrderFields = z.infer<typeof preOrderRequest>;

/** Answers a request by its body, or refuses it with what is wrong with the body. */
export function withBody<Schema extends z.ZodType, Answer extends SandboxAnswer>(
  schema: Schema,
  { headers, body }: SandboxRequest,
  act: (fields: z.output<Schema>) => Answer,
): Answer | SandboxAnswer {
  if (!/^application\/json(;|$)/i.test(headers['content-type'] ?? '')) {
    return refuse('malformed', 'content-type: must be application/json');
  }
  const checked = schema.safeParse(readJson(body ?? ''));
  if (checked.success) return act(checked.data);
  const [issue] = checked.error.issues;
  return refuse('malformed', `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
}

function readJson(body: string): unknown {
  try {
    return parse(body);
  } catch {
    return undefined;
  }
}
