import { CLOCKS_APART_MS } from '../../clock.ts';
import type { HoldKind } from '../../domain/accounts/holds.ts';
import { stopRemedy } from '../../domain/accounts/stops.ts';
import { accountWords } from '../../domain/accounts/words.ts';
import { WAITING_STATES } from '../../domain/orders/states.ts';
import { inUnits, withCommas } from '../formats/words.ts';
import { LONG_MS, receiverNeeds } from './receivers.ts';
import type { Status } from './status.ts';

/** So many accounts are named. */
const MOST_NAMED = 3;

/** How order-sync does, the gravest last. */
export type StatusEnd = 'well' | 'look' | 'out-of-reach' | 'key-refused';

/** Why something is not well, and what to do about it. */
export interface StatusReason {
  readonly end: Exclude<StatusEnd, 'well'>;
  readonly text: string;
  /** A command, or what else helps. */
  readonly remedy: string;
}

/** How order-sync does, in one word, and why. */
export interface StatusVerdict {
  readonly end: StatusEnd;
  /** The gravest first. */
  readonly reasons: readonly StatusReason[];
}

const GRAVITY: readonly StatusEnd[] = ['key-refused', 'out-of-reach', 'look'];

/** Judges a status. */
export function judgeStatus(status: Status): StatusVerdict {
  const reasons = [
    ...heldReasons(status),
    ...stopReasons(status),
    ...reachReasons(status),
    ...unreadableReasons(status),
    ...databaseReasons(status),
    ...daemonReasons(status),
    ...clockReasons(status),
    ...opsReasons(status),
    ...orderReasons(status),
    ...waitReasons(status),
    ...receiverReasons(status),
  ].toSorted((one, other) => GRAVITY.indexOf(one.end) - GRAVITY.indexOf(other.end));
  return { end: reasons[0]?.end ?? 'well', reasons };
}

/** What to do about a hold; one of the rate ends by itself within minutes. */
const HOLD_REMEDIES: Readonly<Partial<Record<HoldKind, string>>> = {
  'key-refused': 'check exchange.apiKey; a new key in its file is tried within a minute',
  forbidden: 'ask the exchange why the account may not create',
};

function heldReasons({ overview }: Status): StatusReason[] {
  const byKind = Map.groupBy(
    overview.holds.filter(({ kind }) => kind !== 'rate-limited'),
    ({ kind }) => kind,
  );
  return [...byKind].map(([kind, holds]) => {
    const [first] = holds;
    const by = first === undefined || first.actor === null ? '' : ` by ${first.actor}`;
    const why = first === undefined ? '' : ` since ${first.since}${by}: ${first.reason}`;
    return {
      end: kind === 'key-refused' ? 'key-refused' : 'look',
      text: `${kind}${ofAccounts(holds, overview.account)}${why}`,
      remedy: HOLD_REMEDIES[kind] ?? `order-sync resume${wordsOf(holds)} --reason TEXT`,
    };
  });
}

/** Leaves out older states if the mark here shows one. */
function stopReasons({ overview, olderState }: Status): StatusReason[] {
  const told = overview.stopped.filter(({ kind }) => olderState === null || kind !== 'older-state');
  return [...Map.groupBy(told, ({ kind }) => kind)].map(([kind, stops]) => {
    const { since, reason } = stops[0] ?? {};
    const text = `stopped${ofAccounts(stops, overview.account)} since ${since}: ${reason ?? kind}`;
    return { end: 'look', text, remedy: stopRemedy(kind, wordsOf(stops)) };
  });
}

function unreadableReasons({ overview: { unreadable, account } }: Status): StatusReason[] {
  const [first] = unreadable;
  if (first === undefined) return [];
  const text = `the answers of the exchange cannot be read${ofAccounts(unreadable, account)} since ${first.since}: ${first.reason ?? ''}`;
  return [{ end: 'look', text, remedy: `order-sync probe${wordsOf([first])}` }];
}

function reachReasons({ overview }: Status): StatusReason[] {
  const { outOfReach } = overview;
  const [first] = outOfReach;
  if (first === undefined) return [];
  const why = first.reason === null ? '' : `: ${first.reason}`;
  const text = `the exchange is out of reach${ofAccounts(outOfReach, overview.account)} since ${first.since}${why}`;
  return [{ end: 'out-of-reach', text, remedy: 'order-sync doctor' }];
}

/** The remedy if a process drives accounts and does not answer. */
export const SILENT_REMEDY = 'see whether it is a command that ends by itself; if it hangs, stop it and see its log';

function opsReasons({ daemon }: Status): StatusReason[] {
  const failure = daemon?.opsFailure ?? null;
  if (failure === null) return [];
  return [{ end: 'look', text: `the ops endpoint does not listen: ${failure}`, remedy: OPS_REMEDY }];
}

/** The remedy if the ops endpoint does not listen. */
export const OPS_REMEDY = 'give ops.listen a free port, or off; the log of the daemon says more';

function databaseReasons({ daemon }: Status): StatusReason[] {
  if (daemon === null || daemon.unwritten === null) return [];
  return [{ end: 'look', text: `nothing is sent: ${daemon.unwritten}`, remedy: 'order-sync doctor' }];
}

function clockReasons({ databaseAheadMs }: Status): StatusReason[] {
  const text = clocksApart(databaseAheadMs ?? 0);
  return text === undefined ? [] : [{ end: 'look', text, remedy: CLOCK_REMEDY }];
}

/** The remedy for clocks that differ. */
export const CLOCK_REMEDY = 'check the time service of this machine and that of the database';

/** Says how far the clocks of machine and database differ; undefined below `CLOCKS_APART_MS`. */
export function clocksApart(databaseAheadMs: number): string | undefined {
  if (Math.abs(databaseAheadMs) < CLOCKS_APART_MS) return undefined;
  const side = databaseAheadMs > 0 ? 'behind' : 'ahead of';
  return `the clock of this machine is ${inUnits(Math.abs(databaseAheadMs))} ${side} that of the database, which counts`;
}

/** Where nothing waits no daemon is needed, and on an older copy none begins. */
function daemonReasons({ daemon, driver, olderState, overview }: Status): StatusReason[] {
  if (olderState !== null) {
    const text = `nothing is sent: the database ${olderState}`;
    return [{ end: 'look', text, remedy: 'order-sync db accept-restore' }];
  }
  const waiting = WAITING_STATES.reduce((all, state) => all + overview.orders[state], 0);
  if (daemon !== null || waiting === 0) return [];
  const orders = waiting === 1 ? '1 order waits' : `${withCommas(waiting)} orders wait`;
  if (driver !== null) {
    const text = `${driver} drives the account and does not answer, and ${orders}`;
    return [{ end: 'look', text, remedy: SILENT_REMEDY }];
  }
  const text = `no daemon answers, and ${orders} for one`;
  return [{ end: 'look', text, remedy: 'order-sync run' }];
}

function orderReasons({ overview }: Status): StatusReason[] {
  const words = overview.account === null ? ' --account all' : accountWords(overview.account);
  const states = (['held', 'disputed', 'unknown'] as const)
    .filter((state) => overview.orders[state] > 0)
    .map((state): StatusReason => {
      const orders = withCommas(overview.orders[state]);
      return { end: 'look', text: `${orders} ${state}`, remedy: `order-sync orders list --state ${state}${words}` };
    });
  const found = overview.findings.filter(({ severity }) => severity !== 'info');
  const open = found.reduce((all, one) => all + one.open, 0);
  if (open === 0) return states;
  const classes = found
    .slice(0, MOST_NAMED)
    .map((one) => `${one.class} ${withCommas(one.open)}`)
    .join(', ');
  const text = `${withCommas(open)} open ${open === 1 ? 'finding' : 'findings'}: ${classes}${found.length > MOST_NAMED ? ', …' : ''}`;
  return [...states, { end: 'look', text, remedy: `order-sync findings list --status open${words}` }];
}

function waitReasons({ asOf, daemon, overview }: Status): StatusReason[] {
  const now = Date.parse(asOf);
  const reasons: StatusReason[] = [];
  const { oldestPending } = overview;
  const isHeld = [overview.holds, overview.outOfReach, overview.stopped].some((all) => all.length > 0);
  const waitedMs = oldestPending === null ? 0 : now - Date.parse(oldestPending.since);
  if (daemon !== null && !isHeld && oldestPending !== null && waitedMs > LONG_MS) {
    const text = `the oldest pending order waits for ${inUnits(waitedMs)}`;
    const words = accountWords(oldestPending.account);
    reasons.push({ end: 'look', text, remedy: `order-sync orders list --state pending${words}` });
  }
  for (const { account, passes } of daemon?.accounts ?? []) {
    for (const { pass, wantedSince } of passes) {
      const lateMs = wantedSince === null ? 0 : now - Date.parse(wantedSince);
      if (isHeld || lateMs <= LONG_MS) continue;
      const text = `the ${pass} pass of ${account} has not ended well for ${inUnits(lateMs)}`;
      reasons.push({ end: 'look', text, remedy: 'the log of the daemon says why' });
    }
  }
  return reasons;
}

function receiverReasons({ asOf, overview }: Status): StatusReason[] {
  return receiverNeeds(overview.receivers, Date.parse(asOf)).map(({ title, since, command }) => {
    const text = since === null ? title : `${title} since ${since}`;
    return { end: 'look', text: `${text.charAt(0).toLowerCase()}${text.slice(1)}`, remedy: command };
  });
}

interface OfAccount {
  readonly account: string;
}

function ofAccounts(all: readonly OfAccount[], asked: string | null): string {
  if (asked !== null) return '';
  const names = all.slice(0, MOST_NAMED).map(({ account }) => account);
  return ` for ${names.join(', ')}${all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : ''}`;
}

function wordsOf(all: readonly OfAccount[]): string {
  return all.length === 1 ? accountWords(all[0]?.account ?? '') : ' --account all';
}
