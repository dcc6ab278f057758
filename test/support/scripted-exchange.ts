import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived; `externalOrderId` from the body of a create or the query of a look-up. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly externalOrderId: string;
}

/** The answer of the test: a reply, or the end of the connection. */
export type ScriptedAnswer =
  | { readonly status: number; readonly body?: string | Buffer; readonly headers?: Readonly<Record<string, string>> }
  | 'reset'
  | 'truncated'
  | 'stall'
  | 'hang';

/** An HTTP server whose every answer the test decides. */
export interface ScriptedExchange extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
  /** Called for each request, in the order of arrival; a test may put another one in its place at any time. */
  answer: (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;
  /** How many requests of a kind arrived. */
  count(method: 'GET' | 'POST'): number;
}

/** The documented error (§7) with a status of HTTP. */
export function refusal(status: number, message = 'no'): ScriptedAnswer {
  return { status, body: JSON.stringify({ message, code: String(status), status: 'REFUSED' }) };
}

/** No order yet, or none any more: a documented 404. */
export const NOT_FOUND = refusal(404, 'order not found');

/** The pre-order (§2.6) that an exchange makes of a create; `more` goes over what was sent. */
export function echo(request: ScriptedRequest, more: Readonly<Record<string, unknown>> = {}): ScriptedAnswer {
  const sent = JSON.parse(request.body) as Record<string, unknown>;
  const id = idFor('p1', request.externalOrderId);
  return { status: 200, body: JSON.stringify({ id, exchangeType: 'SELL', ...sent, ...more }) };
}

/** No two orders share an id: that of order `a` is the one given, those of others have their names in it. */
function idFor(id: string, externalOrderId: string): string {
  return externalOrderId === 'a' ? id : `${id}-${externalOrderId}`;
}

/**
 * An order record (§2.7) with these fields of `order`, for the amount and pair that a test program inserts; statuses of the
 * transactions by `crypto` and `fiat`.
 */
export function record(
  externalOrderId: string,
  { crypto = 'NEW', fiat = 'NEW', ...order }: Readonly<Record<string, unknown>> = {},
): ScriptedAnswer {
  const exchangeOperation = { currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' }, inputAsset: 1.5 };
  const transactions = { cryptoTransaction: { status: crypto }, fiatTransaction: { status: fiat } };
  return {
    status: 200,
    body: JSON.stringify({
      externalOrderId,
      order: { id: idFor('o1', externalOrderId), status: 'REQUEST', exchangeOperation, ...order, ...transactions },
    }),
  };
}

/** The body of an answer that has one. */
export function bodyOf(answer: ScriptedAnswer | undefined): unknown {
  return typeof answer === 'object' ? answer.body : undefined;
}

/** Listens on loopback. Until the test says otherwise creates are accepted and no order appears. */
export async function scriptedExchange(): Promise<ScriptedExchange> {
  const requests: ScriptedRequest[] = [];
  const server = createServer((message, response) => {
    void receive(message).then(async (request) => {
      requests.push(request);
      respond(response, await exchange.answer(request));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const exchange: ScriptedExchange = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (request) => (request.method === 'POST' ? echo(request) : NOT_FOUND),
    count: (method) => requests.filter((request) => request.method === method).length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return exchange;
}

async function receive(message: IncomingMessage): Promise<ScriptedRequest> {
  const { method = '', url: path = '', headers } = message;
  const body = Buffer.concat((await message.toArray()) as Buffer[]).toString();
  const externalOrderId =
    body !== ''
      ? (JSON.parse(body) as { externalOrderId: string }).externalOrderId
      : (new URL(path, 'http://exchange').searchParams.get('externalOrderId') ?? '');
  return { method, path, headers, body, externalOrderId };
}

function respond(response: ServerResponse, answer: ScriptedAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (answer === 'truncated' || answer === 'stall') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"id":"p1",', () => answer === 'truncated' && response.socket?.destroy());
    return;
  }
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
}
