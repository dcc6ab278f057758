import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { configOf } from '../../../config/config.ts';
import { storyOf } from '../../../flows/reports/story.ts';
import { contentText } from '../../../reports/formats/html.ts';
import type { Row, Section } from '../../../reports/formats/document.ts';
import type { StoryEvent } from '../../../reports/story/evidence.ts';
import { findingsOf } from '../../../store/findings.ts';
import { trackingOf } from '../../../store/order-columns.ts';
import { readOrder } from '../../../store/orders.ts';
import { messageOf } from '../../../domain/text.ts';
import { foundSection } from '../../../reports/dashboard/orders.ts';
import { orderForms, pauseForms } from '../../../reports/dashboard/forms.ts';
import { dashboardPage, framed } from '../../../reports/dashboard/page.ts';
import { DASHBOARD_STYLE } from '../../../reports/dashboard/style.ts';
import { pairOf } from '../../../reports/reconciliation/rows.ts';
import { readHolds } from '../../../store/account-holds.ts';
import { feedHead } from '../../../store/feed.ts';
import { findOrders } from '../../../store/find-orders.ts';
import { ROW_COLUMNS } from '../../../store/order-columns.ts';
import { viewOf } from '../../../domain/accounts/holds.ts';
import { EventStreams } from '../../events/stream.ts';
import type { OpsPages } from '../readings.ts';
import { addActions, answer, formToken, HTML } from './actions.ts';
import { DashboardReader } from './facts.ts';

/** Orders that a search shows, and accounts in which it looks. */
const MOST_FOUND = 50;
const MOST_ACCOUNTS = 500;
/** The newest events of an order that its page lists. */
const MOST_EVENTS = 200;
/** No id is longer. */
const LONGEST_QUERY = 10_000;

interface Pages {
  readonly deps: OpsPages;
  readonly accounts: readonly string[];
  /** The token of forms; undefined where nobody decides here. */
  readonly token: string | undefined;
}

/** Adds the pages for people: the dashboard, the search for an order, its story, and where `ops.actions` is on what they may do. */
export function addDashboard(server: FastifyInstance, deps: OpsPages, stopping: AbortSignal): void {
  const reader = new DashboardReader(deps);
  const { accounts } = reader;
  const token = deps.config.ops.actions === 'on' ? formToken() : undefined;
  const pages: Pages = { deps, accounts, token };
  server.get('/', async (request, reply) => {
    const account = accountIn(request, accounts);
    if (account === null) return answer(reply, 404, accounts, 'There is no such account in the settings.');
    try {
      return await reply.type(HTML).send(dashboardPage(await reader.read(account), token !== undefined));
    } catch (error) {
      deps.log.warn({ cause: messageOf(error) }, 'the dashboard cannot be read');
      const unread = 'The database cannot be read: the log of the daemon says why.';
      return answer(reply, 503, accounts, deps.store.writer.failure?.message ?? unread);
    }
  });
  server.get('/orders', (request, reply) => search(pages, request, reply));
  server.get<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
    const account = accountIn(request, accounts);
    if (account === null || account === undefined)
      return answer(reply, 404, accounts, 'Name an account of the settings.');
    const page = await storyPage(pages, account, request.params.id);
    if (page === undefined) return answer(reply, 404, accounts, 'There is no such order.');
    return await reply.type(HTML).send(page);
  });
  server.get('/dashboard.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(DASHBOARD_STYLE));
  server.get('/dashboard.js', async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(await readFile(new URL('live.js', import.meta.url))),
  );
  addEvents(server, pages, stopping);
  if (token === undefined) return;
  addActions(server, deps, accounts, token);
  server.get('/pause', async (request, reply) => {
    const account = accountIn(request, accounts);
    if (account === null || account === undefined)
      return answer(reply, 404, accounts, 'Name an account of the settings.');
    const holds = (await readHolds(deps.store.db, account)).map(viewOf);
    const frame = { title: 'Pause · order-sync', account, accounts, isActionable: true };
    return await reply.type(HTML).send(framed(frame, pauseForms({ account, token }, holds)));
  });
}

/** Events that come from now on, for the script of the dashboard: it reads the page again when one comes. */
function addEvents(server: FastifyInstance, { deps, accounts }: Pages, stopping: AbortSignal): void {
  const streams = new EventStreams(deps, stopping);
  server.get('/events', async (request, reply) => {
    const account = accountIn(request, accounts);
    if (account === null || account === undefined) return await reply.code(404).send({ status: 'refused' });
    const head = await feedHead(deps.store.db, account);
    if (streams.isFull) return await reply.code(503).send({ status: 'refused', reason: 'too many streams' });
    void reply.hijack();
    streams.serve(reply.raw, { account }, head);
    return reply;
  });
}

/** The account that is asked for, undefined for all; null where there is none of the name. One alone is meant anyway. */
function accountIn(request: FastifyRequest, accounts: readonly string[]): string | undefined | null {
  const asked = textIn(request, 'account');
  if (asked === undefined || (asked === 'all' && !accounts.includes(asked))) {
    return accounts.length === 1 ? accounts[0] : undefined;
  }
  return accounts.includes(asked) ? asked : null;
}

function textIn({ query }: FastifyRequest, name: string): string | undefined {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}

async function search(pages: Pages, request: FastifyRequest, reply: FastifyReply) {
  const { deps, accounts, token } = pages;
  const account = accountIn(request, accounts);
  const query = (textIn(request, 'q') ?? '').trim();
  if (account === null) return answer(reply, 404, accounts, 'There is no such account in the settings.');
  if (query === '') return await reply.redirect('/', 303);
  const found: Row[] = [];
  const searched = account === undefined ? accounts.slice(0, MOST_ACCOUNTS) : [account];
  for (const name of query.length > LONGEST_QUERY ? [] : searched) {
    const filter = { account: name, beginning: query, by: 'id', limit: MOST_FOUND + 1 - found.length } as const;
    const rows = await findOrders(deps.store.db, filter, ROW_COLUMNS);
    found.push(...rows.map((row) => ({ ...row, pair: pairOf(row) })));
    if (found.length > MOST_FOUND) break;
  }
  const shown = found.slice(0, MOST_FOUND);
  const body = foundSection(query, shown, found.length > MOST_FOUND, deps.clock.now().toISOString());
  const frame = { title: 'Orders · order-sync', account, accounts, query, isActionable: token !== undefined };
  return await reply.type(HTML).send(framed(frame, `<div class="board">\n${body}</div>\n`));
}

/** Writes the story of an order as `orders explain` does, with its events, and the forms where a person may decide here. */
async function storyPage(
  { deps, accounts, token }: Pages,
  account: string,
  externalOrderId: string,
): Promise<string | undefined> {
  const { store, clock, config } = deps;
  const told = await storyOf(store, configOf(config, account), externalOrderId, { asOf: clock.now() });
  if (told === undefined) return undefined;
  const sections = [...told.document.sections, eventsSection(told.evidence.events)];
  const forms = token === undefined ? '' : await formsOf(deps, { account, token }, externalOrderId);
  const main = (await Array.fromAsync(contentText({ ...told.document, sections }))).join('');
  const frame = {
    title: `Order ${externalOrderId} · order-sync`,
    account,
    accounts,
    isActionable: token !== undefined,
  };
  return framed(frame, `<div class="story-page">\n${main}${forms}</div>\n`);
}

async function formsOf(
  { store }: Pages['deps'],
  base: Parameters<typeof orderForms>[0],
  externalOrderId: string,
): Promise<string> {
  const row = await readOrder(store.db, base.account, externalOrderId);
  if (row === undefined) return '';
  return orderForms(base, trackingOf(row), await findingsOf(store.db, base.account, externalOrderId));
}

function eventsSection(events: readonly StoryEvent[]): Section {
  return {
    name: 'events',
    title: 'Events',
    lead: `As they were recorded, the newest first, at most ${MOST_EVENTS}.`,
    columns: [
      { key: 'at', label: 'At', kind: 'time' },
      { key: 'field', label: 'Field', kind: 'text' },
      { key: 'from', label: 'Old value', kind: 'text' },
      { key: 'to', label: 'New value', kind: 'text' },
      { key: 'source', label: 'Source', kind: 'text', rank: 1 },
      { key: 'reason', label: 'Reason', kind: 'text', rank: 1 },
      { key: 'actor', label: 'Person', kind: 'text', rank: 1 },
    ],
    rows: events
      .slice(-MOST_EVENTS)
      .toReversed()
      .map(({ observedAt: at, field, oldValue: from, newValue: to, source, reason, actor }) => ({
        at,
        field,
        from,
        to,
        source,
        reason,
        actor,
      })),
  };
}
