import { findingClass } from '../../../operate/finding-classes.ts';
import { pasteable } from '../../../../base/invocation.ts';
import { commandText, escapeText, figure, icon, momentText, proseText } from '../../../documents/html/cells.ts';
import type { DashboardFacts } from '../read-facts.ts';
import type { Concerned } from '../../tables/sums.ts';
import { HINTS, wellText } from '../../status/problems.ts';
import { count, link, listPath, orderPath } from '../markup.ts';
import { STATES, type Trouble } from './troubles.ts';
import { capitalized, counted } from '../../../documents/words.ts';

const MOST_SHOWN = 5;
const MOST_CURRENCIES = 6;

export function verdictSection({ troubles, ...facts }: DashboardFacts): string {
  const [worst] = troubles;
  const tone = worst?.severity ?? 'good';
  const others = troubles.slice(1);
  const decided = others.filter(({ code }) => code === 'decided').length;
  const counts = [
    decided < others.length && counted(others.length - decided, 'other problem'),
    decided > 0 && counted(decided, 'class of findings to acknowledge', 'classes of findings to acknowledge'),
  ].filter((part) => part !== false);
  const more = counts.length > 0 ? `<p><a href="#problems">and ${counts.join(', ')}</a></p>` : '';
  const text =
    worst === undefined
      ? `<h1>${wellText(facts.overview)}</h1>`
      : `<div class="what">${troubleText(worst, facts, 1)}${more}</div>${actionText(worst, facts)}`;
  return `<section id="verdict" class="wide" data-live role="status" aria-label="Verdict"><div class="verdict ${tone}">
${icon(tone)}<div>${text}</div></div></section>
`;
}

/** Returns the title of the window. The verdict comes first, for a person who has many windows open. */
export function titleOf({ account, troubles, overview }: DashboardFacts): string {
  const of = account === undefined ? 'all accounts' : account === 'default' ? '' : account;
  const [worst] = troubles;
  const text = worst === undefined ? wellText(overview) : capitalized(pasteable(worst.text));
  return [text, of, 'order-sync'].filter((part) => part !== '').join(' · ');
}

/** Decided findings are not called problems, because they only need to be acknowledged. */
export function problemsTitle({ troubles }: DashboardFacts): string {
  return troubles.slice(1).every(({ code }) => code === 'decided') ? 'Findings to acknowledge' : 'Other problems';
}

/** Lists decided findings last, after problems whose orders are "counted above". Folds only findings. */
export function problemsText({ troubles, ...facts }: DashboardFacts): string {
  const placeOf = (trouble: Trouble) => (trouble.code === 'decided' ? 2 : Number(isCountedAbove(trouble, facts)));
  const others = troubles.slice(1).toSorted((one, other) => placeOf(one) - placeOf(other));
  const items = others.map((trouble, index) => {
    const isFolded = index >= MOST_SHOWN && trouble.about.class !== undefined;
    const text = `<li class="${trouble.severity}"><div class="what">${troubleText(trouble, facts, 3)}</div>${actionText(trouble, facts)}</li>\n`;
    return { isFolded, text };
  });
  const textsOf = (isFolded: boolean) => items.flatMap((one) => (one.isFolded === isFolded ? one.text : []));
  const [shown, folded] = [textsOf(false), textsOf(true)];
  const summary = counted(folded.length, 'more class of findings', 'more classes of findings');
  const rest = `<details><summary>${summary}</summary>\n<ul class="needs">\n${folded.join('')}</ul></details>\n`;
  if (items.length === 0) return '';
  return `<ul class="needs">\n${shown.join('')}</ul>\n${folded.length === 0 ? '' : rest}`;
}

type Shown = Pick<DashboardFacts, 'at' | 'account' | 'overview'>;

function troubleText(trouble: Trouble, shown: Shown, level: 1 | 3): string {
  const { code, severity, about, since, advice } = trouble;
  const sign = level === 1 ? '' : icon(severity);
  const title = `<h${level}>${sign}${proseText(capitalized(trouble.text))}</h${level}>`;
  const hint = advice ?? (about.class === undefined ? HINTS[code] : findingClass(about.class)?.advice);
  const parts = [
    since === null ? '' : `since ${momentText(since, shown.at)}`,
    concernedText(trouble, shown),
    hint === undefined ? '' : proseText(hint),
  ].filter((part) => part !== '');
  return `${title}${parts.length === 0 ? '' : `<p>${parts.map((part) => `<span>${part}</span>`).join(' ')}</p>`}`;
}

function concernedText(trouble: Trouble, shown: Shown): string {
  const { concerned, count: number, stake } = trouble;
  if (isCountedAbove(trouble, shown)) return 'Counted above.';
  if (concerned === undefined) return '';
  const sums = stake === undefined ? '' : stakeText(stake);
  const money = sums === '' ? '' : link(pathOf(concerned, shown), sums);
  if (isListed(trouble)) return money;
  const list = link(pathOf(concerned, shown), ordersText(trouble, shown));
  return `${list} ${number === 1 ? 'waits' : 'wait'} to be sent${money === '' ? '' : `: ${money}`}`;
}

function isCountedAbove({ concerned, stake }: Trouble, { overview: { orders } }: Shown): boolean {
  const isOfClass = concerned !== undefined && 'class' in concerned && stake?.amounts.length === 0;
  return isOfClass && orders.disputed + orders.held + orders.unknown > 0;
}

function stakeText({ amounts, isCut }: NonNullable<Trouble['stake']>): string {
  if (amounts.length === 0) return '';
  const shown = amounts
    .slice(0, MOST_CURRENCIES)
    .map(({ currency, amount }) => `${figure(amount)}\u00a0${escapeText(currency)}`);
  const more = amounts.length - shown.length;
  if (more > 0) shown.push(counted(more, 'more currency', 'more currencies'));
  return `<strong class="stake">${isCut ? 'more than ' : ''}${shown.join(', ')}</strong>`;
}

function actionText(trouble: Trouble, shown: Shown): string {
  return `<div class="todo">${remedyText(trouble, shown)}</div>`;
}

function remedyText(trouble: Trouble, shown: Shown): string {
  const { about, remedy, concerned } = trouble;
  const { account = '', externalOrderId } = about;
  const path = externalOrderId === undefined ? undefined : orderPath({ account, externalOrderId });
  if (path !== undefined) return link(path, 'See the order');
  if (concerned !== undefined && isListed(trouble)) {
    const list = link(pathOf(concerned, shown), `See ${ordersText(trouble, shown)}`);
    return trouble.code === 'decided' ? `${list} ${commandText(remedy)}` : list;
  }
  return remedy.startsWith('order-sync ') ? commandText(remedy) : `<p>${proseText(capitalized(remedy))}.</p>`;
}

function isListed({ code, concerned }: Trouble): boolean {
  return concerned !== undefined && ('class' in concerned || STATES[code] !== undefined);
}

function pathOf(concerned: Concerned, { account }: Shown): string {
  return listPath('state' in concerned ? '/orders' : '/findings', account, concerned);
}

function ordersText({ concerned, count: number }: Trouble, { overview }: Shown): string {
  const isOrder = concerned !== undefined && 'state' in concerned;
  const more = isOrder && overview.more.includes(concerned.state) ? ' or more' : '';
  return `${count(number)}${more} ${isOrder ? 'order' : 'finding'}${number === 1 ? '' : 's'}`;
}
