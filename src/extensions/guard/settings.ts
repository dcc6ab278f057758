import { z } from 'zod';
import { section, settingsPart } from '../../settings/settings.ts';
import { areDifferent, decimal, fields, jsonList } from '../../settings/shapes.ts';
import { optional, text, wholeNumber } from '../../settings/values.ts';
import type { AssetLimit } from './create-window.ts';

const LIMIT = 'such as [{"from": "BTC", "to": "EUR", "asset": "2.5"}]';
const code = text(
  (given) => {
    if (given !== '') return given;
    throw new Error('must be a currency');
  },
  { type: 'string', minLength: 1 },
);
const asset = decimal((sign) => sign > 0, 'must be a decimal above 0');

const assetLimit = fields({ from: code, to: code, currency: code.optional(), asset }, LIMIT)
  .transform((limit): AssetLimit => ({ ...limit, currency: limit.currency ?? limit.from }))
  .refine(({ from, to, currency }) => [from, to].some((other) => other.toUpperCase() === currency.toUpperCase()), {
    path: ['currency'],
    error: 'must be a currency of the pair',
  });

const assetLimits = jsonList(
  z
    .array(assetLimit, `must be a list, ${LIMIT}`)
    .refine(
      (limits) =>
        areDifferent(limits.map(({ from, to, currency }) => JSON.stringify([from, to, currency]).toUpperCase())),
      'has two limits of one pair in one currency: leave one of them out',
    ),
);

export const guardSettings = settingsPart({
  sections: { guard: section({ createsPerHour: optional(wholeNumber(1, 1_000_000)), assetPerHour: assetLimits }) },
  ofAccounts: ['guard'],
});
