import { endpointsOf } from '../../src/extensions/clients/endpoints/endpoints.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExchangeClient } from '../../src/exchange/client.ts';
import { createPreOrder } from '../support/exchange-client.ts';
import { forgetAnswers, nockExchange } from '../support/nock-exchange.ts';
import { orderWith } from '../support/records.ts';

afterEach(forgetAnswers);

const PRE_ORDER =
  '{"id":ID,"externalOrderId":ID,"asset":1.5,"assetPosition":"INPUT","orderType":"DEPOSIT","currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"}}';

/** An answer with ids that are numbers, and what is read from it: `ID` is the number. */
interface Answered {
  readonly name: string;
  readonly ask: (client: ExchangeClient, id: string) => Promise<unknown>;
  readonly body: string;
  readonly read: (id: string) => object;
}
const ANSWERS: readonly Answered[] = [
  {
    name: 'linkId of a new link (§4.1)',
    ask: (client) => endpointsOf(client).createLink('ada@shop.example'),
    body: '{"linkId":ID,"status":"NOT_VERIFIED"}',
    read: (linkId) => ({ value: { linkId } }),
  },
  {
    name: 'linkId of a link (§4.3)',
    ask: (client, id) => endpointsOf(client).showLink(id),
    body: '{"linkId":ID,"status":"NOT_VERIFIED"}',
    read: (linkId) => ({ value: { linkId } }),
  },
  {
    name: 'linkId of a verification token (§4.4)',
    ask: (client, id) => endpointsOf(client).verificationToken(id, 'MAIN'),
    body: '{"linkId":ID,"token":"t","tokenValidTill":"2026-01-05T12:00:00Z"}',
    read: (linkId) => ({ value: { linkId } }),
  },
  {
    name: 'customerNumber and linkId (§4.6)',
    ask: (client, id) => endpointsOf(client).showCustomer(id),
    body: '{"customerNumber":ID,"firstName":"Ada","lastName":null,"linkId":ID}',
    read: (id) => ({ value: { customerNumber: id, linkId: id } }),
  },
  {
    name: 'id of a card (§4.7)',
    ask: (client) => endpointsOf(client).listCards('l1'),
    body: '[{"id":ID,"bank":"B"}]',
    read: (id) => ({ value: [{ id }] }),
  },
  {
    name: 'linkId beside an SDK token (§4.8)',
    ask: (client, id) => endpointsOf(client).sdkToken(id),
    body: '{"linkId":ID,"token":"t","expiresAt":"2026-01-05T12:00:00Z"}',
    read: () => ({ kind: 'ok' }),
  },
  {
    name: 'id and externalOrderId of a new pre-order (§4.9)',
    ask: (client, id) => createPreOrder(client, orderWith({ externalOrderId: id })),
    body: PRE_ORDER,
    read: (id) => ({ kind: 'accepted', preOrder: { id } }),
  },
  {
    name: 'id of a pre-order (§4.10)',
    ask: (client, id) => client.showPreOrder(id),
    body: PRE_ORDER,
    read: () => ({ kind: 'ok' }),
  },
  {
    name: 'externalOrderId, merchant.id and order.id of a record (§4.11)',
    ask: async (client, id) => (await client.lookUpOrder(id))?.answer,
    body: '{"externalOrderId":ID,"merchant":{"id":ID},"order":{"id":ID,"status":"REQUEST"}}',
    read: (id) => ({ kind: 'found', record: { externalOrderId: id, merchantId: id, orderId: id } }),
  },
  {
    name: 'externalOrderId of a record without an order (§4.11)',
    ask: async (client, id) => (await client.lookUpOrder(id))?.answer,
    body: '{"externalOrderId":ID,"order":null}',
    read: () => ({ kind: 'absent', evidence: 'likely' }),
  },
  {
    name: 'externalOrderId of a record that is shown (§4.11)',
    ask: (client, id) => client.showOrder(id),
    body: '{"externalOrderId":ID,"order":{"id":ID}}',
    read: () => ({ kind: 'ok' }),
  },
];

describe('an id that comes as a number is text of its digits', () => {
  describe.each(ANSWERS)('as $name', ({ ask, body, read }) => {
    it.each(['7', '12345678901234567890123', '1e3', '-0.10'])('%s', async (id) => {
      const { answer, client } = nockExchange();
      answer(200, body.replaceAll('ID', id));
      expect(await ask(client, id)).toMatchObject(read(id));
    });
  });
});
