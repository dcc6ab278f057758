import { EVENT_TYPES } from '../../feed/event.ts';
import { pasteFolder } from '../../../base/invocation.ts';
import { pageHead } from '../../documents/html.ts';
import { ageOf, cutText, escapeText, proseText, timeText } from '../../documents/html/cells.ts';
import { eventsText } from './front/events.ts';
import { flowText, moneyText, statesText } from './front/orders.ts';
import { problemsText, problemsTitle, titleOf, verdictSection } from './front/problems.ts';
import { partsText } from './front/running.ts';
import { badge, link, pathTo } from './markup.ts';
import { RANGES, type DashboardFacts } from './read-facts.ts';

export interface Frame extends Pick<DashboardFacts, 'account' | 'program' | 'at'> {
  readonly title: string;
  readonly accounts: readonly string[];
  readonly query?: string | undefined;
  readonly isLive?: boolean;
  readonly isActionable?: boolean;
}

export function dashboardPage(facts: DashboardFacts, isActionable = false): string {
  const { name } = RANGES[facts.range];
  const sections = [
    section('problems', problemsTitle(facts), problemsText(facts), true),
    section('orders', 'Orders by state', statesText(facts), true),
    section('flow', `The last ${name}`, flowText(facts)),
    section('events', 'Newest changes', eventsText(facts)),
    section('parts', 'Exchange, database and webhooks', partsText(facts), true),
    section('money', `Amounts of orders inserted in the last ${name}`, moneyText(facts), true),
  ];
  const body = `<div class="board">\n${verdictSection(facts)}${sections.join('')}</div>\n`;
  return framed({ ...facts, title: titleOf(facts), isActionable, isLive: true }, body);
}

/** The script of the page replaces sections by id. A section without text is hidden, but stays in the page. */
function section(id: string, title: string, text: string, isWide = false): string {
  const look = `${isWide ? ' class="wide"' : ''}${text === '' ? ' hidden' : ''}`;
  const heading = `<h2 id="${id}-title">${proseText(title)}</h2>\n`;
  return `<section id="${id}"${look} data-live aria-labelledby="${id}-title">${heading}${text}</section>\n`;
}

export function messagePage(frame: Frame, text: string, advice = ''): string {
  const home = `<p>${escapeText(advice)}</p><p><a href="/">Go to the dashboard</a></p>`;
  const message = `<section class="wide"><h1>${escapeText(text)}</h1>\n${home}</section>`;
  return framed(frame, `<div class="board">${message}</div>\n`);
}

export function framed(frame: Frame, body: string): string {
  const { title, account, isLive = false } = frame;
  const reload = isLive ? '<noscript><meta http-equiv="refresh" content="15"></noscript>\n' : '';
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

function barText(frame: Frame): string {
  const { account, accounts, query = '', isActionable = false } = frame;
  const chosen = account ?? 'all';
  const option = (value: string, name: string) =>
    `<option value="${escapeText(value)}"${value === chosen ? ' selected' : ''}>${escapeText(cutText(name))}</option>`;
  const options = [...accounts.map((name) => option(name, name)), option('all', 'all accounts')];
  const choice = `<form action="/" method="get" class="choice"><label for="account">Account</label> <select id="account" name="account">${options.join('')}</select> <button>Show</button></form>\n`;
  const linkTo = (path: string, text: string) => `${link(pathTo(path, { account: chosen }), text)}\n`;
  const pause = !isActionable || account === undefined ? '' : linkTo('/pause', 'Pause or resume');
  return `<header class="bar"><a class="home" href="${escapeText(pathTo('/', { account: chosen }))}">order-sync</a>
${aboutText(frame)}${linkTo('/orders', 'Orders')}${linkTo('/findings', 'Findings')}${pause}${accounts.length < 2 ? '' : choice}<form action="/orders" method="get" role="search"><label for="q">Order</label> <input id="q" name="q" type="search" maxlength="1000" required value="${escapeText(query)}" placeholder="id, or its beginning" autocomplete="off" spellcheck="false"><input type="hidden" name="account" value="${escapeText(chosen)}"> <button>Find</button></form>
<p id="connection" class="warning" role="status"></p></header>
`;
}

function aboutText({ program, accounts, at, isLive = false }: Frame): string {
  const { version, startedAt, exchange } = program;
  const kind = exchange === '' ? '' : `${badge(exchange === 'live' ? 'neutral' : 'info', exchange)} `;
  // If there are several accounts, a choice beside this text shows the account.
  const account = accounts.length === 1 ? ` <span>account ${escapeText(cutText(accounts.join('')))}</span>` : '';
  const age = ageOf(startedAt, at);
  const folder = pasteFolder();
  const place = folder === null ? '' : ` <span>paste commands in ${escapeText(cutText(folder))}</span>`;
  return `<p id="program"${isLive ? ' data-live' : ''}>${kind}<span>version ${escapeText(version)}</span>${account} <span>running since ${timeText(startedAt, at)} UTC${age === 'now' ? '' : ` (${age})`}</span>${place} <span>as of ${timeText(at, at)} UTC</span></p>
`;
}
