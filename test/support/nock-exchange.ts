import nock from 'nock';
import { systemClock } from '../../src/clock.ts';
import { ExchangeClient } from '../../src/exchange/client.ts';
import { Gate } from '../../src/exchange/gate.ts';
import { httpTransport } from '../../src/exchange/transport.ts';

const BASE_URL = 'https://exchange.example';
const API_KEY = 'wire-key';

/** The real client against recorded answers: what is sent, byte for byte, and how each answer is read. */
export function nockExchange(): { scope: nock.Scope; client: ExchangeClient } {
  nock.disableNetConnect();
  const scope = nock(BASE_URL, { reqheaders: { 'x-api-key': API_KEY } });
  const clock = systemClock();
  const gate = new Gate({ concurrency: 8, rate: { requests: 1_000, intervalMs: 1_000 } }, clock);
  const transport = httpTransport({ baseUrl: BASE_URL, apiKey: API_KEY, timeoutMs: 60_000, maxResponseBytes: 100_000 });
  return { scope, client: new ExchangeClient(transport, gate, clock) };
}

/** Forgets every recorded answer. */
export function forgetAnswers(): void {
  nock.cleanAll();
  nock.enableNetConnect();
}
