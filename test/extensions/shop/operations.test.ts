import { expect, it } from 'vitest';
import { EXTENSIONS } from '../../../src/extensions.ts';
import { controlDocument } from '../../../src/extensions/api/openapi/document.ts';
import { OrderSync } from '../../../src/extensions/shop/client.ts';
import { scriptedFetch } from '../../support/scripted-fetch.ts';

/** A person asks for it, by a command and in steps. */
const NOT_OF_A_SHOP = ['POST /probe'];
const ID = 'the-id';
const reason = 'r';
const order = { external_order_id: 'a', asset: '1', from_currency: 'BTC', to_currency: 'EUR' };

/** One call of each method that sends a request. */
const CALLS: { readonly [Group in keyof OrderSync]: (client: OrderSync) => readonly Promise<unknown>[] } = {
  orders: ({ orders }) => [
    orders.add(order),
    orders.adopt(order),
    orders.get(ID),
    orders.list(),
    orders.explain(ID),
    orders.lookUp('a'),
  ],
  preOrders: ({ preOrders }) => [preOrders.get(ID)],
  events: ({ events }) => [events.list(), events.follow().next()],
  findings: ({ findings }) => [findings.list()],
  clients: ({ clients }) => [
    clients.create({ email: '<EMAIL>' }),
    clients.validateEmail('<EMAIL>'),
    clients.get(ID),
    clients.follow(ID),
    clients.verificationToken(ID, 'MAIN'),
    clients.requestPhotos(ID, { level: 'MAIN' }),
    clients.customer(ID),
    clients.cards(ID),
    clients.sdkToken(ID),
    clients.links(),
  ],
  decisions: ({ decisions }) => [
    decisions.resolve(ID, { as: 'ours', reason }),
    decisions.retry(ID, { reason }),
    decisions.cancel(ID, { reason }),
    decisions.acknowledge(7, { reason }),
    decisions.pause({ what: 'creates', reason }),
    decisions.resume({ reason }),
  ],
  status: (client) => [client.status()],
  sync: (client) => [client.sync()],
};

it('the client has each operation of the API, and asks for nothing else', async () => {
  const { paths } = (await controlDocument('1.2.3', EXTENSIONS)) as { paths: Record<string, object> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, ':')}`),
  );
  const { fetch, asked } = scriptedFetch({ status: 404 });
  const client = new OrderSync({ url: 'http://sync.example', fetch });
  await Promise.allSettled(Object.values(CALLS).flatMap((calls) => calls(client)));
  const sent = asked.map(({ method, url }) => {
    const path = new URL(url).pathname.replace(ID, ':').replace('/findings/7', '/findings/:').replace(/MAIN$/, ':');
    return `${method} ${path}`;
  });
  expect(new Set([...sent, ...NOT_OF_A_SHOP])).toEqual(new Set(documented));
});

it('every method is called here', () => {
  const client = new OrderSync({ socket: '' });
  for (const [name, calls] of Object.entries(CALLS)) {
    const group = client[name as keyof OrderSync];
    const methods = typeof group === 'function' ? 1 : Object.keys(group).length;
    const made = calls(client);
    for (const one of made) one.catch(() => undefined);
    expect([name, made.length]).toEqual([name, methods]);
  }
});
