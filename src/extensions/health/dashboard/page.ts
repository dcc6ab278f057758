import { EVENT_TYPES, type FeedEvent } from '../../feed/event.ts';
import { toneOf, type Column } from '../../documents/document.ts';
import { type Tone } from '../../../cli/shared/terminal.ts';
import { momentText, cutText, escapeText, proseText } from '../../documents/html/cells.ts';
import { pageHead } from '../../documents/html.ts';
import { inUnits } from '../../../base/words.ts';
import type { OverdueStatus, Times } from '../status/status.ts';
import type { DashboardFacts, ExchangeFacts } from './facts.ts';
import { findingsText, healthText, needsText, titleOf, verdictSection } from './health.ts';
import { accountPath, badge, count, empty, note, orderLink, table } from './markup.ts';
import { ageingText, flowText, moneyText, statesText } from './orders.ts';

/** The sections below the verdict. The script of the page keeps them up to date, each by its id. */
const SECTIONS: readonly {
  readonly id: string;
  readonly title: string;
  readonly isWide?: boolean;
  readonly write: (facts: DashboardFacts) => string;
}[] = [
  { id: 'needs', title: 'What needs a person', isWide: true, write: needsText },
  { id: 'health', title: 'Health', isWide: true, write: healthText },
  { id: 'orders', title: 'Orders by state', isWide: true, write: statesText },
  { id: 'flow', title: 'Orders of today by hour', write: flowText },
  { id: 'events', title: 'Events', write: eventsText },
  { id: 'requests', title: 'Requests to the exchange', write: requestsText },
  { id: 'ageing', title: 'Ageing', write: ageingText },
  { id: 'findings', title: 'Open findings', isWide: true, write: findingsText },
  { id: 'money', title: 'Volumes and money', isWide: true, write: moneyText },
];

export interface Frame {
  readonly title: string;
  readonly account: string | undefined;
  readonly accounts: readonly string[];
  readonly query?: string | undefined;
  /** Without a script the page is loaded again after so many seconds; never unless given. */
  readonly reloadSeconds?: number;
  readonly isActionable?: boolean;
}

export function dashboardPage(facts: DashboardFacts, isActionable = false): string {
  const { account, accounts } = facts;
  const sections = SECTIONS.map(
    ({ id, title, isWide = false, write }) =>
      `<section id="${id}"${isWide ? ' class="wide"' : ''} data-live aria-labelledby="${id}-title"><h2 id="${id}-title">${proseText(title)}</h2>\n${write(facts)}</section>\n`,
  );
  const body = `<div class="board">\n${verdictSection(facts)}${sections.join('')}</div>\n`;
  return framed({ title: titleOf(facts), account, accounts, isActionable, reloadSeconds: 15 }, body);
}

/** Writes a page that has nothing but a message, and leads back to the dashboard. */
export function messagePage(frame: Frame, text: string, advice = ''): string {
  const home = `<p>${escapeText(advice)}</p><p><a href="/">Go to the dashboard</a></p>`;
  return framed(
    frame,
    `<div class="board"><section class="wide"><h1>${escapeText(text)}</h1>\n${home}</section></div>\n`,
  );
}

/** Writes a page with its head, the choice of the account and the search; `body` is markup. */
export function framed(frame: Frame, body: string): string {
  const { title, account, reloadSeconds } = frame;
  const isLive = reloadSeconds !== undefined;
  const reload = isLive ? `<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>\n` : '';
  const head = `<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dashboard.css">
${reload}<script type="module" src="/dashboard.js"></script>
`;
  const data = `data-account="${escapeText(account ?? '')}" data-events="${EVENT_TYPES.join(' ')}"`;
  return `${pageHead(cutText(title), head)}<body${isLive && account !== undefined ? ` ${data}` : ''}>
<a class="skip" href="#main">To the content</a>
${barText(frame)}<main id="main">
${body}</main>
</body>
</html>
`;
}

function barText({ account, accounts, query = '', isActionable = false }: Frame): string {
  const chosen = account ?? 'all';
  const option = (value: string, name: string) =>
    `<option value="${escapeText(value)}"${value === chosen ? ' selected' : ''}>${escapeText(cutText(name))}</option>`;
  const options = [...accounts.map((name) => option(name, name)), option('all', 'all accounts')];
  const choice =
    accounts.length < 2
      ? ''
      : `<form action="/" method="get" class="choice"><label for="account">Account</label> <select id="account" name="account">${options.join('')}</select> <button>Show</button></form>\n`;
  const pause =
    !isActionable || account === undefined
      ? ''
      : `<a href="${escapeText(accountPath('/pause', account))}">Pause or resume</a>\n`;
  return `<header class="bar"><a class="home" href="${escapeText(accountPath('/', chosen))}">order-sync</a>
${pause}${choice}<form action="/orders" method="get" role="search"><label for="q">Order</label> <input id="q" name="q" type="search" maxlength="1000" required value="${escapeText(query)}" placeholder="id, or its beginning" autocomplete="off" spellcheck="false"><input type="hidden" name="account" value="${escapeText(chosen)}"> <button>Find</button></form>
<p id="connection" class="warning" role="status"></p></header>
`;
}

const OPERATIONS: readonly Column[] = [
  { key: 'operation', label: 'Operation', kind: 'text' },
  { key: 'requests', label: 'Requests', kind: 'count' },
  { key: 'failed', label: 'Failed', kind: 'count' },
  { key: 'p50', label: 'Half within', kind: 'text' },
  { key: 'p99', label: '99 % within', kind: 'text' },
];

function requestsText({ exchange }: DashboardFacts): string {
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

function eventsText({ overview: { newest: events }, at, account }: DashboardFacts): string {
  if (events.length === 0) return empty('Nothing has happened yet.');
  const items = events.map((event) => {
    const { name, tone, text } = said(event);
    const of = account === undefined ? ` <small>${escapeText(event.account)}</small>` : '';
    return `<li><span class="when">${momentText(event.timestamp, at)}</span> <span>${badge(tone, name)} ${text}${of}</span></li>\n`;
  });
  return `<ol class="panel events" tabindex="0" aria-label="The newest events">\n${items.join('')}</ol>\n`;
}

/** Says an event; `text` is markup. */
function said({ type, data, account }: FeedEvent): { name: string; tone: Tone; text: string } {
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
