import { problemText } from '../../operate/rules/problems.ts';
import { shortTime, inUnits } from '../../documents/words.ts';
import { ORDER_STATES, type OrderState } from '../../../orders/rules/states.ts';
import { BREAKER_LANES } from '../../../exchange/transport/breaker.ts';
import { cut, fieldsText, styled, toned, wrapped } from '../../../cli/shared/terminal.ts';
import type { Tone, Field, Screen } from '../../../cli/shared/terminal.ts';
import { pasteable } from '../../../base/invocation.ts';
import { printable, sumOf, withCommas } from '../../../base/words.ts';
import { newestOf, type NamedOrder, type DaemonStatus, type Status } from './status.ts';
import type { FeedEvent } from '../../feed/event.ts';
import { eventLine } from '../../feed/line.ts';
import { receiverText } from '../../webhooks/receiver.ts';
import { HINTS, judgeStatus, wellText, type StatusVerdict } from './problems.ts';

function verdictLine({ end }: StatusVerdict, { overview }: Pick<Status, 'overview'>): readonly [Tone, string] {
  if (end === 'well') return ['good', `${wellText(overview)}.`];
  return end === 'look' ? ['warning', 'A person should look.'] : ['error', 'Nothing can be sent now.'];
}

export function statusText(status: Status, screen: Screen, verdict = judgeStatus(status)): string {
  const [tone, sentence] = verdictLine(verdict, status);
  const reasons = reasonLines(verdict, screen).join('');
  return `${toned(tone, sentence, screen)}\n${reasons}\n${fieldsText(factsOf(status), screen)}`;
}

const FINDING_HINTS: Readonly<Record<string, string>> = {
  CREATE_UNKNOWN: 'The orders of these findings are also counted as held or unknown.',
  ORDER_VANISHED: 'Ask the exchange what became of the order. order-sync still looks it up.',
};

function reasonLines({ reasons }: StatusVerdict, screen: Screen): string[] {
  const said = new Set<string>();
  return reasons.flatMap((problem) => {
    const hint = problem.code === 'finding' ? FINDING_HINTS[problem.about.class ?? ''] : HINTS[problem.code];
    const lines = [hint, problem.remedy].filter((line) => line !== undefined && !said.has(line));
    if (hint !== undefined) said.add(hint);
    return [
      `  ${wrapped(printable(problemText(problem)), screen.width, 2)}\n`,
      ...lines.map((line = '') => `    ${styled('dim', wrapped(printable(line), screen.width, 4), screen)}\n`),
    ];
  });
}

function factsOf({ asOf, database, daemon, overview }: Status): readonly Field[] {
  const now = Date.parse(asOf);
  const ago = (time: string | null) =>
    time === null ? 'never' : `${inUnits(Math.max(0, now - Date.parse(time)))} ago`;
  const { oldestPending, oldestUnknown, holds, findings, receivers, lastEventAt } = overview;
  const open = findings.map((one) => `${one.class} ${withCommas(one.open)}`);
  const oldest = (label: string, one: NamedOrder | null, word: string): readonly Field[] =>
    one === null || Date.parse(one.since) > now ? [] : [{ label, value: `${word} ${ago(one.since)}` }];
  return [
    { label: 'daemon', value: daemonText(daemon, now), tone: daemon === null ? 'warning' : undefined },
    ...(daemon === null ? [] : liveFields(daemon, ago)),
    exchangeField(overview, daemon),
    ...holds.map(({ account, kind, since: from, until, actor, reason }): Field => {
      const next = until === null || Date.parse(until) <= now ? '' : `, next try at ${until}`;
      const value = `${account}: ${kind} since ${from}${actor === null ? '' : ` by ${actor}`}${next}: ${reason}`;
      return { label: 'hold', value, tone: 'warning' };
    }),
    { label: 'orders', value: ordersText(overview) },
    ...oldest('oldest pending', oldestPending, 'due'),
    ...oldest('oldest unknown', oldestUnknown, 'became unknown'),
    { label: 'findings', value: open.join(' · ') || 'none open' },
    ...receivers.map((one): Field => {
      const isWell = one.failingSince === null && one.parked === 0 && one.deadLetters === 0;
      return { label: 'receiver', value: receiverText(one, ago), tone: isWell ? undefined : 'warning' };
    }),
    { label: 'last event', value: ago(lastEventAt) },
    { label: 'database', value: database },
  ];
}

function exchangeField({ outOfReach, holds }: Status['overview'], daemon: DaemonStatus | null): Field {
  const label = 'exchange';
  const [lost] = outOfReach;
  const refused = holds.find(({ kind }) => kind === 'key-refused');
  if (lost !== undefined) return { label, value: `out of reach since ${lost.since}`, tone: 'error' };
  if (refused !== undefined) return { label, value: `has refused the key since ${refused.since}`, tone: 'error' };
  const untried = daemon?.accounts.flatMap(({ keyUntriedSince }) => keyUntriedSince ?? []).toSorted()[0];
  if (untried === undefined) return { label, value: 'no outage now' };
  const value = `no outage now; the key was changed at ${untried} and has not been tried since`;
  return { label, value, tone: 'warning' };
}

function ordersText({ orders, more }: Status['overview']): string {
  const states = ORDER_STATES.filter((state) => orders[state] > 0);
  const end = (state: OrderState) => (more.includes(state) ? ' or more' : '');
  return states.map((state) => `${state} ${withCommas(orders[state])}${end(state)}`).join(' · ') || 'none';
}

function daemonText(daemon: DaemonStatus | null, now: number): string {
  if (daemon === null) return 'none answers; these facts are from the database alone';
  const { pid, version, startedAt, owned, driven } = daemon;
  const accounts = owned === 1 ? '' : `, works for ${driven} of ${owned} accounts`;
  return `up for ${inUnits(now - Date.parse(startedAt))} (${version}, process ${pid})${accounts}`;
}

const LANES = { create: 'creates', lookup: 'look-ups' } as const;

const NO_ANSWER = 'none since the start (HTTP 5xx does not count)';

type Ago = (time: string | null) => string;

function liveFields({ accounts, rate, seenLate, overdue }: DaemonStatus, ago: Ago): readonly Field[] {
  const slowed = BREAKER_LANES.flatMap((lane) => {
    const of = accounts.filter(({ breakers }) => breakers !== null && breakers[lane] !== 'closed');
    return of.length === 0 ? [] : [`${LANES[lane]} of ${of.length === 1 ? of[0]?.account : `${of.length} accounts`}`];
  });
  const answeredAt = newestOf(accounts.map((one) => one.answeredAt));
  const passes = accounts.flatMap((one) => one.passes);
  const tries = `order-sync sends one request at a time to try the exchange: ${slowed.join(', ')}`;
  const seen = `half within ${inUnits(seenLate.p50Ms)}, 99 % within ${inUnits(seenLate.p99Ms)}`;
  const use = `${rate.spent} of ${rate.requests} in ${inUnits(rate.intervalMs)}`;
  return [
    { label: 'last answer', value: answeredAt === null ? NO_ANSWER : ago(answeredAt) },
    { label: 'requests', value: `${use}, ${sumOf(accounts, ({ inFlight }) => inFlight)} in flight` },
    ...(slowed.length === 0 ? [] : [{ label: 'after failures', value: tries, tone: 'warning' } as const]),
    { label: 'changes seen', value: seenLate.count === 0 ? 'none yet that the exchange dates' : seen },
    {
      label: 'overdue look-ups',
      value: overdue === null ? 'none' : `${withCommas(overdue.orders)}, the first since ${overdue.since}`,
      tone: overdue === null ? undefined : 'warning',
    },
    ...BREAKER_LANES.map((name) => ({
      label: `last ${name} pass`,
      value: ago(newestOf(passes.filter(({ pass }) => pass === name).map(({ goodAt }) => goodAt))),
    })),
  ];
}

export function watchText(status: Status, screen: Screen, rows: number): string {
  const { asOf, daemon, overview } = status;
  const verdict = judgeStatus(status);
  const [tone, sentence] = verdictLine(verdict, status);
  const linesOf = (text: string, indent = 0) => wrapped(text, screen.width, indent).split('\n');
  const facts = [`daemon  ${daemonText(daemon, Date.parse(asOf))}`, `orders  ${ordersText(overview)}`];
  const factLines = facts.flatMap((text) => linesOf(text, 8));
  // The verdict and two empty lines take three rows.
  const room = Math.max(2, rows - factLines.length - 3);
  const problems = problemLines(verdict, screen, Math.ceil(room / 2));
  const lineOf = (event: FeedEvent) => eventLine(event, screen, overview.account === null).trimEnd();
  const events = overview.newest.toReversed().flatMap((event) => linesOf(lineOf(event)));
  const lines = [
    `${toned(tone, sentence, screen)} As of ${shortTime(asOf, new Date(asOf))} UTC.`,
    ...problems,
    '',
    ...factLines,
    '',
    ...events.slice(-Math.max(1, room - problems.length)),
  ];
  return lines.slice(0, Math.max(1, rows)).join('\n');
}

function problemLines({ reasons }: StatusVerdict, screen: Screen, most: number): readonly string[] {
  const lines: string[] = [];
  for (const [index, problem] of reasons.entries()) {
    const remedy = wrapped(printable(pasteable(problem.remedy)), screen.width, 4).split('\n');
    const isLast = index === reasons.length - 1;
    if (index > 0 && lines.length + 1 + remedy.length + (isLast ? 0 : 1) > most) {
      return [...lines, `  and ${reasons.length - index} more: ${pasteable('order-sync status')}`];
    }
    lines.push(`  ${toned(problem.severity, cut(printable(problemText(problem)), screen.width - 2), screen)}`);
    lines.push(...remedy.map((line, row) => `${row === 0 ? '    ' : ''}${styled('dim', line, screen)}`));
  }
  return lines;
}
