import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { configOf } from '../../../config/config.ts';
import { storyOf } from '../../../flows/reports/story.ts';
import { foundSection, type FoundOrder } from '../../../reports/dashboard/findings.ts';
import { dashboardPage, framed, messagePage, type Frame } from '../../../reports/dashboard/page.ts';
import { DASHBOARD_STYLE } from '../../../reports/dashboard/style.ts';
import type { Section } from '../../../reports/formats/document.ts';
import { pageParts } from '../../../reports/formats/html.ts';
import { pairOf } from '../../../reports/reconciliation/rows.ts';
import { ordersLike } from '../../../store/listed-orders.ts';
import { CONTENT_POLICY } from '../guard.ts';
import type { OpsSources } from '../routes.ts';
import { DashboardReader } from './facts.ts';

const HTML = 'text/html; charset=utf-8';
/** Orders that a search shows, and accounts in which it looks. */
const MOST_FOUND = 50;
const MOST_ACCOUNTS = 500;
/** No id that is longer is found by its whole length. */
const LONGEST_QUERY = 10_000;
/** The newest events of an order that its page lists. */
const MOST_EVENTS = 200;

/** Adds the pages for people: the dashboard, the search for an order, and its story. Nothing here changes anything. */
export function addDashboard(server: FastifyInstance, deps: OpsSources): void {
  const reader = new DashboardReader(deps);
  server.get('/', async (request, reply) => {
    const account = accountIn(request, reader.accounts);
    if (account === null) return absent(reply, reader, 'There is no such account in the settings.');
    return await reply.type(HTML).send(dashboardPage(await reader.read(account)));
  });
  server.get('/orders', (request, reply) => search(deps, reader, request, reply));
  server.get<{ Params: { id: string } }>('/orders/:id', (request, reply) =>
    showOrder(deps, reader, request.params.id, request, reply),
  );
  server.get('/dashboard.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(DASHBOARD_STYLE));
  server.get('/dashboard.js', async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(await readFile(new URL('live.js', import.meta.url))),
  );
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

async function search(deps: OpsSources, reader: DashboardReader, request: FastifyRequest, reply: FastifyReply) {
  const account = accountIn(request, reader.accounts);
  const query = (textIn(request, 'q') ?? '').trim();
  if (account === null) return absent(reply, reader, 'There is no such account in the settings.');
  if (query === '') return await reply.redirect('/', 303);
  const found: FoundOrder[] = [];
  const accounts = account === undefined ? reader.accounts.slice(0, MOST_ACCOUNTS) : [account];
  for (const name of query.length > LONGEST_QUERY ? [] : accounts) {
    const rows = await ordersLike(deps.store.db, name, query, MOST_FOUND + 1 - found.length);
    for (const row of rows) {
      const { external_order_id: externalOrderId, state, asset, created_at: createdAt } = row;
      found.push({ account: name, externalOrderId, state, pair: pairOf(row), asset, createdAt });
    }
    if (found.length > MOST_FOUND) break;
  }
  const shown = found.slice(0, MOST_FOUND);
  const body = foundSection(query, shown, found.length > MOST_FOUND, deps.clock.now().toISOString());
  const frame = { title: 'Orders · order-sync', account, accounts: reader.accounts, query };
  return await reply.type(HTML).send(framed(frame, `<div class="board">\n${body}</div>\n`));
}

async function showOrder(
  { store, clock, config }: OpsSources,
  reader: DashboardReader,
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const account = accountIn(request, reader.accounts);
  if (account === null || account === undefined) return absent(reply, reader, 'Name an account of the settings.');
  const told = await storyOf(store, configOf(config, account), id, { asOf: clock.now() });
  if (told === undefined) return absent(reply, reader, 'There is no such order.', account);
  const events: Section = {
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
    rows: told.evidence.events
      .slice(-MOST_EVENTS)
      .toReversed()
      .map((event) => ({
        at: event.observedAt,
        field: event.field,
        from: event.oldValue,
        to: event.newValue,
        source: event.source,
        reason: event.reason,
        actor: event.actor,
      })),
  };
  const document = { ...told.document, sections: [...told.document.sections, events] };
  const { rules, content } = await pageParts(document);
  const main = (await Array.fromAsync(content)).join('');
  const frame: Frame = { title: `Order ${id} · order-sync`, account, accounts: reader.accounts, rules };
  const hash = createHash('sha256').update(rules).digest('base64');
  reply.header('content-security-policy', CONTENT_POLICY.replace("style-src 'self'", `$& 'sha256-${hash}'`));
  return await reply.type(HTML).send(framed(frame, `<div class="story-page">\n${main}</div>\n`));
}

function absent(reply: FastifyReply, { accounts }: DashboardReader, text: string, account?: string) {
  return reply
    .code(404)
    .type(HTML)
    .send(messagePage({ title: 'Not found · order-sync', account, accounts }, text));
}
