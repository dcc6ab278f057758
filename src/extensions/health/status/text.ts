import { ORDER_STATES } from '../../../orders/rules/states.ts';
import {
  type Tone,
  fieldsText,
  styled,
  toned,
  wrapped,
  type Field,
  type Screen,
} from '../../../cli/shared/terminal.ts';
import { printable, withCommas } from '../../../base/words.ts';
import type { NamedOrder, ReceiverState, DaemonStatus, Status } from './status.ts';
import { receiverText } from '../../webhooks/receiver.ts';
import { problemText } from '../../../accounts/problem.ts';
import { HINTS, judgeStatus, wellText, type StatusEnd, type StatusVerdict } from './problems.ts';
import { inUnits } from '../../documents/words.ts';

const VERDICTS: Readonly<Record<Exclude<StatusEnd, 'well'>, readonly [tone: Tone, text: string]>> = {
  look: ['warning', 'A person should look.'],
  'out-of-reach': ['error', 'Nothing can be sent now.'],
  'key-refused': ['error', 'Nothing can be sent now.'],
};

export function verdictLine({ end }: StatusVerdict, { overview }: Pick<Status, 'overview'>): readonly [Tone, string] {
  return end === 'well' ? ['good', `${wellText(overview)}.`] : VERDICTS[end];
}

export function statusText(status: Status, screen: Screen, verdict = judgeStatus(status)): string {
  const [tone, sentence] = verdictLine(verdict, status);
  return [
    `${toned(tone, sentence, screen)}\n`,
    ...reasonLines(verdict, screen),
    '\n',
    fieldsText(factsOf(status), screen),
  ].join('');
}

const FINDING_HINTS: Readonly<Record<string, string>> = {
  CREATE_UNKNOWN: 'Such orders are also counted as held, or as of unknown outcome.',
  ORDER_VANISHED: 'Ask the exchange what became of the order. order-sync still looks it up.',
};

/** A hint stands with the first problem that has it. */
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
  const oldest = (label: string, one: NamedOrder | null, word: string): readonly Field[] =>
    one === null || Date.parse(one.since) > now ? [] : [{ label, value: `${word} ${ago(one.since)}` }];
  return [
    { label: 'daemon', value: daemonText(daemon, now), tone: daemon === null ? 'warning' : undefined },
    ...(daemon === null ? [] : liveFields(daemon, ago)),
    {
      label: 'exchange',
      ...exchangeValue(overview, daemon),
    },
    ...holds.map(({ account, kind, since: from, until, actor, reason }): Field => ({
      label: 'hold',
      value: `${account}: ${kind} since ${from}${actor === null ? '' : ` by ${actor}`}${until === null || Date.parse(until) <= now ? '' : `, next try at ${until}`}: ${reason}`,
      tone: 'warning',
    })),
    { label: 'orders', value: ordersText(overview) },
    ...oldest('oldest pending', oldestPending, 'due'),
    ...oldest('oldest unknown', oldestUnknown, 'became unknown'),
    {
      label: 'findings',
      value: findings.map((one) => `${one.class} ${withCommas(one.open)}`).join(' · ') || 'none open',
    },
    ...receivers.map((one) => receiverField(one, ago)),
    { label: 'last event', value: ago(lastEventAt) },
    { label: 'database', value: database },
  ];
}

function exchangeValue(
  { outOfReach, holds }: Status['overview'],
  daemon: DaemonStatus | null,
): Pick<Field, 'value' | 'tone'> {
  const [lost] = outOfReach;
  const refused = holds.find(({ kind }) => kind === 'key-refused');
  if (lost !== undefined) return { value: `out of reach since ${lost.since}`, tone: 'error' };
  if (refused !== undefined) return { value: `has refused the key since ${refused.since}`, tone: 'error' };
  const untried = daemon?.accounts.flatMap(({ keyUntriedSince }) => keyUntriedSince ?? []).toSorted()[0];
  if (untried === undefined) return { value: 'no outage now' };
  return { value: `no outage now; the key was changed at ${untried} and has not been tried since`, tone: 'warning' };
}

function receiverField(receiver: ReceiverState, ago: (time: string | null) => string): Field {
  const { failingSince, parked, deadLetters } = receiver;
  const isWell = failingSince === null && parked === 0 && deadLetters === 0;
  return { label: 'receiver', value: receiverText(receiver, ago), tone: isWell ? undefined : 'warning' };
}

export function ordersText({ orders, more }: Status['overview']): string {
  const states = ORDER_STATES.filter((state) => orders[state] > 0);
  const counts = states.map(
    (state) => `${state} ${withCommas(orders[state])}${more.includes(state) ? ' or more' : ''}`,
  );
  return counts.join(' · ') || 'none';
}

export function daemonText(daemon: DaemonStatus | null, now: number): string {
  if (daemon === null) return 'none answers; these facts are from the database alone';
  const { pid, version, startedAt, owned, driven } = daemon;
  const accounts = owned === 1 ? '' : `, works for ${driven} of ${owned} accounts`;
  return `up for ${inUnits(now - Date.parse(startedAt))} (${version}, process ${pid})${accounts}`;
}

/** The requests that a circuit breaker that is not closed, or a hold, stops. */
const LANES = [
  ['create', 'creates'],
  ['lookup', 'look-ups'],
] as const;

function liveFields(
  { accounts, rate, seenLate, overdue }: DaemonStatus,
  ago: (time: string | null) => string,
): readonly Field[] {
  const newest = (times: readonly (string | null)[]) =>
    times.reduce((one, other) => (other !== null && (one === null || other > one) ? other : one), null);
  const inFlight = accounts.reduce((all, one) => all + one.inFlight, 0);
  const slowed = LANES.flatMap(([lane, requests]) => {
    const of = accounts.filter(({ breakers }) => breakers !== null && breakers[lane] !== 'closed');
    return of.length === 0 ? [] : [`${requests} of ${of.length === 1 ? of[0]?.account : `${of.length} accounts`}`];
  });
  const answeredAt = newest(accounts.map((one) => one.answeredAt));
  const passes = accounts.flatMap((one) => one.passes);
  const use = `${rate.spent} of ${rate.requests} in ${inUnits(rate.intervalMs)}`;
  return [
    {
      label: 'last answer',
      value: answeredAt === null ? 'none since the start (HTTP 5xx does not count)' : ago(answeredAt),
    },
    { label: 'requests', value: `${use}, ${inFlight} in flight` },
    ...(slowed.length === 0
      ? []
      : [
          {
            label: 'after failures',
            value: `order-sync sends one request at a time to try the exchange: ${slowed.join(', ')}`,
            tone: 'warning' as const,
          },
        ]),
    {
      label: 'changes seen',
      value:
        seenLate.count === 0
          ? 'no change with a date of the exchange yet'
          : `half within ${inUnits(seenLate.p50Ms)}, 99 % within ${inUnits(seenLate.p99Ms)}`,
    },
    {
      label: 'overdue look-ups',
      value: overdue === null ? 'none' : `${withCommas(overdue.orders)}, the first since ${overdue.since}`,
      tone: overdue === null ? undefined : 'warning',
    },
    ...['create', 'lookup'].map((name) => ({
      label: `last ${name} pass`,
      value: ago(newest(passes.filter(({ pass }) => pass === name).map(({ goodAt }) => goodAt))),
    })),
  ];
}
