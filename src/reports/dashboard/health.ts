import { stops } from '../../domain/accounts/holds.ts';
import { instantMs } from '../../domain/instant.ts';
import type { Tone } from '../formats/document.ts';
import { escapeText, proseText } from '../formats/html/text.ts';
import { icon } from '../formats/html/icon.ts';
import { counted } from '../formats/words.ts';
import { receiverNeeds } from '../status/receivers.ts';
import { needsOf, type Need } from './attention.ts';
import type { DashboardFacts } from './facts.ts';
import { ageOf, momentText } from '../formats/html/cells.ts';
import { command, empty, orderLink, section, tile, type Tile } from './markup.ts';

/** Rows of what needs a person; more are counted. */
const MOST_NEEDS = 20;

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

function verdictOf(facts: DashboardFacts): { readonly tone: Tone; readonly text: string; readonly more: string } {
  const needs = needsOf(facts);
  const errors = needs.filter(({ tone }) => tone === 'error').length;
  const more = `As of ${momentText(facts.at, facts.at).replace(/ <small>.*/s, '')} UTC`;
  if (needs.length === 0) return { tone: 'good', text: 'All is well', more };
  const things = needs.length === 1 ? '1 thing needs a person' : `${needs.length} things need a person`;
  return { tone: errors > 0 ? 'error' : 'warning', text: things, more };
}

/** What needs a person, the gravest first, each with the command that helps. */
export function needsSection(facts: DashboardFacts): string {
  const needs = needsOf(facts);
  if (needs.length === 0) return section('needs', 'What needs a person', empty('Nothing.'), { wide: true });
  const items = needs.slice(0, MOST_NEEDS).map((need) => needItem(need, facts.at));
  const more = needs.length - items.length;
  const rest = more > 0 ? `<li class="more">${counted(more, 'more thing')}: order-sync status</li>\n` : '';
  const list = `<ul class="needs">\n${items.join('')}${rest}</ul>\n`;
  return section('needs', 'What needs a person', list, { wide: true });
}

function needItem({ tone, title, text, since, command: words, order }: Need, now: string): string {
  const age = since === null ? '' : ` <span class="age">${momentText(since, now)}</span>`;
  const helps = words === null ? '' : command(words);
  return `<li class="${tone}"><div class="what"><h3>${icon(tone)}${order === undefined ? proseText(title) : orderLink(order, title)}${age}</h3><p>${proseText(text)}</p></div>${helps}</li>\n`;
}

/** Whether the exchange, the key, creating, the database and the receivers are well. */
export function healthSection(facts: DashboardFacts): string {
  const tiles = [exchange(facts), key(facts), creating(facts), database(facts), receivers(facts)];
  return section('health', 'Health', `<ul class="cards tiles">\n${tiles.map(tile).join('')}</ul>\n`, { wide: true });
}

function exchange({ exchange: known, at }: DashboardFacts): Tile {
  const label = 'Exchange';
  if (known === null) return { label, tone: 'neutral', value: 'not driven here', detail: 'another process asks it' };
  const { outOfReach, lastAnswerAt } = known;
  const [first] = outOfReach;
  const detail = lastAnswerAt === null ? 'no answer yet' : `last answer ${ageText(lastAnswerAt, at)}`;
  if (lastAnswerAt === null && first === undefined) return { label, tone: 'neutral', value: 'not asked yet' };
  if (first === undefined) return { label, tone: 'good', value: 'well', detail };
  return { label, tone: 'error', value: 'out of reach', detail: `since ${momentText(first.since, at)}` };
}

function key({ holds, exchange: known, at }: DashboardFacts): Tile {
  const [label, refused] = ['Key', holds.find(({ kind }) => kind === 'key-refused')];
  if (refused !== undefined)
    return { label, tone: 'error', value: 'refused', detail: `since ${momentText(refused.since, at)}` };
  if ((known?.lastAnswerAt ?? null) === null) return { label, tone: 'neutral', value: 'not used yet' };
  return { label, tone: 'good', value: 'accepted' };
}

function creating({ holds, stopped: [stop], at }: DashboardFacts): Tile {
  const [label, hold] = ['Creating', holds.find((one) => stops(one, 'create'))];
  if (stop !== undefined)
    return { label, tone: 'error', value: 'stopped', detail: `since ${momentText(stop.since, at)}` };
  if (hold === undefined) return { label, tone: 'good', value: 'goes on' };
  const isShort = hold.kind === 'rate-limited';
  const detail = `${escapeText(hold.kind)} since ${momentText(hold.since, at)}`;
  return { label, tone: isShort ? 'info' : 'warning', value: isShort ? 'waits' : 'paused', detail };
}

function database({ database: { failure, bytes, readMs } }: DashboardFacts): Tile {
  const label = 'Database';
  if (failure !== null) return { label, tone: 'error', value: 'cannot be written' };
  const size = bytes === null ? '' : `${sizeOf(bytes)}, `;
  return { label, tone: 'good', value: 'well', detail: `${size}read in ${Math.round(readMs)} ms` };
}

function receivers({ receivers: all, at }: DashboardFacts): Tile {
  const label = 'Receivers';
  if (all.length === 0) return { label, tone: 'neutral', value: 'none', detail: 'webhooks.endpoints is empty' };
  const isGrave = receiverNeeds(all, instantMs(at) ?? 0).length > 0;
  const failing = all.flatMap(({ failingSince }) => failingSince ?? []).toSorted();
  const [first] = failing;
  if (first !== undefined) {
    const detail = `since ${momentText(first, at)}`;
    return { label, tone: isGrave ? 'warning' : 'info', value: `${failing.length} of ${all.length} fail`, detail };
  }
  const oldest = all.flatMap(({ oldestWaiting }) => oldestWaiting ?? []).toSorted()[0];
  const behind = oldest === undefined ? 'nothing waits' : `the oldest event waits for ${ageOf(oldest, at)}`;
  const detail = `${counted(all.length, 'endpoint')}, ${behind}`;
  return { label, tone: isGrave ? 'warning' : 'good', value: isGrave ? 'events refused' : 'well', detail };
}

function ageText(at: string, now: string): string {
  const age = ageOf(at, now);
  return age === 'now' ? age : `${age} ago`;
}

function sizeOf(bytes: number): string {
  const [unit, name] = bytes >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB'];
  return `${(bytes / unit).toFixed(1)} ${name}`;
}
