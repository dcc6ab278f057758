import type { Judgement } from '../../../src/domain/orders/operator-decisions.ts';
import { faultsOf, type FaultName } from '../faults.ts';
import { Chance, DAY, HOUR, MINUTE, SECOND, type Stretch, type Window } from './chance.ts';
import { planOrders, withOddAnswers, type PlannedOrder } from './orders.ts';
import { planReceivers, type PlannedReceiver } from './receivers.ts';
import { planSettings, type PlannedSettings } from './settings.ts';

/** When each world begins: later than any real clock that a trigger of the database may read. */
export const BEGINNING = Date.parse('2040-01-01T00:00:00.000Z');

/** What a person tries to decide about an order. */
export interface PlannedDecision {
  readonly id: string;
  readonly kind: Judgement['kind'];
}

/** Everything that one seed decides beforehand; times in milliseconds since the world began. */
export interface Plan {
  readonly seed: number;
  /** The name of the account. */
  readonly account: string;
  readonly orders: readonly PlannedOrder[];
  readonly settings: PlannedSettings;
  /** Share of requests that something happens to, and what may happen to them: a fault that is named twice happens twice as often. */
  readonly faults: number;
  readonly createFaults: readonly FaultName[];
  readonly lookupFaults: readonly FaultName[];
  /** When every request, or every create, has the same fault. */
  readonly outages: readonly Outage[];
  /** Chance that the process dies at an event, and at a statement. */
  readonly deathAtStep: number;
  readonly deathAtStatement: number;
  /** A start costs much and shows little: the process dies only so often. */
  readonly mostDeaths: number;
  /** A pass is run no sooner than this after the last, where nothing new wakes it. */
  readonly tickMs: number;
  /** The one place at which the process dies, counted from 1, instead of by chance; null where chance decides. */
  readonly deathAt: number | null;
  /** Chance that another program locks the database as a transaction begins, and for how long at most. */
  readonly busy: number;
  readonly longestLockMs: number;
  readonly diskFull: Window | null;
  /** When the file takes no write at all. */
  readonly readOnly: Window | null;
  /** When a person has paused creates, or everything. */
  readonly paused: (Window & { readonly kind: 'creates-paused' | 'all-paused' }) | null;
  /** How often a person lets creates go on that a limit or unknown outcomes have stopped. */
  readonly resumedEveryMs: number | null;
  /** Where the machine's clock is set, and by how much: below 0 it is set back. */
  readonly clockSet: readonly Stretch[];
  /** When the event loop of the process is blocked. */
  readonly blocked: readonly Stretch[];
  /** When the merchant's own program saves whole rows that it read a while before. */
  readonly staleSaves: readonly (Stretch & { readonly id: string })[];
  /** The merchant's own trigger on the table: it writes down each change, and at times raises. */
  readonly trigger: { readonly raises: Window | null } | null;
  /** Where processes share a server: when the one that drives the account stands still, and the share of commits whose connection is lost. */
  readonly shared: { readonly stills: readonly Stretch[]; readonly lostCommits: number } | null;
  /** After this moment nothing goes wrong any more. */
  readonly calmAt: number;
  readonly endAt: number;
  /** After this moment nothing is planned any more. */
  readonly lastAt: number;
  /** Whether the world ends as soon as everything has settled after that, instead of days later. */
  readonly endsWhenSettled: boolean;
  readonly decisions: readonly (PlannedDecision & { readonly at: number })[];
  /** Chance that a person wants an order sent again while its create is in flight. */
  readonly decidesInFlight: number;
  readonly receivers: readonly PlannedReceiver[];
  /** Whether the feed is read and reports are made beside it. */
  readonly isAudited: boolean;
}

/** A stretch of time in which requests have one fault. */
export interface Outage extends Window {
  readonly fault: FaultName;
  readonly isOfCreates: boolean;
}

const JUDGEMENTS = ['exists', 'not-created', 'abandoned', 'retry', 'cancel', 'ours'] as const;
const OUTAGES: readonly FaultName[] = [
  'never',
  'lost-before',
  'hangs-before',
  'server-error',
  'key-refused',
  'html',
  'redirected',
];
const OUTAGES_OF_CREATES: readonly FaultName[] = [
  'blocked',
  'blocked',
  'server-error-taken',
  'lost-after',
  'rate-limited',
];

/** Tens of thousands of passes that find nothing to do would be most of what the simulation does. */
const MOST_TICKS = 2_880;

/** The plan of a seed. */
export function planOf(seed: number): Plan {
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
    account: 'default',
    orders,
    settings,
    faults: swarm.of([0, 0.05, 0.2, 0.5]),
    createFaults: someOf(swarm, faultsOf('create')),
    lookupFaults: someOf(swarm, faultsOf('lookup')),
    outages: planOutages(swarm, calmAt),
    deathAtStep: chance.of([0, 0.002, 0.01, 0.03]),
    deathAtStatement: chance.of([0, 0.001, 0.005, 0.01]),
    mostDeaths: swarm.of([2, 5, 10, 30]),
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
    calmAt,
    // Unknown outcomes are verified for a day, and daily look-ups find what appeared late; final orders are looked at for 8.
    endAt: calmAt + (chance.next() < 0.1 && orders.length < 6 ? 12 * DAY : 3 * DAY),
    endsWhenSettled: swarm.next() < 0.8,
  } as const;
  const decisions = planDecisions(chance, plan);
  const moments = [...decisions, ...plan.staleSaves, ...orders].map(({ at }) => at);
  // What was planned last takes a while.
  const lastAt = Math.max(calmAt, ...moments) + HOUR;
  return {
    ...plan,
    lastAt,
    tickMs: Math.max(plan.tickMs, lastAt / MOST_TICKS),
    decisions,
    decidesInFlight: chance.of([0, 0, 0.2, 0.5]),
    receivers: planReceivers(new Chance(seed + 5_000_011), calmAt),
    isAudited: new Chance(seed + 6_000_029).next() < 0.3,
  };
}

/** Each seed has faults of its own: few of them, each often, or most of them. */
function someOf(swarm: Chance, all: readonly FaultName[]): FaultName[] {
  const count = swarm.of([1, 2, 4, 8, 20]);
  return Array.from({ length: count }, () => swarm.of(all));
}

function planOutages(swarm: Chance, calmAt: number): Outage[] {
  return Array.from({ length: swarm.of([0, 0, 1, 2]) }, () => {
    const isOfCreates = swarm.next() < 0.4;
    return { ...swarm.window(calmAt), isOfCreates, fault: swarm.of(isOfCreates ? OUTAGES_OF_CREATES : OUTAGES) };
  });
}

/** Set back, set ahead, or wrong for a moment. What is created by a clock that is a day ahead is older than its order. */
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

function planStaleSaves(swarm: Chance, orders: readonly PlannedOrder[], calmAt: number): Plan['staleSaves'] {
  return Array.from({ length: 1 + swarm.below(8) }, () => ({
    id: swarm.of(orders).id,
    at: swarm.of([swarm.below(10 * SECOND), swarm.below(calmAt)]),
    ms: swarm.of([0, 50, SECOND, HOUR]),
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

/**
 * At any time but near the end, as what a person has moved is to settle too: soon, while orders are sent; and later than
 * a day, when those that nobody found are held.
 */
function planDecisions(chance: Chance, { orders, calmAt }: Pick<Plan, 'orders' | 'calmAt'>): Plan['decisions'] {
  if (chance.next() < 0.6) return [];
  return Array.from({ length: 1 + chance.below(4 * orders.length) }, () => ({
    id: chance.of(orders).id,
    at: chance.of([
      chance.below(3 * SECOND),
      chance.below(MINUTE),
      chance.below(calmAt),
      25 * HOUR + chance.below(calmAt),
    ]),
    kind: chance.of(JUDGEMENTS),
  }));
}
