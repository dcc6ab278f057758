import Big from 'big.js';
import { isLosslessNumber, type LosslessNumber, parse } from 'lossless-json';
import { z } from 'zod';

const exactNumber = z.custom<LosslessNumber>(isLosslessNumber, 'must be a number');
const text = z.string().min(1);
// Strict: a field that the interface does not show is a mistake of the sender's.
const createSchema = z.strictObject(
  {
    externalOrderId: text,
    asset: exactNumber,
    assetPosition: text,
    currencyPair: z.strictObject({ fromCurrency: text, toCurrency: text }),
    orderType: text,
    limit: exactNumber.nullish(),
    paymentToken: z.string().nullish(),
    providerType: z.string().nullish(),
    cryptoAddress: z.string().nullish(),
    bonus: exactNumber.nullish(),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined) },
);

/** The fields of a create (§4.9), numbers with every digit. */
export type CreateFields = z.infer<typeof createSchema>;

/** Reads the body of a create by the rules of §2.6 and §8, or says what is wrong with it. */
export function readCreate(body: string): { fields: CreateFields } | { problem: string } {
  const checked = createSchema.safeParse(readJson(body));
  if (!checked.success) {
    const issue = checked.error.issues[0];
    return { problem: `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}` };
  }
  const { asset, bonus } = checked.data;
  if (!new Big(asset.value).gt(0)) return { problem: 'asset: must be positive' };
  // Every order of the sandbox sells crypto, so that the asset is its crypto amount.
  if (bonus && !new Big(bonus.value).lt(asset.value)) return { problem: 'bonus: must be less than the crypto amount' };
  return { fields: checked.data };
}

function readJson(body: string): unknown {
  try {
    return parse(body);
  } catch {
    return undefined;
  }
}
