import type { ProblemCode } from '../../../commands/problem.ts';
import { boxText, type Box } from '../../../documents/html.ts';
import { ageOf, proseText } from '../../../documents/html/cells.ts';
import type { DashboardFacts } from '../read-facts.ts';
import { count } from '../markup.ts';
import { capitalized, counted, inUnits, cut } from '../../../documents/words.ts';

const LONGEST_NOTE = 120;

export function partsText(facts: DashboardFacts): string {
  const parts: readonly (readonly [box: Box | undefined, ...ProblemCode[]])[] = [
    [exchangeBox(facts), 'out-of-reach', 'unreadable', 'key-refused', 'forbidden'],
    [requestsBox(facts)],
    [changesBox(facts)],
    [databaseBox(facts), 'database-unwritten', 'other-migrations', 'older-state', 'disk-full'],
    [receiversBox(facts), 'receiver-fails', 'parked', 'dead-letters'],
  ];
  const boxes = parts.flatMap(([box, ...codes]) => {
    const trouble = facts.troubles.find(({ code }) => codes.includes(code));
    if (box === undefined || trouble === undefined) return box ?? [];
    const note = proseText(capitalized(cut(trouble.text, LONGEST_NOTE)));
    return [{ ...box, tone: trouble.severity, value: 'Has a problem', note }];
  });
  return `<ul class="cards tiles">\n${boxes.map(boxText).join('')}</ul>\n`;
}

function exchangeBox({ exchange, at }: DashboardFacts): Box {
  const box = { label: 'Exchange', tone: 'neutral' } as const;
  if (exchange === null) return { ...box, value: 'No requests from here', note: 'since this process started' };
  const { lastAnswerAt } = exchange;
  if (lastAnswerAt === null) return { ...box, value: 'No answer yet', note: 'since order-sync started' };
  const age = ageOf(lastAnswerAt, at);
  return { ...box, tone: 'good', value: 'Answers', note: age === 'now' ? 'just now' : `last answer ${age} ago` };
}

function requestsBox({ exchange, overview: { holds }, at }: DashboardFacts): Box | undefined {
  if (exchange === null) return undefined;
  const { rate, inFlight } = exchange;
  const box = { label: `Requests in the last ${inUnits(rate.intervalMs)}`, tone: 'neutral' } as const;
  const value = `${count(rate.spent)} of ${count(rate.requests)}`;
  const [until] = holds.flatMap((hold) => (hold.kind === 'rate-limited' ? (hold.until ?? []) : [])).toSorted();
  if (until === undefined) return { ...box, value, note: `${count(inFlight)} in flight` };
  return { ...box, tone: 'info', value, note: `the exchange asked to wait for another ${ageOf(at, until)}` };
}

function changesBox({ exchange, at }: DashboardFacts): Box | undefined {
  if (exchange === null || (exchange.overdue === null && exchange.seenLate.count === 0)) return undefined;
  const { seenLate, overdue } = exchange;
  const box = { label: 'Changes at the exchange', tone: overdue === null ? 'neutral' : 'info' } as const;
  if (overdue !== null) {
    const note = `the first has been due for ${ageOf(overdue.since, at)}`;
    return { ...box, value: `${counted(overdue.orders, 'look-up is', 'look-ups are')} overdue`, note, isLong: true };
  }
  const note = `99% within ${inUnits(seenLate.p99Ms)}, of ${count(seenLate.count)}`;
  return { ...box, value: `half seen within ${inUnits(seenLate.p50Ms)}`, note, isLong: true };
}

function databaseBox({ database: { bytes, readMs } }: DashboardFacts): Box {
  const [unit, name] = (bytes ?? 0) >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB'];
  const size = bytes === null ? '' : `${(bytes / unit).toFixed(1)} ${name}, `;
  const note = `${size}this page was read in ${Math.round(readMs)} ms`;
  return { label: 'Database', tone: 'good', value: 'Works', note };
}

function receiversBox({ overview: { receivers }, at }: DashboardFacts): Box {
  const box = { label: 'Webhooks' } as const;
  if (receivers.length === 0)
    return { ...box, tone: 'neutral', value: 'None', note: 'webhooks.endpoints was empty when the daemon started' };
  const failing = receivers.find(({ failingSince }) => failingSince !== null);
  if (failing !== undefined) {
    const { name, failingSince, cause } = failing;
    const why = cause === null ? '' : `: ${cause}`;
    const note = proseText(`${name} for ${ageOf(failingSince ?? at, at)}${why}`);
    return { ...box, tone: 'info', value: 'Trying again', note };
  }
  const [waiting = at] = receivers.flatMap(({ oldestWaiting }) => oldestWaiting ?? []).toSorted();
  const events =
    ageOf(waiting, at) === 'now' ? 'no event waits' : `the oldest event has waited for ${ageOf(waiting, at)}`;
  return { ...box, tone: 'good', value: 'Work', note: `${counted(receivers.length, 'endpoint')}, ${events}` };
}
