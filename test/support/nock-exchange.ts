import nock from 'nock';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { AccountNews } from '../../src/accounts/rules/restraints.ts';
import type { ExchangeClient } from '../../src/exchange/client.ts';
import { loneClient, unheld, type LoneClientOptions } from './exchange-client.ts';

// Files that run later in the same process meet the real network again.
nock.restore();

const BASE_URL = 'http://exchange.example';
const API_KEY = 'wire-key';

/** One request as it went out. */
export interface SentRequest {
  readonly method: string;
  /** With its query, as it was written. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Byte for byte; empty if there was none. */
  readonly body: string;
}

/** The real client against recorded answers. */
export interface NockExchange {
  readonly scope: nock.Scope;
  readonly client: ExchangeClient;
  /** The news of the account in the replies. */
  readonly news: readonly AccountNews[];
  /** The requests that were sent, in order. */
  readonly sent: readonly SentRequest[];
  /** Answers every request from now on with this. */
  readonly answer: (status: number, body: string, headers?: Readonly<Record<string, string>>) => void;
}

/** The real client against recorded answers: what is sent, byte for byte, and how each answer is read. */
export function nockExchange(
  clock: Clock = systemClock(),
  options: Pick<LoneClientOptions, 'reading' | 'rate'> = {},
): NockExchange {
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
  const sent: SentRequest[] = [];
  const account = unheld();
  const scope = nock(BASE_URL, { reqheaders: { 'x-api-key': API_KEY } });
  scope.on('request', ({ method, url, headers }: Request, _interceptor: unknown, body: string) => {
    sent.push({ method, path: url.slice(BASE_URL.length), headers: Object.fromEntries(headers), body });
  });
  return {
    scope,
    client: loneClient({ baseUrl: BASE_URL, apiKey: API_KEY, clock, account, ...options }),
    news: account.news,
    sent,
    answer(status, body, headers) {
      nock.cleanAll();
      for (const method of ['GET', 'POST']) {
        scope
          .intercept(/^/, method, /^/)
          .query(true)
          .reply(status, body, { ...headers });
      }
    },
  };
}

/** Forgets every recorded answer, and takes its hands off the network. */
export function forgetAnswers(): void {
  nock.cleanAll();
  nock.restore();
  nock.enableNetConnect();
}
