import { findingClass } from '../../../findings/rules/classes.ts';
import { toneOf, type Column } from '../../documents/document.ts';
import { type Tone } from '../../../cli/shared/terminal.ts';
import { boxText, type Box } from '../../documents/html.ts';
import { ageOf, momentText, timeText, escapeText, icon, proseText } from '../../documents/html/cells.ts';
import { capitalized, counted } from '../../../base/words.ts';
import type { Problem, ProblemCode } from '../../../accounts/problem.ts';
import type { DashboardFacts } from './facts.ts';
import { badge, count, empty, orderLink, rowPath, table } from './markup.ts';

const MOST_PROBLEMS = 20;

export function verdictSection(facts: DashboardFacts): string {
  const { tone, text } = verdictOf(facts);
  return `<section id="verdict" class="wide" data-live role="status" aria-label="Verdict"><div class="verdict ${tone}">
${icon(tone)}<div><p>${proseText(text)}</p><small>As of ${timeText(facts.at, facts.at)} UTC</small></div></div></section>
`;
}

/** The title of the window says it too: who has many open sees it there. */
export function titleOf(facts: DashboardFacts): string {
  const { account } = facts;
  const of = account === undefined ? 'all accounts' : account === 'default' ? '' : account;
  return [verdictOf(facts).text, of, 'order-sync'].filter((part) => part !== '').join(' · ');
}

function verdictOf({ problems }: DashboardFacts): { readonly tone: Tone; readonly text: string } {
  const [worst] = problems;
  if (worst === undefined) return { tone: 'good', text: 'All is well' };
  return { tone: worst.severity, text: `${counted(problems.length, 'thing needs', 'things need')} a person` };
}

export function needsText({ problems, at }: DashboardFacts): string {
  if (problems.length === 0) return empty('Nothing.');
  const items = problems.slice(0, MOST_PROBLEMS).map((problem) => problemItem(problem, at));
  const more = problems.length - items.length;
  const rest = more > 0 ? `<li class="more">${counted(more, 'more thing')}: order-sync status</li>\n` : '';
  return `<ul class="needs">\n${items.join('')}${rest}</ul>\n`;
}

function problemItem({ severity, about, text, since, remedy }: Problem, now: string): string {
  const { account, externalOrderId } = about;
  const title = capitalized(text);
  const isOfOrder = account !== undefined && externalOrderId !== undefined;
  const heading = isOfOrder ? orderLink({ account, externalOrderId }, title) : proseText(title);
  const age = since === null ? '' : ` <span class="age">${momentText(since, now)}</span>`;
  const isCommand = remedy.startsWith('order-sync ');
  const helps = isCommand
    ? `<code tabindex="0">${escapeText(remedy)}</code>`
    : `<p>${proseText(capitalized(remedy))}.</p>`;
  return `<li class="${severity}"><div class="what"><h3>${icon(severity)}${heading}${age}</h3></div>${helps}</li>\n`;
}

/** A box says the worst of these problems in a word, or else that all is well. */
const HEALTH = {
  exchange: { 'out-of-reach': 'out of reach', unreadable: 'cannot be read' },
  key: { 'key-refused': 'refused' },
  creating: {
    'older-state': 'stopped',
    stopped: 'stopped',
    'database-unwritten': 'stopped',
    restored: 'paused',
    guarded: 'paused',
    'all-paused': 'paused',
    'creates-paused': 'paused',
    forbidden: 'refused',
    'key-refused': 'refused',
    slowed: 'slowed',
  },
  database: {
    'database-unwritten': 'cannot be written',
    'other-migrations': 'of another version',
    'disk-full': 'full soon',
  },
  receivers: { 'receiver-fails': 'fail', parked: 'events refused', 'dead-letters': 'events refused' },
} as const satisfies Record<string, Partial<Record<ProblemCode, string>>>;

type Health = Omit<Box, 'label'>;

export function healthText(facts: DashboardFacts): string {
  const { exchange, overview, problems, at } = facts;
  const boxOf = (label: string, words: Partial<Record<ProblemCode, string>>, well: Health): string => {
    const worst = problems.find(({ code }) => words[code] !== undefined);
    if (worst === undefined) return boxText({ label, ...well });
    const note = worst.since === null ? '' : `since ${momentText(worst.since, at)}`;
    return boxText({ label, tone: worst.severity, value: words[worst.code] ?? '', note });
  };
  const isAnswered = (exchange?.lastAnswerAt ?? null) !== null;
  const key: Health = isAnswered ? { tone: 'good', value: 'accepted' } : { tone: 'neutral', value: 'not used yet' };
  const waits = overview.holds.some(({ kind }) => kind === 'rate-limited');
  const boxes = [
    boxOf('Exchange', HEALTH.exchange, exchangeWell(facts)),
    boxOf('Key', HEALTH.key, key),
    boxOf('Creating', HEALTH.creating, waits ? { tone: 'info', value: 'waits' } : { tone: 'good', value: 'goes on' }),
    boxOf('Database', HEALTH.database, databaseWell(facts)),
    boxOf('Receivers', HEALTH.receivers, receiversWell(facts)),
  ];
  return `<ul class="cards tiles">\n${boxes.join('')}</ul>\n`;
}

function exchangeWell({ exchange, at }: DashboardFacts): Health {
  if (exchange === null) return { tone: 'neutral', value: 'not driven here', note: 'another process asks it' };
  const { lastAnswerAt } = exchange;
  if (lastAnswerAt === null) return { tone: 'neutral', value: 'not asked yet' };
  const age = ageOf(lastAnswerAt, at);
  return { tone: 'good', value: 'well', note: `last answer ${age === 'now' ? age : `${age} ago`}` };
}

function databaseWell({ database: { bytes, readMs } }: DashboardFacts): Health {
  const [unit, name] = (bytes ?? 0) >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB'];
  const size = bytes === null ? '' : `${(bytes / unit).toFixed(1)} ${name}, `;
  return { tone: 'good', value: 'well', note: `${size}read in ${Math.round(readMs)} ms` };
}

function receiversWell({ overview: { receivers }, at }: DashboardFacts): Health {
  if (receivers.length === 0) return { tone: 'neutral', value: 'none', note: 'webhooks.endpoints is empty' };
  const failing = receivers.flatMap(({ failingSince }) => failingSince ?? []).toSorted();
  const [first] = failing;
  if (first !== undefined) {
    const value = `${failing.length} of ${receivers.length} fail`;
    return { tone: 'info', value, note: `since ${momentText(first, at)}` };
  }
  const oldest = receivers.flatMap(({ oldestWaiting }) => oldestWaiting ?? []).toSorted()[0];
  const behind = oldest === undefined ? 'nothing waits' : `the oldest event waits for ${ageOf(oldest, at)}`;
  return { tone: 'good', value: 'well', note: `${counted(receivers.length, 'endpoint')}, ${behind}` };
}

export function findingsText({ overview: { findings }, newestFindings, at }: DashboardFacts): string {
  if (findings.length === 0) return empty('None: both sides agree.');
  const items = findings.map(({ class: name, severity, open }) => {
    const known = findingClass(name);
    const words = known === undefined ? 'A class of another version.' : `${known.meaning} <b>${known.advice}</b>`;
    const tone = toneOf('severity', severity);
    return `<li>${badge(tone, name)} <strong>${count(open)}</strong> <span>${words}</span></li>\n`;
  });
  const rows = newestFindings.map((row) => ({ ...row, order: row['external_order_id'] ?? 'none' }));
  const columns: readonly Column[] = [
    { key: 'order', label: 'Order', kind: 'text', href: rowPath },
    { key: 'severity', label: 'Severity', kind: 'severity' },
    { key: 'class', label: 'Finding', kind: 'text' },
    { key: 'expected', label: 'Expected', kind: 'text' },
    { key: 'actual', label: 'Actual', kind: 'text' },
    { key: 'first_seen_at', label: 'First seen', kind: 'time', agesAt: at },
  ];
  return `<ul class="panel classes">\n${items.join('')}</ul>\n${table('Open findings', columns, rows)}`;
}
