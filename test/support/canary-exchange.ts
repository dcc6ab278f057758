import { echo, scriptedExchange, type ScriptedAnswer, type ScriptedRequest } from './scripted-exchange.ts';

/** Values that are found again wherever they come to stand. */
export const CANARIES = {
  key: 'canary-key-5d1f',
  email: 'canary-mail@shop.example',
  customer: 'canary-customer-8a',
  name: 'Canaryfirst',
  surname: 'Canarylast',
  cardNumber: '4929117788223344',
  cardToken: 'canary-card-token-3b',
  verificationToken: 'canary-verification-token-7e',
  sdkToken: 'canary-sdk-token-2c',
  paymentToken: 'canary-payment-token-9d',
  cryptoAddress: 'canary-crypto-address-1c',
  internalToken: 'canary-internal-token-4f',
  paymentLink: 'https://pay.example/canary-link-8e',
} as const;

/** How the exchange answers: as it should, or with a refusal or a failure that quotes what it can. */
export const MODES = [
  'fine',
  'refused',
  'missing',
  'failing',
  'page',
  'cut',
  'reset',
  'key-refused',
  'rate-limited',
] as const;

/** One of them. */
export type Mode = (typeof MODES)[number];

/** An exchange whose every answer holds canaries. */
export interface CanaryExchange extends AsyncDisposable {
  readonly url: string;
  /** For requests whose external order id does not name a mode by itself: `refused-1`. */
  mode: Mode;
  /** Tokens of photo deliveries that were asked for (§4.5), the newest last. */
  readonly photoTokens: readonly string[];
  /** Resolves when the next request with this path has arrived. */
  arrived(path: string): Promise<void>;
}

const EVERYTHING = Object.values(CANARIES).join(' ');

/** Listens on loopback. */
export async function canaryExchange(): Promise<CanaryExchange> {
  const scripted = await scriptedExchange();
  const photoTokens: string[] = [];
  const lookedUp = new Set<string>();
  let awaited: { path: string; resolve: () => void }[] = [];
  const exchange: CanaryExchange = {
    url: scripted.url,
    mode: 'fine',
    photoTokens,
    arrived: (path) => new Promise((resolve) => awaited.push({ path, resolve })),
    [Symbol.asyncDispose]: () => scripted[Symbol.asyncDispose](),
  };
  scripted.answer = (request) => {
    const { token } = request.body === '' ? {} : (JSON.parse(request.body) as { token?: string });
    if (token !== undefined) photoTokens.push(token);
    for (const { resolve } of awaited.filter(({ path }) => path === request.path)) resolve();
    awaited = awaited.filter(({ path }) => path !== request.path);
    const named = MODES.find((mode) => request.externalOrderId?.startsWith(`${mode}-`));
    const isChanged = request.method === 'GET' && lookedUp.has(request.externalOrderId);
    if (request.method === 'GET') lookedUp.add(request.externalOrderId);
    return answerIn(named ?? exchange.mode, request, isChanged);
  };
  return exchange;
}

function answerIn(mode: Mode, request: ScriptedRequest, isChanged: boolean): ScriptedAnswer {
  const error = (status: string, quoted: string) => JSON.stringify({ message: `no: ${quoted}`, code: '1', status });
  // A refusal knows what it was sent; a failure may spill anything.
  const quoted = `${CANARIES.key} ${request.body} ${valuesIn(request.body)}`;
  switch (mode) {
    case 'fine':
      return fine(request, isChanged);
    case 'refused':
      return { status: 400, body: error('BAD_REQUEST', quoted) };
    case 'missing':
      return { status: 404, body: error('NOT_FOUND', quoted) };
    case 'failing':
      return { status: 500, body: error('FAILED', EVERYTHING) };
    case 'page':
      return { status: 200, body: `<html>${EVERYTHING}</html>` };
    case 'cut':
      return { status: 200, body: `{"id":"${EVERYTHING}","linkId":"${EVERYTHING}` };
    case 'reset':
      return 'reset';
    case 'key-refused':
      return { status: 401, body: error('UNAUTHORIZED', EVERYTHING) };
    case 'rate-limited':
      return { status: 429, body: error('TOO_MANY', EVERYTHING), headers: { 'retry-after': '1' } };
  }
}

function valuesIn(body: string): string {
  return body === '' ? '' : Object.values(JSON.parse(body) as object).join(' ');
}

function fine(request: ScriptedRequest, isChanged: boolean): ScriptedAnswer {
  const { method, path, externalOrderId } = request;
  if (path === '/api/v1/merchant/orders/request') return echo(request);
  const [, what = ''] = /^\/api\/v1\/merchant\/(.*?)(\?.*)?$/.exec(path) ?? [];
  return { status: 200, body: JSON.stringify(valueOf(`${method} ${what}`, externalOrderId, isChanged)) };
}

function valueOf(what: string, externalOrderId: string, isChanged: boolean): unknown {
  const { cardNumber: number, cardToken, paymentToken, customer: customerNumber, name, surname, email } = CANARIES;
  const linkId = 'link-1';
  switch (what) {
    case 'POST client':
    case 'GET client/link-1':
      // It is not shown that an exchange sends the address back.
      return { linkId, status: 'NOT_VERIFIED', email };
    case 'POST client/validate/email':
      return { status: 'OK' };
    case 'GET client/link-1/idv/MAIN':
      return { linkId, token: CANARIES.verificationToken, tokenValidTill: '2026-01-05T12:00:00Z' };
    case 'POST client/link-1/idv/photos/external/upload':
      return { status: 'ok' };
    case 'GET client/link-1/cardprov/customer':
      return { customerNumber, firstName: name, lastName: surname, linkId };
    case 'GET client/link-1/cardprov/customer/card':
      return [{ id: 'card-1', bank: 'B', country: 'ZZ', number, token: cardToken, type: 'VISA' }];
    case 'POST sdk/token':
      return { token: CANARIES.sdkToken, expiresAt: '2026-01-05T12:00:00.000Z' };
    case 'GET orders/request/p1':
      return { id: 'p1', externalOrderId: 'fine-1', paymentToken };
    case 'GET orders':
      return { externalOrderId, order: { id: 'o1', status: 'REQUEST', ...transactions(isChanged) } };
    default:
      throw new Error(`the exchange is not asked for ${what}`);
  }
}

/** The secrets of a record change from the first look-up to the later ones. */
function transactions(isChanged: boolean): object {
  const { paymentToken, internalToken, paymentLink: link, cryptoAddress } = CANARIES;
  const changed = isChanged ? '-changed' : '';
  return {
    cryptoTransaction: { status: 'NEW', externalCryptoAddress: cryptoAddress },
    fiatTransaction: {
      status: 'NEW',
      paymentToken: `${paymentToken}${changed}`,
      internalToken: `${internalToken}${changed}`,
      link: `${link}${changed}`,
      resultMessage: `result${changed}`,
    },
  };
}
