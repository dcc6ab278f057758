import { endpointsOf } from '../../src/extensions/clients/endpoints/endpoints.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { MerchantOrder } from '../../src/orders/rules/record.ts';
import type { ExchangeClient } from '../../src/exchange/client.ts';
import { type Reply } from '../../src/exchange/reply.ts';
import type { Link } from '../../src/extensions/clients/endpoints/schemas.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { startSandbox, type Sandbox } from '../../src/extensions/sandbox/server.ts';
import { createPreOrder, loneClient } from '../support/exchange-client.ts';
import { refusalReason } from '../../src/extensions/api/asking/refusal-reason.ts';

/*
 * Tests the behaviour of an exchange on which the client relies, over a real connection: against the sandbox, or against another exchange:
 *
 *   ORDER_SYNC_CONTRACT_BASE_URL=https://exchange.example ORDER_SYNC_CONTRACT_API_KEY=… npm test -- test/contract/exchange
 *
 * On another exchange it only asks, about unused ids and addresses, and once with a wrong key. With
 * ORDER_SYNC_CONTRACT_CREATES=yes it also makes one client link (§4.1), one verification token a flow (§4.4), one SDK
 * token (§4.8) and one pre-order (§4.9), and asks for one delivery of photos (§4.5), which goes out when the merchant has
 * set an address. Ids and addresses begin with `contract-` and are new each time; the addresses reach no person.
 */
const { ORDER_SYNC_CONTRACT_BASE_URL: url, ORDER_SYNC_CONTRACT_API_KEY: key } = process.env;
const isExternal = url !== undefined && key !== undefined;
const mayCreate = !isExternal || process.env['ORDER_SYNC_CONTRACT_CREATES'] === 'yes';
const apiKey = key ?? 'contract-key';
/** The default of the program: other exchanges must not be pressed. */
const rate = { requests: isExternal ? 10 : 1_000, intervalMs: 1_000 };

const nobody = `contract-${randomUUID()}`;
/** In whatever order the tests run, an id that was never used is another one than an id that is made. */
const ours = `contract-${randomUUID()}`;
const email = `${ours}@shop.example`;
const order: MerchantOrder = {
  externalOrderId: ours,
  asset: '1.50',
  assetPosition: 'INPUT',
  fromCurrency: 'BTC',
  toCurrency: 'EUR',
  orderType: 'DEPOSIT',
  limit: null,
  paymentToken: null,
  providerType: null,
  cryptoAddress: null,
  bonus: null,
};

let sandbox: Sandbox | undefined;
let baseUrl = url ?? '';
let client: ExchangeClient;
const clients: ExchangeClient[] = [];

function connect(withKey: string): ExchangeClient {
  const connected = loneClient({ baseUrl, apiKey: withKey, concurrency: 1, rate });
  clients.push(connected);
  return connected;
}

beforeAll(async () => {
  if (!isExternal) {
    sandbox = await startSandbox({ apiKey, clock: systemClock(), random: seededRandom(1) });
    baseUrl = sandbox.url;
  }
  client = connect(apiKey);
});
afterAll(async () => {
  for (const one of clients) await one.close();
  await sandbox?.close();
});

/** The value of an answer, which has to be one. */
function valueOf<Value>(answer: Reply<Value>): Value {
  if (answer.kind !== 'ok') throw new Error(`no value: ${JSON.stringify(answer)}`);
  return answer.value;
}

/** The reply to an answer that is no value. */
function reasonOf(answer: Reply<unknown>) {
  return answer.kind === 'refused' ? refusalReason(answer) : answer.kind;
}

const target = isExternal ? 'the exchange of the environment' : 'the sandbox';

describe(`${target}, asked about an unused id`, () => {
  it.each<[string, () => Promise<Reply<unknown>>]>([
    ['§4.3', () => endpointsOf(client).showLink(nobody)],
    ['§4.4', () => endpointsOf(client).verificationToken(nobody, 'MAIN')],
    ['§4.4', () => endpointsOf(client).verificationToken(nobody, 'LIVENESS')],
    ['§4.5', () => endpointsOf(client).requestPhotos(nobody, { level: 'MAIN', token: nobody })],
    ['§4.6', () => endpointsOf(client).showCustomer(nobody)],
    ['§4.7', () => endpointsOf(client).listCards(nobody)],
    ['§4.8', () => endpointsOf(client).sdkToken(nobody)],
  ])('says in %s that there is no such link', async (_section, ask) => {
    const answer = await ask();
    expect(answer).toMatchObject({ kind: 'refused', httpStatus: 404, error: { status: 'NOT_FOUND' } });
    expect(reasonOf(answer)).toBe('not-found');
  });

  it('says of an address whether it could be linked (§4.2)', async () => {
    expect(valueOf(await endpointsOf(client).validateEmail(`${nobody}@shop.example`))).toMatchObject({ status: 'OK' });
    expect(reasonOf(await endpointsOf(client).validateEmail(`${nobody}.shop.example`))).toBe('invalid-email');
  });

  it('takes no address that is none (§4.1)', async () => {
    expect(reasonOf(await endpointsOf(client).createLink(`${nobody}.shop.example`))).toBe('invalid-email');
  });

  it('answers in the documented shape that there is no such order (§4.11) or pre-order (§4.10)', async () => {
    expect(await client.lookUpOrder(nobody)).toMatchObject({ answer: { kind: 'absent' } });
    expect(await client.showOrder(nobody)).toMatchObject({ kind: 'refused', httpStatus: 404 });
    expect(await client.showPreOrder(nobody)).toMatchObject({ kind: 'refused', httpStatus: 404 });
  });

  it('refuses another key (§5)', async () => {
    const other = connect(`contract-${randomUUID()}`);
    expect(await endpointsOf(other).showLink(nobody)).toEqual({ kind: 'key-refused' });
  });
});

describe.runIf(mayCreate)(`${target}, asked to make things`, () => {
  let link: Link;
  beforeAll(async () => {
    link = valueOf(await endpointsOf(client).createLink(email));
  });

  it('makes a link with an id and a status (§4.1), and shows it again (§4.3)', async () => {
    expect(link).toMatchObject({ linkId: expect.stringMatching(/./), status: expect.stringMatching(/./) });
    expect(valueOf(await endpointsOf(client).showLink(link.linkId))).toMatchObject({ linkId: link.linkId });
  });

  it('makes no second link for the address, which validation says before (§4.1, §4.2)', async () => {
    expect(reasonOf(await endpointsOf(client).validateEmail(email))).toBe('link-already-exists');
    expect(reasonOf(await endpointsOf(client).createLink(email))).toBe('link-already-exists');
  });

  it.each(['MAIN', 'LIVENESS'] as const)('returns a verification token for the flow %s (§4.4)', async (level) => {
    expect(valueOf(await endpointsOf(client).verificationToken(link.linkId, level))).toMatchObject({
      linkId: link.linkId,
      token: expect.stringMatching(/./),
      tokenValidTill: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
  });

  it('takes a request for photos, or says that no address is set (§4.5)', async () => {
    const answer = await endpointsOf(client).requestPhotos(link.linkId, {
      level: 'LIVENESS',
      actionId: ours,
      token: ours,
    });
    if (answer.kind === 'ok') expect(answer.value).toMatchObject({ status: 'ok' });
    else expect(reasonOf(answer)).toBe('upload-url-not-set');
  });

  it("shows the client's customer and cards, if the provider has them (§4.6, §4.7)", async () => {
    const customer = await endpointsOf(client).showCustomer(link.linkId);
    if (customer.kind === 'ok') expect(customer.value).toMatchObject({ linkId: link.linkId });
    else expect(customer).toMatchObject({ kind: 'refused', httpStatus: 404 });
    const cards = await endpointsOf(client).listCards(link.linkId);
    if (cards.kind === 'ok') expect(cards.value).toBeInstanceOf(Array);
    else expect(cards).toMatchObject({ kind: 'refused', httpStatus: 404 });
  });

  it('returns an SDK token with its expiry (§4.8)', async () => {
    const { token, expiresAt } = valueOf(await endpointsOf(client).sdkToken(link.linkId));
    expect(token).not.toBe('');
    expect(Date.parse(expiresAt)).not.toBeNaN();
  });

  it('makes a pre-order that says what was sent (§4.9), shows it (§4.10), and answers about its order (§4.11)', async () => {
    const created = await createPreOrder(client, order);
    if (created.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(created)}`);
    expect(created.differences).toEqual([]);
    const { id } = created.preOrder;
    expect(valueOf(await client.showPreOrder(id))).toMatchObject({ id, externalOrderId: ours });
    const { answer } = (await client.lookUpOrder(ours)) ?? {};
    // The order may be there already, or not yet: both are evidence.
    expect(['found', 'absent']).toContain(answer?.kind);
  });
});
