import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { testProcesses } from '../../support/program-processes.ts';
import { endpointAt, webhookReceiver } from '../../support/webhooks.ts';

/** The addresses that Node, and the libraries of others, take for a proxy. */
const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];

it('sends neither the key nor an event through a proxy that the environment names', async () => {
  let connections = 0;
  const proxy = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const receiver = await webhookReceiver();
  const { url: endpoint, secrets, allowPrivate } = endpointAt(receiver);
  const on = await testProcesses(
    {},
    {
      ...Object.fromEntries(VARIABLES.map((name) => [name, url])),
      NODE_USE_ENV_PROXY: '1',
      NO_PROXY: '',
      no_proxy: '',
      ORDER_SYNC_WEBHOOKS_ENDPOINTS: JSON.stringify([{ name: 'shop', url: endpoint, secrets, allowPrivate }]),
    },
  );
  on.insert(1);
  for (const args of [['sync'], ['webhooks', 'test', 'shop'], ['webhooks', 'resend', 'shop', '--from', '1']]) {
    const started = await on.start(args);
    expect({ args, ...(await started.exit), output: started.output() }).toMatchObject({ code: 0 });
  }
  expect(on.states()).toEqual({ accepted: 1 });
  expect(receiver.taken).not.toEqual([]);
  expect(connections).toBe(0);
});
