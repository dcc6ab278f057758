import { errorBody } from '../../../src/exchange/reply.ts';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { httpTransport } from '../../../src/exchange/transport/transport.ts';
import { TransportError } from '../../../src/exchange/transport/http.ts';
import { readUnambiguous } from '../../../src/exchange/json.ts';
import { broken, type Entry } from '../entry.ts';
import { SECRET } from '../ground.ts';
import { oddHttpAnswer, type OddHttpAnswer } from '../odd-http.ts';
import { bytesOf } from '../odd.ts';

const MOST_BYTES = 100_000;

/** Answers of the exchange as bytes: a whole answer comes of them, or an error without a secret. */
export const wire: Entry<OddHttpAnswer> = {
  name: 'wire',
  inputs: oddHttpAnswer(['', '{}', '{"id":"p1"}', `{"message":"${SECRET}","code":"400","status":"BAD"}`]),
  async open() {
    await using undo = new AsyncDisposableStack();
    const raw = undo.use(await rawServer());
    const options = { baseUrl: raw.url, apiKey: () => SECRET, timeoutMs: 300, maxResponseBytes: MOST_BYTES };
    const transport = undo.adopt(httpTransport(options), (opened) => opened.close());
    const disposal = undo.move();
    return {
      async give(input) {
        raw.answer = input;
        for (const method of ['GET', 'POST'] as const) {
          const path = '/api/v1/merchant/orders?externalOrderId=a';
          const call = { method, path, ...(method === 'POST' && { body: '{}' }) };
          try {
            const { status, body } = await transport.send(call);
            if (!Number.isInteger(status)) broken(`the status is ${status}`);
            if (Buffer.byteLength(body) > MOST_BYTES * 2) broken(`a body of ${body.length} characters was read`);
            if (status >= 400 && body.includes(SECRET)) broken('an error shows the key');
            errorBody.safeParse(readUnambiguous(body));
          } catch (error) {
            if (!(error instanceof TransportError)) throw error;
            if (error.message.includes(SECRET)) broken(`an error shows the key: ${error.message}`);
            // A connection was made, so the outcome is unknown.
            if (error.sent === 'never') broken(`what left is said never to have left: ${error.message}`);
          }
        }
      },
      [Symbol.asyncDispose]: () => disposal.disposeAsync(),
    };
  },
};

/** A server that answers each connection with bytes, whatever was sent. */
export async function rawServer(): Promise<AsyncDisposable & { readonly url: string; answer: OddHttpAnswer }> {
  const sockets = new Set<Socket>();
  const served = {
    answer: { bytes: '', isEnded: true } as OddHttpAnswer,
    url: '',
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    socket.on('data', () => {
      if (socket.writableEnded) return;
      socket.write(bytesOf(served.answer.bytes));
      if (served.answer.isEnded) socket.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return served;
}
