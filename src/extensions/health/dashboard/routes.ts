import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { configOf } from '../../../settings/config.ts';
import { healthSettings } from '../settings.ts';
import { describeKeptBack, viewOf } from '../../../accounts/rules/restraints.ts';
import { messageOf } from '../../../base/text.ts';
import { storyOf } from '../../reports/story/read-story.ts';
import { orderForms, pauseForms } from './forms.ts';
import { foundSection } from './orders.ts';
import { RANGES, type RangeName } from './facts.ts';
import { dashboardPage, framed, messagePage, type Frame } from './page.ts';
import { DASHBOARD_STYLE } from './style.ts';
import type { Column, Row, Section } from '../../documents/document.ts';
import { contentText } from '../../documents/html.ts';
import { pairOf } from '../../reports/reconciliation/rows.ts';
import type { StoryEvent } from '../../reports/tables/story.ts';
import { readHolds } from '../../../store/tables/account-holds.ts';
import { feedHead } from '../../feed/tables/events.ts';
import { findingsOf } from '../../../store/tables/findings.ts';
import { findOrders } from '../../../store/find-orders.ts';
import { ROW_COLUMNS, trackingOf } from '../../../store/orders/order-columns.ts';
import { readOrder } from '../../../store/orders/orders.ts';
import { EventStreams } from '../../feed/stream.ts';
import type { OpsPages } from '../ops/readings.ts';
import { addActions, Refused } from './actions.ts';
import { DashboardReader, programFacts } from './read-facts.ts';

const HTML = 'text/html; charset=utf-8';
const MOST_FOUND = 50;
const MOST_ACCOUNTS = 500;
const MOST_EVENTS = 200;
const LONGEST_QUERY = 10_000;
const EVENT_COLUMNS: readonly Column[] = [
  { key: 'observed_at', label: 'At', kind: 'time' },
  { key: 'field', label: 'Field', kind: 'text' },
  { key: 'old_value', label: 'Old value', kind: 'text' },
  { key: 'new_value', label: 'New value', kind: 'text' },
  { key: 'source', label: 'Source', kind: 'text', rank: 1 },
  { key: 'reason', label: 'Reason', kind: 'text', rank: 1 },
  { key: 'actor', label: 'Person', kind: 'text', rank: 1 },
];

interface Pages {
  readonly deps: OpsPages;
  readonly accounts: readonly string[];
  /** The token of forms; undefined if decisions are off here. */
  readonly token: string | undefined;
}

export function addDashboard(server: FastifyInstance, deps: OpsPages, stopping: AbortSignal): void {
  const reader = new DashboardReader(deps);
  const { accounts } = reader;
  // It stands in each form of this process: a page of another site cannot read it.
  const token = healthSettings.of(deps.config).ops.actions === 'on' ? randomBytes(32).toString('base64url') : undefined;
  const pages: Pages = { deps, accounts, token };
  server.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof Refused)) throw error;
    const { httpStatus, message } = error;
    const page = messagePage(frameOf(pages, `${message} · order-sync`), message);
    return reply.code(httpStatus).type(HTML).send(page);
  });
  server.setNotFoundHandler((request, reply) => {
    void reply.code(404);
    if (!(request.headers.accept ?? '').includes('text/html')) {
      return reply.send({ status: 'refused', reason: 'there is no such page' });
    }
    const advice = 'If you typed the address, check that it is correct.';
    return reply.type(HTML).send(messagePage(frameOf(pages, 'Page not found · order-sync'), 'Page not found', advice));
  });
  const addPage = (path: string, write: (request: FastifyRequest) => Promise<string>) =>
    server.get(path, async (request, reply) => reply.type(HTML).send(await write(request)));
  addPage('/', async (request) => {
    const account = accountIn(request, accounts);
    const range = textIn(request, 'range') ?? '24h';
    const facts = await reader
      .read(account, Object.hasOwn(RANGES, range) ? (range as RangeName) : '24h')
      .catch((error: unknown) => {
        deps.log.warn({ cause: messageOf(error) }, 'the dashboard cannot be read');
        const unread = 'The database cannot be read: the log of the daemon says why.';
        throw new Refused(503, deps.store.writer.failure?.message ?? unread);
      });
    return dashboardPage(facts, token !== undefined);
  });
  server.get('/orders', async (request, reply) => {
    const query = (textIn(request, 'q') ?? '').trim();
    if (query === '') return await reply.redirect('/', 303);
    return await reply.type(HTML).send(await searchPage(pages, accountIn(request, accounts), query));
  });
  addPage('/orders/:id', (request) => storyPage(pages, request));
  server.get('/dashboard.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(DASHBOARD_STYLE));
  server.get('/dashboard.js', async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(await readFile(new URL('live.js', import.meta.url))),
  );
  addEvents(server, pages, stopping);
  if (token === undefined) return;
  addActions(server, deps, accounts, token);
  addPage('/pause', async (request) => {
    const account = oneAccountIn(request, accounts);
    const holds = (await readHolds(deps.store.db, account)).map(viewOf);
    return framed(frameOf(pages, 'Pause · order-sync', account), pauseForms({ account, token }, holds));
  });
}

/** The frame of a page of an account, or of all. */
function frameOf({ deps, accounts, token }: Pages, title: string, account?: string): Frame {
  const at = deps.clock.now().toISOString();
  return { title, account, accounts, program: programFacts(deps, account), at, isActionable: token !== undefined };
}

/** Events that come from now on, for the script of the dashboard: it reads the page again when one comes. */
function addEvents(server: FastifyInstance, { deps, accounts }: Pages, stopping: AbortSignal): void {
  const streams = new EventStreams(deps, stopping);
  server.get('/events', async (request, reply) => {
    const account = oneAccountIn(request, accounts);
    const head = await feedHead(deps.store.db, account);
    if (streams.isFull) return await reply.code(503).send({ status: 'refused', reason: 'too many streams' });
    void reply.hijack();
    streams.serve(reply.raw, { account }, head);
    return reply;
  });
}

/** The account that is asked for, undefined for all. One alone is meant anyway. */
function accountIn(request: FastifyRequest, accounts: readonly string[]): string | undefined {
  const asked = textIn(request, 'account');
  if (asked === undefined || (asked === 'all' && !accounts.includes(asked))) {
    return accounts.length === 1 ? accounts[0] : undefined;
  }
  if (!accounts.includes(asked)) throw new Refused(404, 'There is no such account in the settings.');
  return asked;
}

function oneAccountIn(request: FastifyRequest, accounts: readonly string[]): string {
  const account = accountIn(request, accounts);
  if (account === undefined) throw new Refused(404, 'Name an account of the settings.');
  return account;
}

function textIn({ query }: FastifyRequest, name: string): string | undefined {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}

async function searchPage(pages: Pages, account: string | undefined, query: string): Promise<string> {
  const { deps, accounts } = pages;
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
  return framed({ ...frameOf(pages, 'Orders · order-sync', account), query }, `<div class="board">\n${body}</div>\n`);
}

/** Writes the story of an order as `orders explain` does, with its events, and the forms where a person may decide here. */
async function storyPage(pages: Pages, request: FastifyRequest): Promise<string> {
  const { deps, accounts, token } = pages;
  const { store, clock, config, activities } = deps;
  const account = oneAccountIn(request, accounts);
  const { id } = request.params as { readonly id: string };
  const asOf = clock.now();
  const kept = activities
    .find(account)
    ?.keptBack(asOf)
    .find(({ externalOrderId }) => externalOrderId === id);
  const told = await storyOf(store, configOf(config, account), id, { asOf, blocked: kept && describeKeptBack(kept) });
  const row = await readOrder(store.db, account, id);
  if (told === undefined || row === undefined) throw new Refused(404, 'There is no such order.');
  const sections = [...told.document.sections, eventsSection(told.evidence.events)];
  const main = (await Array.fromAsync(contentText({ ...told.document, sections }))).join('');
  const forms =
    token === undefined ? '' : orderForms({ account, token }, trackingOf(row), await findingsOf(store.db, account, id));
  return framed(
    frameOf(pages, `Order ${id} · order-sync`, account),
    `<div class="story-page">\n${main}${forms}</div>\n`,
  );
}

function eventsSection(events: readonly StoryEvent[]): Section {
  const lead = `As they were recorded, the newest first, at most ${MOST_EVENTS}.`;
  const newest = events.slice(-MOST_EVENTS).toReversed();
  return { name: 'events', title: 'Events', lead, columns: EVENT_COLUMNS, rows: newest.map((event) => ({ ...event })) };
}
