import { EVENT_TYPES } from '../../domain/events/feed.ts';
import { cutText, escapeText, proseText } from '../formats/html/text.ts';
import type { DashboardFacts } from './facts.ts';
import { findingsText, healthText, needsText, titleOf, verdictSection } from './health.ts';
import { ageingText, flowText, moneyText, statesText } from './orders.ts';
import { eventsText, requestsText } from './traffic.ts';

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

interface Frame {
  readonly title: string;
  readonly account: string | undefined;
  readonly accounts: readonly string[];
  readonly query?: string;
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

export function messagePage(frame: Frame, text: string): string {
  return framed(frame, `<div class="board"><section class="wide"><h1>${escapeText(text)}</h1></section></div>\n`);
}

/** Writes a page with its head, the choice of the account and the search; `body` is markup. */
export function framed(frame: Frame, body: string): string {
  const { title, account, reloadSeconds } = frame;
  const isLive = reloadSeconds !== undefined;
  const reload =
    reloadSeconds === undefined ? '' : `<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(cutText(title))}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dashboard.css">
${reload}<script type="module" src="/dashboard.js"></script>
</head>
<body${isLive && account !== undefined ? ` data-account="${escapeText(account)}" data-events="${EVENT_TYPES.join(' ')}"` : ''}>
<a class="skip" href="#main">To the content</a>
${headText(frame)}<main id="main">
${body}</main>
</body>
</html>
`;
}

function headText({ account, accounts, query = '', isActionable = false }: Frame): string {
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
      : `<a href="/pause?${escapeText(new URLSearchParams({ account }).toString())}">Pause or resume</a>\n`;
  return `<header class="bar"><a class="home" href="/?${escapeText(new URLSearchParams({ account: chosen }).toString())}">order-sync</a>
${pause}${choice}<form action="/orders" method="get" role="search"><label for="q">Order</label> <input id="q" name="q" type="search" maxlength="1000" required value="${escapeText(query)}" placeholder="id, or its beginning" autocomplete="off" spellcheck="false"><input type="hidden" name="account" value="${escapeText(chosen)}"> <button>Find</button></form>
<p id="connection" role="status"></p></header>
`;
}
