import { keptBackProblems, otherAccountsProblems, settingsProblems, stopRemedy } from '../../operate/rules/problems.ts';
import { CLOCKS_APART_MS } from '../../../base/clock.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { findingClass } from '../../operate/finding-classes.ts';
import { WAITING_STATES } from '../../../orders/rules/states.ts';
import { shellWord } from '../../../base/text.ts';
import { withCommas } from '../../../base/words.ts';
import type { Overview, ReceiverState, LiveStatus, ProcessFacts, Reading } from './status.ts';
import { countedProblems, forAccounts, holdProblems, problem, worstFirst, wordsOf } from '../../commands/problem.ts';
import type { Problem, ProblemCode } from '../../commands/problem.ts';
import { receiverRemedy } from '../../webhooks/receiver.ts';
import { pasteable } from '../../../base/invocation.ts';
import { counted, inUnits } from '../../documents/words.ts';

/** ms after which a person should look at a failing receiver or at waiting work. */
const LONG_MS = 5 * 60_000;
export const STALLED_AFTER_MS = 10 * 60_000;
export const LEAST_FREE_BYTES = 256 * 1_024 ** 2;
const MOST_NAMED = 5;

export const HINTS: Partial<Record<ProblemCode, string>> = {
  held: 'It is not known whether the exchange took the request. Ask the exchange, then decide.',
  disputed: 'The order at the exchange contradicts yours. Do not pay or deliver until a person has decided.',
  unknown: 'It is not known whether the exchange took the request. order-sync looks up each order by itself.',
  invalid:
    'Our own check refuses what cannot be sent, so nothing was sent. The list says why. Correct or delete each row.',
  'out-of-reach':
    'order-sync continues by itself when the exchange answers again. The command checks the address, the network and the key.',
};

export function problemsOf(reading: Reading): readonly Problem[] {
  const { overview, process, daemon, databaseAheadMs } = reading;
  return worstFirst([
    ...(process === undefined ? [] : processProblems(process)),
    ...(daemon === null ? [] : daemonProblems(reading, daemon)),
    ...clockProblems(databaseAheadMs ?? 0),
    ...(overview === null ? [] : overviewProblems(reading, overview)),
  ]);
}

function processProblems(facts: ProcessFacts): readonly (Problem | false)[] {
  const { isStopping, databaseFailure, missingMigrations, isOwner, freeBytes } = facts;
  const mib = (bytes: number) => `${Math.floor(bytes / 1_024 ** 2)} MiB are`;
  const fullText = (bytes: number) =>
    `only ${mib(bytes)} free on the disk with the database; ${mib(LEAST_FREE_BYTES)} needed`;
  return [
    isStopping && problem('stopping', 'the daemon is stopping'),
    databaseFailure !== null && failed('database-unreadable', 'the database cannot be read', databaseFailure),
    missingMigrations.length > 0 &&
      problem('other-migrations', `the database lacks migrations of this version (${missingMigrations.join(', ')})`),
    !isOwner && problem('not-owner', 'the daemon does not own its accounts yet'),
    freeBytes !== null && freeBytes < LEAST_FREE_BYTES && problem('disk-full', fullText(freeBytes)),
  ];
}

function daemonProblems({ asOf, overview }: Reading, daemon: NonNullable<Reading['daemon']>) {
  const { unwritten, opsFailure, changedSettings, accounts } = daemon;
  const asked = overview?.account ?? null;
  const silent = accounts.filter((live) => live.unwritten !== undefined);
  const unwrittenOf = silent.length === 0 ? '' : forAccounts(silent, asked);
  const untrusted = accounts.filter(({ isTrusted }) => !isTrusted);
  const stalled = accounts.filter((live) => stalledMsOf(live, Date.parse(asOf)) > STALLED_AFTER_MS);
  const lost = `the lease could not be renewed${forAccounts(untrusted, asked)}: another worker may take over`;
  const still = `no work was done${forAccounts(stalled, asked)} for more than ${STALLED_AFTER_MS / 60_000} min, although work is due`;
  return [
    unwritten !== null &&
      failed('database-unwritten', `no requests are sent${unwrittenOf}`, unwritten, { group: silent }),
    untrusted.length > 0 && problem('lease-lost', lost, { group: untrusted }),
    stalled.length > 0 && problem('stalled', still, { group: stalled }),
    opsFailure !== null && problem('ops', `the ops endpoint is not listening: ${opsFailure}`),
    ...settingsProblems(changedSettings),
    ...accounts.flatMap(keptBackProblems),
  ];
}

/** Splits the message of a `StoreError` at the last semicolon, because the remedy comes after it. */
function failed(code: ProblemCode, what: string, message: string, parts: Parameters<typeof problem>[2] = {}): Problem {
  const [, cause = message, remedy] = /^(.+); (.+)$/s.exec(message) ?? [];
  return problem(code, `${what}: ${cause}`, { ...parts, ...(remedy !== undefined && { remedy }) });
}

export function stalledMsOf({ passes, answeredAt }: Pick<LiveStatus, 'passes' | 'answeredAt'>, now: number): number {
  const waits = passes.flatMap(({ wantedSince, goodAt }) => {
    const moved = [wantedSince, goodAt, answeredAt].map((time) => (time === null ? 0 : Date.parse(time)));
    return wantedSince === null ? [] : [now - Math.max(...moved)];
  });
  return Math.max(0, ...waits);
}

export function clockProblems(databaseAheadMs: number): readonly Problem[] {
  if (Math.abs(databaseAheadMs) < CLOCKS_APART_MS) return [];
  const apart = `${inUnits(Math.abs(databaseAheadMs))} ${databaseAheadMs > 0 ? 'behind' : 'ahead of'}`;
  return [problem('clock', `the clock of this machine is ${apart} the clock of the database`)];
}

function overviewProblems(reading: Reading, overview: Overview): readonly (Problem | false)[] {
  const { keyPlaceOf } = reading;
  return [
    ...undecidedProblems('held', overview),
    ...undecidedProblems('disputed', overview),
    ...otherAccountsProblems(overview.otherAccounts),
    ...countedProblems('unknown', overview.orders.unknown, groupOf(overview, overview.oldestUnknown?.since)),
    ...countedProblems('invalid', overview.newInvalid?.orders ?? 0, groupOf(overview, overview.newInvalid?.since)),
    ...findingProblems(overview),
    ...holdProblems(overview.holds, overview.account, { keyPlaceOf, isRunning: reading.daemon !== null }),
    ...troubleProblems(overview, reading.olderState),
    ...waitProblems(reading, overview),
    ...driverProblems(reading, overview),
    ...overview.receivers.flatMap((receiver) => receiverProblems(receiver, Date.parse(reading.asOf))),
  ];
}

function groupOf({ account }: Pick<Overview, 'account'>, since: string | null = null) {
  return account === null ? [] : [{ account, since }];
}

function undecidedProblems(state: 'held' | 'disputed', overview: Overview): readonly Problem[] {
  const named = overview.attention.filter((order) => order.state === state).slice(0, MOST_NAMED);
  const others = overview.orders[state] - named.length;
  return [
    ...named.map(({ account, externalOrderId, reason, since }) => {
      const why = reason === null ? '' : `: ${reason}`;
      const text = `order ${externalOrderId}${forAccounts([{ account }], overview.account)} is ${state}${why}`;
      const remedy = `order-sync orders explain ${shellWord(externalOrderId)}${accountWords(account)}`;
      return problem(state, text, { about: { account, externalOrderId }, since, remedy });
    }),
    ...countedProblems(state, others, groupOf(overview), named.length > 0),
  ];
}

function findingProblems(overview: Overview): readonly (Problem | false)[] {
  return overview.findings.flatMap(({ class: name, open, decided = 0, since }) => {
    const { severity = 'warning', meaning } = findingClass(name) ?? {};
    if (severity === 'info') return [];
    const textOf = (count: number) => `${withCommas(count)} open ${count === 1 ? 'finding' : 'findings'} ${name}`;
    const text = textOf(open - decided);
    const isOne = decided === 1;
    const left = `${textOf(decided)}: a person has decided about the ${isOne ? 'order' : 'orders'}; only the ${isOne ? 'finding' : 'findings'} must still be acknowledged`;
    const group = groupOf(overview, since);
    const list = (status: string) => `order-sync findings list --class ${name}${status}${wordsOf(group)}`;
    const acknowledge = `order-sync findings ack --class ${name} --decided --reason TEXT${wordsOf(group)}`;
    const remedy = list(decided > 0 ? ' --status undecided' : '');
    const about = { ...(overview.account !== null && { account: overview.account }), class: name };
    return [
      open > decided &&
        problem('finding', meaning === undefined ? text : `${text}: ${meaning}`, { group, severity, remedy, about }),
      decided > 0 &&
        problem('decided', left, { remedy: group.length === 1 ? acknowledge : list(' --status decided'), about }),
    ];
  });
}

type Troubles = Pick<Overview, 'account' | 'stopped' | 'outOfReach' | 'unreadable'>;

/** If `olderState` is set, omits stops for an older state, because `driverProblems` reports that state. */
export function troubleProblems(overview: Troubles, olderState: string | null = null): readonly Problem[] {
  const { account, stopped, outOfReach, unreadable } = overview;
  const textOf = (what: string, group: Overview['unreadable']) => {
    const reason = group[0]?.reason ?? null;
    return `${what}${forAccounts(group, account)}${reason === null ? '' : `: ${reason}`}`;
  };
  const stops = stopped.filter(({ kind }) => olderState === null || kind !== 'older-state');
  const lost = textOf('the exchange is out of reach', outOfReach);
  const garbled = textOf('the answers of the exchange cannot be read', unreadable);
  // `probe` takes one account, so the remedy names the first.
  const remedy = `order-sync probe${wordsOf(unreadable.slice(0, 1))}`;
  return [
    ...[...Map.groupBy(stops, ({ kind }) => kind)].map(([kind, group]) => {
      const text = textOf('stopped: no orders are created or looked up', group);
      return problem('stopped', text, { group, remedy: stopRemedy(kind, wordsOf(group)) });
    }),
    ...(outOfReach.length === 0 ? [] : [problem('out-of-reach', lost, { group: outOfReach })]),
    ...(unreadable.length === 0 ? [] : [problem('unreadable', garbled, { group: unreadable, remedy })]),
  ];
}

function waitProblems({ asOf, daemon }: Reading, overview: Overview): readonly Problem[] {
  const { account, oldestPending, holds, outOfReach, stopped } = overview;
  if (daemon === null || [holds, outOfReach, stopped].some(({ length }) => length > 0)) return [];
  const isLong = (since: string | null) => since !== null && Date.parse(asOf) - Date.parse(since) > LONG_MS;
  const pending = oldestPending !== null && isLong(oldestPending.since) ? [oldestPending] : [];
  const passes = daemon.accounts.flatMap(({ account: of, ...live }) =>
    live.passes.map(({ pass, wantedSince: since }) => ({ account: of, pass, since })),
  );
  const late = passes.filter(({ since }) => isLong(since));
  return [
    ...pending.map((order) =>
      problem('orders-wait', `orders are waiting to be sent${forAccounts(pending, account)}`, { group: [order] }),
    ),
    ...[...Map.groupBy(late, ({ pass }) => pass)].map(([pass, group]) =>
      problem('pass-waits', `no ${pass} pass has succeeded${forAccounts(group, account)}`, { group }),
    ),
  ];
}

/** Reports a database in an older state, on which no daemon starts, or orders that wait while no daemon answers. */
function driverProblems({ daemon, driver, olderState }: Reading, { orders }: Overview): readonly Problem[] {
  if (olderState !== null) return [problem('older-state', `no requests are sent: the database ${olderState}`)];
  const waiting = WAITING_STATES.reduce((sum, state) => sum + orders[state], 0);
  if (daemon !== null || waiting === 0) return [];
  const wait = `${withCommas(waiting)} ${waiting === 1 ? 'order is' : 'orders are'} waiting`;
  if (driver === null) return [problem('no-daemon', `no daemon answers, and ${wait} for one`)];
  return [problem('silent-owner', `${driver} owns the account but does not answer, and ${wait}`)];
}

function receiverProblems(receiver: ReceiverState, now: number): readonly (Problem | false)[] {
  const { name, failingSince, cause, parked, deadLetters, oldestWaiting } = receiver;
  const parts = { about: { receiver: name } };
  const refusedRemedy = { ...parts, remedy: `order-sync webhooks show ${shellWord(name)}` };
  const failingRemedy = cause !== null && { remedy: receiverRemedy(cause) };
  const isFailing = failingSince !== null && now - Date.parse(failingSince) > LONG_MS;
  const because = cause === null ? '' : `, because ${cause}`;
  const fails = `events wait for the receiver ${name}${because}`;
  // The row of a receiver is of the worker that wrote last, so it hides the failure of another worker.
  const isLate = !isFailing && oldestWaiting !== null && now - Date.parse(oldestWaiting) > STALLED_AFTER_MS;
  const late = `events have waited for the receiver ${name} for more than ${STALLED_AFTER_MS / 60_000} min${because}`;
  const lateRemedy = 'check that a daemon runs, and that the machine of each worker reaches the receiver';
  const refuses = `the receiver ${name} refuses events of ${counted(parked, 'order, link or account', 'orders, links or accounts')}; each event is retried for a day`;
  const refused = `the receiver ${name} has ${counted(deadLetters, 'dead letter: an event', 'dead letters: events')} that it refused at every attempt`;
  return [
    isFailing && problem('receiver-fails', fails, { ...parts, since: failingSince, ...failingRemedy }),
    isLate && problem('receiver-fails', late, { ...parts, since: oldestWaiting, remedy: lateRemedy }),
    parked > 0 && problem('parked', refuses, refusedRemedy),
    deadLetters > 0 && problem('dead-letters', refused, refusedRemedy),
  ];
}

/** Returns the verdict if there is no problem, without a full stop. A failing receiver is a problem after 5 min. */
export function wellText({ receivers }: Pick<Overview, 'receivers'>): string {
  const failing = receivers.filter(({ failingSince }) => failingSince !== null).length;
  if (failing === 0) return 'All is well';
  const fail = counted(failing, 'webhook receiver accepts', 'webhook receivers accept');
  return `${fail} no events now: order-sync tries again, and no person is needed yet`;
}

/** Codes of problems that decide the verdict, the gravest first. `look` stands for all other codes. */
const ENDS = ['key-refused', 'out-of-reach', 'look'] as const;
export type StatusEnd = (typeof ENDS)[number] | 'well';

export type StatusVerdict = ReturnType<typeof judgeStatus>;

export function judgeStatus(reading: Reading) {
  const reasons = problemsOf(reading).map((found) => {
    const end = ENDS.find((code) => code === found.code) ?? 'look';
    return { end, ...found, remedy: pasteable(found.remedy) };
  });
  const end: StatusEnd = ENDS.find((grave) => reasons.some((one) => one.end === grave)) ?? 'well';
  // Reasons of the verdict come first; so does `no-daemon`, because without a daemon other reasons may be outdated.
  const isNamed = (one: (typeof reasons)[number]) => Number(one.end === end || one.code === 'no-daemon');
  return { end, reasons: reasons.toSorted((one, other) => isNamed(other) - isNamed(one)) };
}
