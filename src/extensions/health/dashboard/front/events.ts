import { type FeedEvent } from '../../../feed/event.ts';
import { paragraph } from '../../../documents/html.ts';
import { toneOf } from '../../../documents/document.ts';
import { cutText, escapeText, momentText, proseText } from '../../../documents/html/cells.ts';
import type { DashboardFacts } from '../read-facts.ts';
import { badge, orderLink } from '../markup.ts';
import { counted } from '../../../documents/words.ts';

const MOST_SHOWN = 12;
const MOST_VALUES = 6;

export function eventsText({ newest, at, account }: DashboardFacts): string {
  if (newest.length === 0) return paragraph('panel empty', 'Nothing has been recorded yet.');
  // `order.needs_attention` is omitted, because `order.state_changed` reports the same change.
  const changes = newest.filter(({ type }) => type !== 'order.needs_attention');
  const subjects = [...Map.groupBy(changes, subjectOf).values()].slice(0, MOST_SHOWN);
  const items = subjects.map((events) => {
    const [last] = events as [FeedEvent, ...FeedEvent[]];
    const of = account === undefined ? ` <small>${escapeText(last.account)}</small>` : '';
    return `<li><span class="when">${momentText(last.timestamp, at)}</span> <span>${nameOf(last)} ${changesText(events.toReversed())}${of}</span></li>\n`;
  });
  return `<ol class="panel events" tabindex="0" aria-label="The newest changes">\n${items.join('')}</ol>\n`;
}

function subjectOf({ account, data }: FeedEvent): string {
  const id =
    'externalOrderId' in data ? `order ${data.externalOrderId}` : 'linkId' in data ? `link ${data.linkId}` : '';
  return `${account} ${id}`;
}

function nameOf({ account, data }: FeedEvent): string {
  if ('externalOrderId' in data) return orderLink({ externalOrderId: data.externalOrderId, account });
  return 'linkId' in data ? `link ${escapeText(cutText(data.linkId))}` : `account ${escapeText(cutText(account))}`;
}

/** Returns HTML for changes of one order, link or account: states and findings, else the field that changed last. */
function changesText(events: readonly FeedEvent[]): string {
  const groups = [...Map.groupBy(events, ({ type, data }) => ('field' in data ? data.field : type))];
  const main = groups.filter(([field]) => field === 'state' || field.startsWith('finding.'));
  const newest = groups.filter(([, same]) => same.includes(events.at(-1)!));
  const shown = (main.length > 0 ? main : newest).map(([field, same]) => fieldText(field, same));
  const more = events.some(({ data }) => 'field' in data) ? groups.length - shown.length : 0;
  if (more > 0) shown.push(`<small>and ${counted(more, 'more field')}</small>`);
  return shown.join(' ');
}

function fieldText(field: string, events: readonly FeedEvent[]): string {
  const { type, data } = events.at(-1)!;
  if ('class' in data) {
    const tone = type === 'finding.opened' ? toneOf('severity', data.severity) : 'good';
    return `${badge(tone, type.replace('.', ' '))} <small>${escapeText(data.class)}</small>`;
  }
  if ('field' in data) {
    const changes = events.flatMap((event) => ('field' in event.data ? [event.data] : []));
    const before = [changes[0]?.oldValue ?? '–', ...changes.slice(0, -1).map(({ newValue }) => newValue ?? '–')];
    const steps = before.slice(-MOST_VALUES).map((value) => `${escapeText(cutText(value))} → `);
    if (field === 'state')
      return `<small>${steps.join('')}</small>${badge(toneOf('state', data.newValue), data.newValue)}`;
    return `<small>${escapeText(field)} ${steps.join('')}${escapeText(cutText(data.newValue ?? '–'))}</small>`;
  }
  if ('linkId' in data) return badge('neutral', type.replace('.', ' '));
  const name = type.replace(/^account\./, '').replaceAll('_', ' ');
  const isGood = type === 'account.back' || type === 'account.resumed' || type === 'account.readable';
  const hold = data.hold?.replaceAll('-', ' ') === name ? null : data.hold;
  const who = [hold, data.actor === null ? null : `by ${data.actor}`].filter((part) => part !== null).join(', ');
  const text = [who, data.reason ?? ''].filter((part) => part !== '').join(': ');
  return `${badge(isGood ? 'good' : 'warning', name)} <small>${proseText(text)}</small>`;
}
