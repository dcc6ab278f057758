import { faultsOf } from '../faults.ts';
import { planDecisions, planOutages, planStaleSaves, someOf, type AccountPlan } from './account.ts';
import { Chance, DAY, HOUR, MINUTE, SECOND, type Stretch, type Window } from './chance.ts';
import { FIRST_ACCOUNT } from './names.ts';
import { planOrders, withOddAnswers } from './orders.ts';
import { planReceivers, type PlannedReceiver } from './receivers.ts';
import { planSettings } from './settings.ts';
import { planSeveral } from './several.ts';

/** When each world begins: later than any real clock that a trigger of the database may read. */
export const BEGINNING = Date.parse('2040-01-01T00:00:00.000Z');

/** Everything that one seed decides beforehand, of the world and of its first account; times in milliseconds since the world began. */
export interface Plan extends AccountPlan {
  readonly seed: number;
  /** Chance that the process dies at an event, and at a statement. */
  readonly deathAtStep: number;
  readonly deathAtStatement: number;
  /** A start costs much and shows little: the process dies only so often. */
  readonly mostDeaths: number;
  /** A process that is asked to stop is asked within this time of its start. */
  readonly stopsWithinMs: number;
  /** A pass is run no sooner than this after the last, if nothing new wakes it. */
  readonly tickMs: number;
  /** The one place at which the process dies, counted from 1, instead of by chance; null if chance decides. */
  readonly deathAt: number | null;
  /** Chance that another program locks the database as a transaction begins, and for how long at most. */
  readonly busy: number;
  readonly longestLockMs: number;
  readonly diskFull: Window | null;
  /** When the file takes no write at all. */
  readonly readOnly: Window | null;
  /** The times at which the machine's clock is set, and by how much: below 0 it is set back. */
  readonly clockSet: readonly Stretch[];
  /** When the event loop of the process is blocked. */
  readonly blocked: readonly Stretch[];
  /** The merchant's own trigger on the table: it writes down each change, and at times raises. */
  readonly trigger: { readonly raises: Window | null } | null;
  /** If processes share a server: when the owner of the account stands still, and the share of commits whose connection is lost. */
  readonly shared: { readonly stills: readonly Stretch[]; readonly lostCommits: number } | null;
  /**
   * How many processes live at the same time and share the accounts of the server, and when it is out of the reach of one of them;
   * null if one process drives all accounts.
   */
  readonly workers: { readonly count: number; readonly cuts: readonly Stretch[] } | null;
  /** After this moment nothing goes wrong any more. */
  readonly calmAt: number;
  readonly endAt: number;
  /** After this moment nothing is planned any more. */
  readonly lastAt: number;
  /** If true, the world ends as soon as everything has settled after that, instead of days later. */
  readonly endsWhenSettled: boolean;
  readonly receivers: readonly PlannedReceiver[];
  /** If true, the feed is read and reports are made beside it. */
  readonly isAudited: boolean;
  /** The other accounts in the same database; none in most worlds. */
  readonly others: readonly AccountPlan[];
  /** If true, all accounts share one limit of the rate. */
  readonly sharesLimit: boolean;
}

/** Tens of thousands of passes that find nothing to do would be most of what the simulation does. */
const MOST_TICKS = 2_880;

/** The share of worlds in which several processes live at the same time. */
const WORKERS = 0.0625;
/** Draws none of the seeds that are known to catch a bug with one process. */
const WORKERS_FROM = 11_012_866;

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const plan = planAlone(seed);
  const chance = new Chance(seed + WORKERS_FROM);
  const isShared = chance.next() < WORKERS;
  const several = planSeveral(plan, plan, new Chance(seed + 9_267_213), isShared);
  if (several === undefined) return plan;
  const [first = plan, ...others] = several.accounts;
  return {
    ...plan,
    ...first,
    others,
    sharesLimit: several.sharesLimit,
    lastAt: lastAtOf(several.accounts, plan.calmAt),
    receivers: [],
    ...(isShared && planWorkers(chance, plan)),
  };
}

/**
 * Processes that live at the same time, mostly with receivers of webhooks. A full disk is for worlds with a file. Several
 * processes cost more: fewer of them die, and nothing locks the database for long.
 */
function planWorkers(chance: Chance, { calmAt, busy, longestLockMs, mostDeaths }: Plan): Partial<Plan> {
  const stretches = () => planShared(chance, calmAt)?.stills ?? [];
  return {
    workers: { count: chance.of([2, 2, 3]), cuts: stretches().filter(({ ms }) => ms <= MINUTE) },
    shared: { stills: [...stretches(), ...stretches()], lostCommits: chance.of([0, 0.02, 0.1]) },
    receivers: chance.next() < 0.6 ? planReceivers(chance, calmAt, 1) : [],
    diskFull: null,
    readOnly: null,
    busy: Math.min(busy, 0.02),
    longestLockMs: Math.min(longestLockMs, 3 * SECOND),
    mostDeaths: Math.min(mostDeaths, 5),
    endsWhenSettled: true,
  };
}

/** The world as it is given to each of its accounts. */
export function plansOf(plan: Plan): readonly Plan[] {
  return [plan, ...plan.others.map((account) => ({ ...plan, ...account }))];
}

/** The last part of the plan takes a while. */
function lastAtOf(accounts: readonly AccountPlan[], calmAt: number): number {
  const moments = accounts.flatMap(({ orders, decisions, staleSaves }) => [...orders, ...decisions, ...staleSaves]);
  return Math.max(calmAt, ...moments.map(({ at }) => at)) + HOUR;
}

/** The plan of a seed for a world with one account. */
export function planAlone(seed: number): Plan {
  const chance = new Chance(seed);
  const swarm = new Chance(seed + 2_000_003);
  const shared = new Chance(seed + 3_000_017);
  const calmAt = chance.of([2 * MINUTE, 20 * MINUTE, 3 * HOUR, 30 * HOUR]);
  const settings = planSettings(new Chance(seed + 4_000_037));
  // Of a limit in one currency, only an order in that currency can be told to be within it.
  const planned = planOrders(chance, calmAt).map((order) =>
    settings.assetPerHour.length > 0 ? { ...order, position: 'INPUT' as const } : order,
  );
  const orders = withOddAnswers(planned, swarm);
  const isStoppedForGood = settings.createsPerHour !== undefined || settings.assetPerHour.length > 0;
  const plan = {
    seed,
    account: FIRST_ACCOUNT,
    orders,
    settings,
    faults: swarm.of([0, 0.05, 0.2, 0.5]),
    createFaults: someOf(swarm, faultsOf('create')),
    lookupFaults: someOf(swarm, faultsOf('lookup')),
    outages: planOutages(swarm, calmAt),
    deathAtStep: chance.of([0, 0.002, 0.01, 0.03]),
    deathAtStatement: chance.of([0, 0.001, 0.005, 0.01]),
    mostDeaths: swarm.of([2, 5, 10, 30]),
    stopsWithinMs: MINUTE,
    tickMs: swarm.of([5 * SECOND, 5 * SECOND, MINUTE, 10 * MINUTE]),
    deathAt: null,
    busy: chance.of([0, 0, 0.02, 0.1]),
    longestLockMs: swarm.of([0, 60, 3_000, 30_000, 120_000]),
    diskFull: swarm.maybe(0.2, () => swarm.window(calmAt)),
    readOnly: swarm.maybe(0.1, () => swarm.window(calmAt)),
    paused: swarm.maybe(0.2, () => ({
      ...swarm.window(calmAt),
      kind: swarm.of(['creates-paused', 'all-paused'] as const),
    })),
    resumedEveryMs: isStoppedForGood ? 2 * HOUR : swarm.maybe(0.1, () => swarm.of([10 * MINUTE, 2 * HOUR])),
    // A create is sent again by the clock on the wall.
    clockSet: settings.onUnknown === 'hold' && swarm.next() < 0.3 ? planClock(swarm, calmAt) : [],
    blocked: swarm.next() < 0.2 ? planBlocked(swarm, calmAt) : [],
    staleSaves: swarm.next() < 0.2 ? planStaleSaves(swarm, orders, calmAt) : [],
    trigger: swarm.maybe(0.15, () => ({ raises: swarm.maybe(0.5, () => swarm.window(calmAt)) })),
    shared: shared.next() < 0.35 ? planShared(shared, calmAt) : null,
    workers: null,
    calmAt,
    // Unknown outcomes are verified for a day, and daily look-ups find what appeared late; final orders are looked at for 8.
    endAt: calmAt + (chance.next() < 0.1 && orders.length < 6 ? 12 * DAY : 3 * DAY),
    endsWhenSettled: swarm.next() < 0.8,
  } as const;
  const decisions = planDecisions(chance, orders, calmAt);
  const account = { ...plan, decisions, decidesInFlight: chance.of([0, 0, 0.2, 0.5]), isWell: false };
  const lastAt = lastAtOf([account], calmAt);
  return {
    ...account,
    lastAt,
    tickMs: Math.max(plan.tickMs, lastAt / MOST_TICKS),
    receivers: planReceivers(new Chance(seed + 5_000_011), calmAt),
    isAudited: new Chance(seed + 6_000_029).next() < 0.3,
    others: [],
    sharesLimit: false,
  };
}

/** Set back, set ahead, or wrong for a moment. An order that is created by a clock that is a day ahead is older than its request. */
function planClock(swarm: Chance, calmAt: number): Stretch[] {
  const at = swarm.below(calmAt);
  const back = { at, ms: -swarm.of([SECOND, HOUR, 40 * DAY]) };
  const ahead = { at, ms: swarm.of([SECOND, MINUTE, HOUR, 12 * HOUR]) };
  const blipEnd = at + swarm.of([SECOND, MINUTE, HOUR]);
  return swarm.of([
    [back],
    [back],
    [ahead],
    [ahead, { at: blipEnd, ms: -ahead.ms }],
    [back, { at: blipEnd, ms: -back.ms }],
  ]);
}

function planBlocked(swarm: Chance, calmAt: number): Stretch[] {
  return Array.from({ length: 1 + swarm.below(3) }, () => ({
    at: swarm.of([swarm.below(5 * SECOND), swarm.below(calmAt)]),
    ms: swarm.of([500, 3 * SECOND, 20 * SECOND, 10 * MINUTE]),
  }));
}

/** Mostly while orders are sent; some stretches are shorter than what it takes until another process takes over. */
function planShared(chance: Chance, calmAt: number): Plan['shared'] {
  const stills = Array.from({ length: chance.below(6) }, () => ({
    at: chance.of([chance.below(5 * SECOND), chance.below(MINUTE), chance.below(calmAt)]),
    ms: chance.of([SECOND, 3_200, 5 * SECOND, 14 * SECOND, MINUTE, HOUR]),
  }));
  return { stills, lostCommits: chance.of([0, 0.02, 0.1, 0.4]) };
}
