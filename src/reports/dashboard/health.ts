import type { Tone } from '../formats/document.ts';
import { proseText, icon } from '../formats/html/text.ts';
import { capitalized, counted } from '../formats/words.ts';
import type { Problem, ProblemCode } from '../status/problem.ts';
import type { DashboardFacts } from './facts.ts';
import { ageOf, momentText } from '../formats/html/cells.ts';
import { command, empty, orderLink, section, tile, type Tile } from './markup.ts';

/** Rows of problems; more are counted. */
const MOST_PROBLEMS = 20;

/** Says in one line whether all is well. */
export function verdictSection(facts: DashboardFacts): string {
  const { tone, text, more } = verdictOf(facts);
  return `<section id="verdict" class="wide" data-live role="status" aria-label="Verdict"><div class="verdict ${tone}">
${icon(tone)}<div><p>${proseText(text)}</p><small>${more}</small></div></div></section>
`;
}

/** The title of the window says it too: who has many open sees it there. */
export function titleOf(facts: DashboardFacts): string {
  const { account } = facts;
  const of = account === undefined ? 'all accounts' : account === 'default' ? '' : account;
  return [verdictOf(facts).text, of, 'order-sync'].filter((part) => part !== '').join(' · ');
}

function verdictOf({ problems, at }: DashboardFacts): {
  readonly tone: Tone;
  readonly text: string;
  readonly more: string;
} {
  const more = `As of ${momentText(at, at).replace(/ <small>.*/s, '')} UTC`;
  const [worst] = problems;
  if (worst === undefined) return { tone: 'good', text: 'All is well', more };
  const text = `${counted(problems.length, 'thing needs', 'things need')} a person`;
  return { tone: worst.severity, text, more };
}

/** What needs a person, the worst first, each with what helps. */
export function needsSection({ problems, at }: DashboardFacts): string {
  if (problems.length === 0) return section('needs', 'What needs a person', empty('Nothing.'), { wide: true });
  const items = problems.slice(0, MOST_PROBLEMS).map((problem) => problemItem(problem, at));
  const more = problems.length - items.length;
  const rest = more > 0 ? `<li class="more">${counted(more, 'more thing')}: order-sync status</li>\n` : '';
  const list = `<ul class="needs">\n${items.join('')}${rest}</ul>\n`;
  return section('needs', 'What needs a person', list, { wide: true });
}

function problemItem({ severity, about, text, since, remedy }: Problem, now: string): string {
  const { account, externalOrderId } = about;
  const title = capitalized(text);
  const isOfOrder = account !== undefined && externalOrderId !== undefined;
  const heading = isOfOrder ? orderLink({ account, externalOrderId }, title) : proseText(title);
  const age = since === null ? '' : ` <span class="age">${momentText(since, now)}</span>`;
  const helps = remedy.startsWith('order-sync ') ? command(remedy) : `<p>${proseText(capitalized(remedy))}.</p>`;
  return `<li class="${severity}"><div class="what"><h3>${icon(severity)}${heading}${age}</h3></div>${helps}</li>\n`;
}

/** A tile says the worst of these problems in a word, or else that all is well. */
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

/** Whether the exchange, the key, creating, the database and the receivers are well. */
export function healthSection(facts: DashboardFacts): string {
  const { exchange, overview, problems, at } = facts;
  const tileOf = (label: string, words: Partial<Record<ProblemCode, string>>, well: Omit<Tile, 'label'>): Tile => {
    const worst = problems.find(({ code }) => words[code] !== undefined);
    if (worst === undefined) return { label, ...well };
    const detail = worst.since === null ? '' : `since ${momentText(worst.since, at)}`;
    return { label, tone: worst.severity, value: words[worst.code] ?? '', detail };
  };
  const answeredAt = exchange?.lastAnswerAt ?? null;
  const isAnswered = answeredAt !== null;
  const waits = overview.holds.some(({ kind }) => kind === 'rate-limited');
  const tiles = [
    tileOf('Exchange', HEALTH.exchange, exchangeWell(facts)),
    tileOf(
      'Key',
      HEALTH.key,
      isAnswered ? { tone: 'good', value: 'accepted' } : { tone: 'neutral', value: 'not used yet' },
    ),
    tileOf('Creating', HEALTH.creating, waits ? { tone: 'info', value: 'waits' } : { tone: 'good', value: 'goes on' }),
    tileOf('Database', HEALTH.database, databaseWell(facts)),
    tileOf('Receivers', HEALTH.receivers, receiversWell(facts)),
  ];
  return section('health', 'Health', `<ul class="cards tiles">\n${tiles.map(tile).join('')}</ul>\n`, { wide: true });
}

function exchangeWell({ exchange, at }: DashboardFacts): Omit<Tile, 'label'> {
  if (exchange === null) return { tone: 'neutral', value: 'not driven here', detail: 'another process asks it' };
  const { lastAnswerAt } = exchange;
  if (lastAnswerAt === null) return { tone: 'neutral', value: 'not asked yet' };
  const age = ageOf(lastAnswerAt, at);
  return { tone: 'good', value: 'well', detail: `last answer ${age === 'now' ? age : `${age} ago`}` };
}

function databaseWell({ database: { bytes, readMs } }: DashboardFacts): Omit<Tile, 'label'> {
  const size = bytes === null ? '' : `${sizeOf(bytes)}, `;
  return { tone: 'good', value: 'well', detail: `${size}read in ${Math.round(readMs)} ms` };
}

function receiversWell({ overview: { receivers }, at }: DashboardFacts): Omit<Tile, 'label'> {
  if (receivers.length === 0) return { tone: 'neutral', value: 'none', detail: 'webhooks.endpoints is empty' };
  const failing = receivers.flatMap(({ failingSince }) => failingSince ?? []).toSorted();
  const [first] = failing;
  if (first !== undefined) {
    return {
      tone: 'info',
      value: `${failing.length} of ${receivers.length} fail`,
      detail: `since ${momentText(first, at)}`,
    };
  }
  const oldest = receivers.flatMap(({ oldestWaiting }) => oldestWaiting ?? []).toSorted()[0];
  const behind = oldest === undefined ? 'nothing waits' : `the oldest event waits for ${ageOf(oldest, at)}`;
  return { tone: 'good', value: 'well', detail: `${counted(receivers.length, 'endpoint')}, ${behind}` };
}

function sizeOf(bytes: number): string {
  const [unit, name] = bytes >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB'];
  return `${(bytes / unit).toFixed(1)} ${name}`;
}
