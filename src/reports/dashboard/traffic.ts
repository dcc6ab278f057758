import type { FeedEvent } from '../../domain/events/feed.ts';
import { inUnits } from '../formats/words.ts';
import { cutText, escapeText, proseText } from '../formats/html/text.ts';
import { toneOf, type Column, type Tone } from '../formats/document.ts';
import type { OverdueStatus, Times } from '../status/status.ts';
import type { DashboardFacts, ExchangeFacts } from './facts.ts';
import { momentText } from '../formats/html/cells.ts';
import { badge, count, empty, note, orderLink, section, table } from './markup.ts';

/** Requests against the limit, how long they take, and how late changes are seen. */
export function requestsSection({ exchange }: DashboardFacts): string {
  const title = 'Requests to the exchange';
  if (exchange === null) return section('requests', title, empty('Another process asks the exchange.'));
  const rows = exchange.operations.map(({ operation, count: requests, failed, p50Ms, p99Ms }) => ({
    operation,
    requests,
    failed,
    p50: times(p50Ms),
    p99: times(p99Ms),
  }));
  const operations = rows.length === 0 ? empty('No request yet.') : table(title, OPERATIONS, rows);
  return section(
    'requests',
    title,
    `${meter(exchange)}${operations}${note(`${detection(exchange.detection)}${overdue(exchange.overdue)}`)}`,
  );
}

const OPERATIONS: readonly Column[] = [
  { key: 'operation', label: 'Operation', kind: 'text' },
  { key: 'requests', label: 'Requests', kind: 'count' },
  { key: 'failed', label: 'Failed', kind: 'count' },
  { key: 'p50', label: 'Half within', kind: 'text' },
  { key: 'p99', label: '99 % within', kind: 'text' },
];

function meter({ rate, inFlight }: ExchangeFacts): string {
  const flight = `${count(inFlight)} in flight`;
  const { spent, requests, intervalMs } = rate;
  const text = `${spent} of ${requests} requests in ${inUnits(intervalMs)}`;
  return `<p class="meter"><meter min="0" max="${requests}" high="${requests * 0.9}" value="${Math.min(spent, requests)}" aria-label="Requests against the limit">${text}</meter> <span>${text}</span> <span>${flight}</span></p>\n`;
}

function detection(known: Times | null): string {
  if (known === null || known.count === 0) return 'No change of an order was seen yet, so nobody knows how late.';
  const { count: changes, p50Ms, p99Ms } = known;
  return `Of ${changes} changes half were seen within ${times(p50Ms)}, 99 % within ${times(p99Ms)}.`;
}

function overdue(known: OverdueStatus | null): string {
  if (known === null) return '';
  return ` Look-ups of ${known.orders} orders are overdue, the first since ${known.since}.`;
}

function times(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : inUnits(ms);
}

/** The newest events, the newest first. */
export function eventsSection({ overview: { newest: events }, at, account }: DashboardFacts): string {
  const title = 'Events';
  if (events.length === 0) return section('events', title, empty('Nothing has happened yet.'));
  const items = events.map((event) => {
    const { name, tone, text } = said(event);
    const of = account === undefined ? ` <small>${escapeText(event.account)}</small>` : '';
    return `<li><span class="when">${momentText(event.timestamp, at)}</span> <span>${badge(tone, name)} ${text}${of}</span></li>\n`;
  });
  return section(
    'events',
    title,
    `<ol class="panel events" tabindex="0" aria-label="The newest events">\n${items.join('')}</ol>\n`,
  );
}

interface Said {
  readonly name: string;
  readonly tone: Tone;
  /** Markup. */
  readonly text: string;
}

function said({ type, data, account }: FeedEvent): Said {
  if ('class' in data) {
    const tone = type === 'finding.opened' ? toneOf('severity', data.severity) : 'good';
    return {
      name: type,
      tone,
      text: `${orderLink({ externalOrderId: data.externalOrderId, account })} ${escapeText(data.class)}`,
    };
  }
  if ('externalOrderId' in data) {
    const { field, oldValue, newValue, externalOrderId } = data;
    const isState = field === 'state';
    const tone = type === 'order.needs_attention' ? 'error' : isState ? toneOf('state', newValue) : 'neutral';
    return {
      name: isState ? String(newValue) : field,
      tone,
      text: `${orderLink({ externalOrderId, account })}${change(oldValue, newValue)}`,
    };
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
