import { endpointsOf } from '../../../src/extensions/clients/endpoints/endpoints.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { ExchangeClient } from '../../../src/exchange/client.ts';
import { type Reply } from '../../../src/exchange/reply.ts';
import { EMAIL_INPUTS } from '../../../src/extensions/sandbox/clients.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';
import { REFUSALS, type RefusalName } from '../../../src/extensions/sandbox/api.ts';
import type { RouteName } from '../../../src/extensions/sandbox/exchange.ts';
import { startSandbox, type Sandbox } from '../../../src/extensions/sandbox/server.ts';
import { createPreOrder, loneClient } from '../../support/exchange-client.ts';
import { refusalReason } from '../../../src/extensions/api/asking/refusal-reason.ts';

const KEY = 'sandbox-errors-key';

/** An endpoint asked about a client, as far as that is what it takes. */
type Ask = (client: ExchangeClient, about: { linkId: string; email: string }) => Promise<Reply<unknown>>;

const ASKS: Readonly<Record<Exclude<RouteName, 'createPreOrder'>, Ask>> = {
  createLink: (client, { email }) => endpointsOf(client).createLink(email),
  validateEmail: (client, { email }) => endpointsOf(client).validateEmail(email),
  showLink: (client, { linkId }) => endpointsOf(client).showLink(linkId),
  verificationToken: (client, { linkId }) => endpointsOf(client).verificationToken(linkId, 'MAIN'),
  requestPhotos: (client, { linkId }) => endpointsOf(client).requestPhotos(linkId, { level: 'MAIN' }),
  showCustomer: (client, { linkId }) => endpointsOf(client).showCustomer(linkId),
  listCards: (client, { linkId }) => endpointsOf(client).listCards(linkId),
  sdkToken: (client, { linkId }) => endpointsOf(client).sdkToken(linkId),
  showPreOrder: (client) => client.showPreOrder('pre-1'),
  showOrder: (client) => client.showOrder('shop-1'),
};
/** How the client tells each documented refusal. */
const REASONS: Readonly<Record<string, string>> = {
  invalidEmail: 'invalid-email',
  linkAlreadyExists: 'link-already-exists',
  badEmailRequest: 'bad-request',
  linkNotFound: 'not-found',
  uploadUrlNotSet: 'upload-url-not-set',
};

let sandbox: Sandbox;
const clients: ExchangeClient[] = [];

function connect(apiKey: string): ExchangeClient {
  const client = loneClient({ baseUrl: sandbox.url, apiKey });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  // Nothing is delivered: a port that fetch refuses.
  const photoUrl = 'http://127.0.0.1:1/';
  sandbox = await startSandbox({ apiKey: KEY, clock: systemClock(), random: seededRandom(1), photoUrl });
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await sandbox.close();
});

/** An address that brings an effect about, built from what the inputs say; the count tells it from others. */
function addressFor(effect: RegExp, count: number): string {
  const [input] = EMAIL_INPUTS.find(([, what]) => effect.test(what)) ?? [];
  if (input === undefined) throw new Error(`no input has the effect ${String(effect)}`);
  if (input.endsWith('…')) return `${input.slice(0, -1)}-${count}@shop.example`;
  return input.startsWith('without one @') ? `ada-${count}.shop.example` : `ada-${count}@shop.example`;
}

/** Asks an endpoint so that it refuses for this reason, by the inputs that are documented alone. */
async function refusedFor(name: keyof typeof ASKS, refusal: RefusalName, count: number): Promise<Reply<unknown>> {
  const client = connect(KEY);
  const ask = (about: { linkId?: string; email?: string }) => ASKS[name](client, { linkId: '', email: '', ...about });
  const made = async (email: string) => {
    const link = await endpointsOf(client).createLink(email);
    if (link.kind !== 'ok') throw new Error(`no link for ${email}`);
    return link.value.linkId;
  };
  switch (refusal) {
    case 'invalidEmail':
      return await ask({ email: addressFor(/INVALID_EMAIL/, count) });
    case 'badEmailRequest':
      return await ask({ email: addressFor(/BAD_REQUEST/, count) });
    case 'linkAlreadyExists': {
      const email = addressFor(/LINK_ALREADY_EXISTS/, count);
      await made(email);
      return await ask({ email });
    }
    case 'uploadUrlNotSet':
      return await ask({ linkId: await made(addressFor(/INVALID_VALUE/, count)) });
    case 'linkNotFound':
      return await ask({ linkId: `nobody-${count}` });
    default:
      throw new Error(`${refusal} is not documented`);
  }
}

const OF_EMAIL = ['invalidEmail', 'linkAlreadyExists', 'badEmailRequest'] as const;
/** The refusals that §4 and §7 show, by endpoint. */
const DOCUMENTED: readonly (readonly [section: string, name: keyof typeof ASKS, refusals: readonly RefusalName[]])[] = [
  ['4.1', 'createLink', OF_EMAIL],
  ['4.2', 'validateEmail', OF_EMAIL],
  ['4.3', 'showLink', ['linkNotFound']],
  ['4.4', 'verificationToken', ['linkNotFound']],
  ['4.5', 'requestPhotos', ['uploadUrlNotSet', 'linkNotFound']],
  ['4.6', 'showCustomer', ['linkNotFound']],
  ['4.7', 'listCards', ['linkNotFound']],
  ['4.8', 'sdkToken', ['linkNotFound']],
];
const documented = DOCUMENTED.flatMap(([section, name, refusals]) =>
  refusals.map((refusal) => ({ section, name, refusal })),
);

describe('a documented error of the sandbox', () => {
  it.each(documented.map((row, count) => ({ ...row, count })))(
    'of §$section is had from $name by an input that is documented: $refusal',
    async ({ name, refusal, count }) => {
      const { httpStatus, body } = REFUSALS[refusal];
      const answer = await refusedFor(name, refusal, count);
      expect(answer).toEqual({ kind: 'refused', httpStatus, error: body });
      expect(answer.kind === 'refused' && refusalReason(answer)).toBe(REASONS[refusal]);
    },
  );

  it.each(Object.entries(ASKS))('is had from %s by another key', async (_name, ask) => {
    expect(await ask(connect('another-key'), { linkId: 'link-1', email: 'ada@shop.example' })).toEqual({
      kind: 'key-refused',
    });
  });

  it('is had from createPreOrder by another key', async () => {
    const nothing = { limit: null, paymentToken: null, providerType: null, cryptoAddress: null, bonus: null };
    const what = { externalOrderId: 'shop-1', asset: '1', assetPosition: 'INPUT', orderType: 'DEPOSIT' };
    const order = { ...nothing, ...what, fromCurrency: 'BTC', toCurrency: 'EUR' };
    expect(await createPreOrder(connect('another-key'), order)).toEqual({ kind: 'key-refused' });
    expect(sandbox.exchange.census().preOrders).toBe(0);
  });
});
