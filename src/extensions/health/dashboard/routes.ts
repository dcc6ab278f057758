import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { healthSettings } from '../settings.ts';
import { viewOf } from '../../../accounts/rules/restraints.ts';
import { messageOf } from '../../../base/text.ts';
import { pauseForms } from './forms.ts';
import { findingsText } from './lists/findings.ts';
import { orderText } from './lists/order.ts';
import { ordersText } from './lists/orders.ts';
import { accountIn, oneAccountIn, queryOf } from './lists/list.ts';
import { dashboardPage, framed, messagePage, type Frame } from './page.ts';
import { DASHBOARD_STYLE } from './style.ts';
import { readHolds } from '../../../store/tables/account-holds.ts';
import { feedHead } from '../../feed/tables/events.ts';
import { EventStreams } from '../../feed/stream.ts';
import type { OpsPages } from '../ops/readings.ts';
import { addActions, Refused } from './actions.ts';
import { dashboardReader, programFacts, RANGES, type RangeName } from './read-facts.ts';

const HTML = 'text/html; charset=utf-8';

type Pages = { readonly deps: OpsPages; readonly accounts: readonly string[]; readonly token: string | undefined };

export function addDashboard(server: FastifyInstance, deps: OpsPages, stopping: AbortSignal): void {
  const read = dashboardReader(deps);
  const accounts = deps.config.accounts.map(({ name }) => name);
  // The token in each form proves that this process made the form, because pages of other sites cannot read the token.
  const token = healthSettings.of(deps.config).ops.actions === 'on' ? randomBytes(32).toString('base64url') : undefined;
  const pages: Pages = { deps, accounts, token };
  answerRefusals(server, pages);
  const addPage = (path: string, write: (request: FastifyRequest) => Promise<string>) =>
    server.get(path, async (request, reply) => reply.type(HTML).send(await write(request)));
  addPage('/', async (request) => {
    const query = queryOf(request);
    const account = accountIn(query, accounts);
    const { range = '' } = query;
    const shown = Object.hasOwn(RANGES, range) ? (range as RangeName) : '24h';
    const facts = await read(account, shown).catch((error: unknown) => {
      deps.log.warn({ cause: messageOf(error) }, 'the dashboard cannot be read');
      const unread = 'The database cannot be read: the log of the daemon says why.';
      throw new Refused(503, deps.store.writer.failure?.message ?? unread);
    });
    return dashboardPage(facts, token !== undefined);
  });
  const addList = (path: string, title: string, write: typeof ordersText) =>
    addPage(path, async (request) => {
      const query = queryOf(request);
      const account = accountIn(query, accounts);
      return framed({ ...frameOf(pages, title, account), query: query['q'] }, await write(deps, account, query));
    });
  addList('/orders', 'Orders', ordersText);
  addList('/findings', 'Findings', findingsText);
  const orderPage = async (request: FastifyRequest) => {
    const query = queryOf(request);
    const account = oneAccountIn(query, accounts);
    const { id = query['id'] ?? '' } = request.params as { readonly id?: string };
    return framed(frameOf(pages, `Order ${id}`, account), await orderText(deps, account, id, token));
  };
  addPage('/orders/:id', orderPage);
  addPage('/order', orderPage);
  server.get('/dashboard.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(DASHBOARD_STYLE));
  server.get('/dashboard.js', async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(await readFile(new URL('live.js', import.meta.url))),
  );
  addEvents(server, pages, stopping);
  if (token === undefined) return;
  addActions(server, deps, accounts, token);
  addPage('/pause', async (request) => {
    const account = oneAccountIn(queryOf(request), accounts);
    const holds = (await readHolds(deps.store.db, account)).map(viewOf);
    return framed(frameOf(pages, 'Pause', account), pauseForms({ account, token }, holds));
  });
}

/** Answers `Refused` with a page. An unknown address gets a page in a browser, else JSON. */
function answerRefusals(server: FastifyInstance, pages: Pages): void {
  server.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof Refused)) throw error;
    const { httpStatus, message, advice } = error;
    void reply.code(httpStatus).type(HTML);
    return reply.send(messagePage(frameOf(pages, message), message, advice));
  });
  server.setNotFoundHandler((request, reply) => {
    void reply.code(404);
    if (!(request.headers.accept ?? '').includes('text/html')) {
      return reply.send({ status: 'refused', reason: 'there is no such page' });
    }
    const advice = 'If you typed the address, check that it is correct.';
    return reply.type(HTML).send(messagePage(frameOf(pages, 'Page not found'), 'Page not found', advice));
  });
}

function frameOf({ deps, accounts, token }: Pages, name: string, account?: string): Frame {
  const [at, title] = [deps.clock.now().toISOString(), `${name} · order-sync`];
  return { title, account, accounts, program: programFacts(deps, account), at, isActionable: token !== undefined };
}

function addEvents(server: FastifyInstance, { deps, accounts }: Pages, stopping: AbortSignal): void {
  const streams = new EventStreams(deps, stopping);
  server.get('/events', async (request, reply) => {
    const account = oneAccountIn(queryOf(request), accounts);
    const head = await feedHead(deps.store.db, account);
    if (streams.isFull) return await reply.code(503).send({ status: 'refused', reason: 'too many streams' });
    void reply.hijack();
    streams.serve(reply.raw, { account }, head);
    return reply;
  });
}
