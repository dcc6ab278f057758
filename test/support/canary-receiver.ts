import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Secrets of a receiver of webhooks: what signs, and what its address has beside the path. */
export const RECEIVER_SECRETS = {
  webhookSecret: Buffer.from('canary-webhook-secret-of-32-bytes').toString('base64'),
  webhookQuery: 'canary-webhook-query-2d',
} as const;

/** A receiver of webhooks that takes all, and at `/refused` nothing and quotes what it was sent. */
export interface CanaryReceiver extends AsyncDisposable {
  /** The setting `webhooks.endpoints`. */
  readonly endpoints: string;
  /** Everything that it got: headers and bodies. */
  readonly got: readonly string[];
}

/** Listens on loopback. */
export async function canaryReceiver(): Promise<CanaryReceiver> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const text = `${JSON.stringify(request.headers)}${Buffer.concat(chunks as Buffer[]).toString()}`;
      got.push(text);
      const isRefused = request.url?.startsWith('/refused') === true;
      response.writeHead(isRefused ? 400 : 204).end(isRefused ? `${request.url} ${text}` : undefined);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const { webhookSecret, webhookQuery } = RECEIVER_SECRETS;
  const endpointAt = (address: string) => ({
    url: `http://${address}?key=${webhookQuery}`,
    secrets: [`whsec_${webhookSecret}`],
    allowPrivate: true,
  });
  return {
    endpoints: JSON.stringify([
      { name: 'shop', ...endpointAt(`127.0.0.1:${port}/events`) },
      endpointAt(`127.0.0.1:${port}/refused`),
      // Nothing listens there.
      endpointAt('127.0.0.1:9/gone'),
    ]),
    got,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
