import { z } from 'zod';
import {
  cardsSchema,
  customerSchema,
  linkSchema,
  sdkTokenSchema,
  validationSchema,
  verificationTokenSchema,
} from '../../../exchange/schemas.ts';

/**
 * The answers of the exchange (§2), as the document of the control socket describes them. Values are passed on as received,
 * with unknown fields and every digit; nothing is checked against these but the examples.
 */
const text = z.string().nullish();
const number = z.number().nullish();
const pair = z.looseObject({ fromCurrency: z.string(), toCurrency: z.string() });
const time = z.iso.datetime().nullish();

export const linkValue = linkSchema.meta({
  id: 'Link',
  description: 'A client link (§2.1).',
  examples: [{ linkId: 'link-1', status: 'NOT_VERIFIED' }],
});

export const validationValue = validationSchema.meta({
  id: 'Validation',
  description: 'A link for the address could be made (§4.2).',
  examples: [{ status: 'OK' }],
});

export const deliveryValue = validationSchema.meta({
  id: 'PhotoRequest',
  description: 'The delivery is asked for (§4.5).',
  examples: [{ status: 'ok' }],
});

export const verificationTokenValue = verificationTokenSchema.meta({
  id: 'VerificationToken',
  description: 'A token for a verification flow (§2.2). A secret.',
  examples: [{ linkId: 'link-1', token: '<ACCESS_TOKEN>', tokenValidTill: '2026-01-05T12:00:00Z' }],
});

export const sdkTokenValue = sdkTokenSchema.meta({
  id: 'SdkToken',
  description: 'An SDK token (§2.3). A secret.',
  examples: [{ token: '<SDK_TOKEN>', expiresAt: '2026-01-05T12:00:00Z' }],
});

export const customerValue = customerSchema.meta({
  id: 'Customer',
  description: 'A customer of the card-payment provider (§2.4). Personal data.',
  examples: [{ customerNumber: 'c-1', firstName: 'Ada', lastName: 'Example', linkId: 'link-1' }],
});

export const cardsValue = cardsSchema.meta({
  id: 'Cards',
  description: 'Saved cards (§2.5). Numbers as the exchange gives them; tokens are secrets.',
  examples: [
    [{ id: 'card-1', bank: 'A Bank', country: 'DE', number: '<CARD_NUMBER>', token: '<CARD_TOKEN>', type: 'VISA' }],
  ],
});

export const preOrderValue = z
  .looseObject({
    id: z.string(),
    asset: z.number(),
    assetPosition: text,
    currencyPair: pair.nullish(),
    externalOrderId: z.string(),
    orderType: text,
    exchangeType: text,
    limit: number,
    paymentToken: text,
    providerType: text,
    cryptoAddress: text,
    bonus: number,
  })
  .meta({
    id: 'PreOrder',
    description: 'A pre-order (§2.6).',
    examples: [
      {
        id: '4be1c7',
        asset: 0.25,
        assetPosition: 'INPUT',
        currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' },
        externalOrderId: 'shop-1001',
        orderType: 'DEPOSIT',
        exchangeType: 'SELL',
        limit: null,
        paymentToken: null,
        providerType: null,
        cryptoAddress: null,
        bonus: null,
      },
    ],
  });

export const orderRecordValue = z
  .looseObject({
    externalOrderId: z.string(),
    merchant: z.looseObject({ id: z.string() }).nullish(),
    order: z.looseObject({
      id: z.string(),
      number,
      orderType: text,
      exchangeType: text,
      status: z.string(),
      resultMessage: text,
      submitByResident: z.boolean().nullish(),
      creationDate: time,
      modificationDate: time,
      completionDate: time,
      serverDate: time,
      exchangeOperation: z
        .looseObject({ currencyPair: pair.nullish(), inputAsset: number, outputAsset: number, ratio: number })
        .nullish(),
      cryptoTransaction: z.looseObject({ status: text }).nullish(),
      fiatTransaction: z.looseObject({ status: text }).nullish(),
    }),
    percent: number,
    percentEnabled: z.boolean().nullish(),
    reward: number,
  })
  .meta({
    id: 'OrderRecord',
    description: 'An order record (§2.7). The transactions have more fields than are listed here.',
    examples: [
      {
        externalOrderId: 'shop-1001',
        merchant: { id: 'merchant-1' },
        order: {
          id: 'order-1',
          number: 1,
          orderType: 'DEPOSIT',
          exchangeType: 'SELL',
          status: 'REQUEST',
          creationDate: '2026-01-05T12:00:00Z',
          cryptoTransaction: { currency: 'BTC', status: 'NEW' },
          fiatTransaction: { currency: 'EUR', status: 'NEW' },
        },
        percent: 1.5,
        percentEnabled: true,
        reward: 0,
      },
    ],
  });

export const addedOrderValue = z.object({ external_order_id: z.string(), state: z.string() }).meta({
  id: 'AddedOrder',
  description: 'The order in the table.',
  examples: [{ external_order_id: 'shop-1001', state: 'pending' }],
});

export const rememberedLinksValue = z
  .array(
    z.object({
      link_id: z.string(),
      reference: z.string().nullable().describe('Your own name for it.'),
      source: z.string().describe('`created` or `followed`.'),
      status: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
      last_checked_at: z.string(),
      missing_since: z.string().nullable().describe('Since when the exchange does not have it any more.'),
    }),
  )
  .meta({
    id: 'RememberedLinks',
    description: 'Remembered links, the newest first.',
    examples: [
      [
        {
          link_id: 'link-1',
          reference: 'customer-7',
          source: 'created',
          status: 'NOT_VERIFIED',
          created_at: '2026-01-05T12:00:00.000Z',
          updated_at: '2026-01-05T12:00:00.000Z',
          last_checked_at: '2026-01-05T12:10:00.000Z',
          missing_since: null,
        },
      ],
    ],
  });
