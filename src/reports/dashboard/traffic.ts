import type { FeedEvent } from '../../domain/events/feed.ts';
import { toneOf, type Column, type Tone } from '../formats/document.ts';
import { momentText } from '../formats/html/cells.ts';
import { cutText, escapeText, proseText } from '../formats/html/text.ts';
import { inUnits } from '../formats/text.ts';
import type { OverdueStatus, Times } from '../status/status.ts';
import type { DashboardFacts, ExchangeFacts } from './facts.ts';
import { badge, count, empty, note, orderLink, table } from './markup.ts';

const OPERATIONS: readonly Column[] = [
  { key: 'operation', label: 'Operation', kind: 'text' },
  { key: 'requests', label: 'Requests', kind: 'count' },
  { key: 'failed', label: 'Failed', kind: 'count' },
  { key: 'p50', label: 'Half within', kind: 'text' },
  { key: 'p99', label: '99 % within', kind: 'text' },
];

export function requestsText({ exchange }: DashboardFacts): string {
  if (exchange === null) return empty('Another process asks the exchange.');
  const rows = exchange.operations.map(({ operation, count: requests, failed, p50Ms, p99Ms }) => ({
    operation,
    requests,
    failed,
    p50: inTime(p50Ms),
    p99: inTime(p99Ms),
  }));
  const operations = rows.length === 0 ? empty('No request yet.') : table('Requests to the exchange', OPERATIONS, rows);
  return `${meter(exchange)}${operations}${note(`${detection(exchange.detection)}${overdue(exchange.overdue)}`)}`;
}

function meter({ rate, inFlight }: ExchangeFacts): string {
  const { spent, requests, intervalMs } = rate;
  const text = `${spent} of ${requests} requests in ${inUnits(intervalMs)}`;
  return `<p class="meter"><meter min="0" max="${requests}" high="${requests * 0.9}" value="${Math.min(spent, requests)}" aria-label="Requests against the limit">${text}</meter> <span>${text}</span> <span>${count(inFlight)} in flight</span></p>\n`;
}

function detection({ count: changes, p50Ms, p99Ms }: Times): string {
  if (changes === 0) return 'No change of an order was seen yet, so nobody knows how late.';
  return `Of ${changes} changes half were seen within ${inTime(p50Ms)}, 99 % within ${inTime(p99Ms)}.`;
}

function overdue(known: OverdueStatus | null): string {
  if (known === null) return '';
  return ` Look-ups of ${known.orders} orders are overdue, the first since ${known.since}.`;
}

function inTime(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : inUnits(ms);
}

export function eventsText({ overview: { newest: events }, at, account }: DashboardFacts): string {
  if (events.length === 0) return empty('Nothing has happened yet.');
  const items = events.map((event) => {
    const { name, tone, text } = said(event);
    const of = account === undefined ? ` <small>${escapeText(event.account)}</small>` : '';
    return `<li><span class="when">${momentText(event.timestamp, at)}</span> <span>${badge(tone, name)} ${text}${of}</span></li>\n`;
  });
  return `<ol class="panel events" tabindex="0" aria-label="The newest events">\n${items.join('')}</ol>\n`;
}

/** Says an event; `text` is markup. */
function said({ type, data, account }: FeedEvent): {
  readonly name: string;
  readonly tone: Tone;
  readonly text: string;
} {
  if ('class' in data) {
    const tone = type === 'finding.opened' ? toneOf('severity', data.severity) : 'good';
    const link = orderLink({ externalOrderId: data.externalOrderId, account });
    return { name: type, tone, text: `${link} ${escapeText(data.class)}` };
  }
  if ('externalOrderId' in data) {
    const { field, oldValue, newValue, externalOrderId } = data;
    const isState = field === 'state';
    const tone = type === 'order.needs_attention' ? 'error' : isState ? toneOf('state', newValue) : 'neutral';
    const text = `${orderLink({ externalOrderId, account })}${change(oldValue, newValue)}`;
    return { name: isState ? String(newValue) : field, tone, text };
  }
  if ('linkId' in data) {
    const what = 'field' in data ? `${escapeText(data.field)}${change(data.oldValue, data.newValue)}` : '';
    return { name: type, tone: 'neutral', text: `${escapeText(cutText(data.linkId))} ${what}` };
  }
  const isGood = type === 'account.back' || type === 'account.resumed';
  const text = [data.hold, data.reason, data.actor].filter((part) => part !== null).join(', ');
  return { name: type, tone: isGood ? 'good' : 'warning', text: proseText(text) };
}

function change(from: string | null, to: string | null): string {
  const shown = (value: string | null) => escapeText(cutText(value ?? '–'));
  return ` <small>${shown(from)} → ${shown(to)}</small>`;
}
