import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXTENSIONS } from '../../../src/extensions.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { controlDocument } from '../../../src/extensions/api/openapi/document.ts';
import { OrderSync } from '../../../src/extensions/shop/client.ts';
import { namesIn, tableBelow } from '../../support/pages.ts';
import { scriptedFetch } from '../../support/scripted-fetch.ts';

const ID = 'the-id';
const reason = 'r';
const order = { external_order_id: 'a', asset: '1', from_currency: 'BTC', to_currency: 'EUR' };

/** One call of each method that sends a request. */
const CALLS: Readonly<Record<string, (client: OrderSync) => Promise<unknown>>> = {
  'orders.add': ({ orders }) => orders.add(order),
  'orders.adopt': ({ orders }) => orders.adopt(order),
  'orders.get': ({ orders }) => orders.get(ID),
  'orders.list': ({ orders }) => orders.list(),
  'orders.explain': ({ orders }) => orders.explain(ID),
  'orders.lookUp': ({ orders }) => orders.lookUp('a'),
  'preOrders.get': ({ preOrders }) => preOrders.get(ID),
  'events.list': ({ events }) => events.list(),
  'events.follow': ({ events }) => events.follow().next(),
  'findings.list': ({ findings }) => findings.list(),
  'clients.create': ({ clients }) => clients.create({ email: '<EMAIL>' }),
  'clients.validateEmail': ({ clients }) => clients.validateEmail('<EMAIL>'),
  'clients.get': ({ clients }) => clients.get(ID),
  'clients.follow': ({ clients }) => clients.follow(ID),
  'clients.verificationToken': ({ clients }) => clients.verificationToken(ID, 'MAIN'),
  'clients.requestPhotos': ({ clients }) => clients.requestPhotos(ID, { level: 'MAIN' }),
  'clients.customer': ({ clients }) => clients.customer(ID),
  'clients.cards': ({ clients }) => clients.cards(ID),
  'clients.sdkToken': ({ clients }) => clients.sdkToken(ID),
  'clients.links': ({ clients }) => clients.links(),
  'decisions.resolve': ({ decisions }) => decisions.resolve(ID, { as: 'ours', reason }),
  'decisions.retry': ({ decisions }) => decisions.retry(ID, { reason }),
  'decisions.cancel': ({ decisions }) => decisions.cancel(ID, { reason }),
  'decisions.acknowledge': ({ decisions }) => decisions.acknowledge(7, { reason }),
  'decisions.pause': ({ decisions }) => decisions.pause({ what: 'creates', reason }),
  'decisions.resume': ({ decisions }) => decisions.resume({ reason }),
  status: (client) => client.status(),
  sync: (client) => client.sync(),
};

it('every method of the client is called here', () => {
  const groups = Object.entries(new OrderSync({ socket: '' }));
  const methods = groups.flatMap(([group, of]) => Object.keys(of as object).map((method) => `${group}.${method}`));
  expect(Object.keys(CALLS).toSorted()).toEqual([...methods, 'status', 'sync'].toSorted());
});

/** The operation that a method of the client asks for, as its method and its path without the names of parameters. */
async function askedBy(method: string): Promise<string | undefined> {
  const { fetch, asked } = scriptedFetch({ status: 404 });
  await CALLS[method]?.(new OrderSync({ url: 'http://sync.example', fetch })).catch(() => undefined);
  const [sent] = asked;
  if (sent === undefined) return undefined;
  const path = new URL(sent.url).pathname.replace(ID, '{}').replace('/findings/7', '/findings/{}');
  return `${sent.method} ${path.replace(/MAIN$/, '{}')}`;
}

describe('the table of operations in the manual', () => {
  const page = { text: readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8') };
  const rows = tableBelow(page, '## Every operation').map(([operation, scopes, command, methods]) => ({
    operation: namesIn(operation).join(' '),
    scopes: namesIn(scopes),
    commands: namesIn(command),
    methods: namesIn(methods),
  }));
  const bare = (operation: string) => operation.replaceAll(/\{\w+\}/g, '{}');

  it('has each of the document, with its scopes', async () => {
    const { paths } = (await controlDocument('1.2.3', EXTENSIONS)) as {
      paths: Record<string, Record<string, { 'x-scopes': readonly string[] }>>;
    };
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { 'x-scopes': scopes }]) => [`${method.toUpperCase()} ${path}`, scopes]),
    );
    const shown = rows.map(({ operation, scopes }) => [operation, scopes]);
    expect(shown).toHaveLength(documented.length);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(documented));
  });

  it('has each method of the client beside the operation that it asks for', async () => {
    const asked = await Promise.all(Object.keys(CALLS).map(async (method) => [method, await askedBy(method)]));
    const shown = rows.flatMap(({ operation, methods }) => methods.map((method) => [method, bare(operation)]));
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(asked));
  });

  it('names commands that are there, and says which ask the API', async () => {
    const named = rows.flatMap(({ commands }) => commands);
    expect(named.length).toBeGreaterThan(20);
    for (const line of named) {
      const [words = '', url] = line.split(' --url ');
      let command = await createProgram(words.split(' '), EXTENSIONS);
      for (const word of words.split(' ')) {
        const found = command.commands.find((one) => one.name() === word);
        expect([line, found?.name()]).toEqual([line, word]);
        command = found ?? command;
      }
      expect([line, command.options.some(({ long }) => long === '--url')]).toEqual([line, url !== undefined]);
    }
  });
});
