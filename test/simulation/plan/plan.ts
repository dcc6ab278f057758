import type { Judgement } from '../../../src/domain/orders/operator-decisions.ts';
import { Chance, DAY, HOUR, MINUTE, SECOND, type Window } from './chance.ts';
import { planOrders, withOddAnswers, type PlannedOrder } from './orders.ts';

/** What a person tries to decide about an order. */
export interface PlannedDecision {
  readonly id: string;
  readonly kind: Judgement['kind'];
}

/** Everything that one seed decides beforehand; times in milliseconds since the world began. */
export interface Plan {
  readonly seed: number;
  readonly orders: readonly PlannedOrder[];
  readonly concurrency: number;
  readonly rate: { readonly requests: number; readonly intervalMs: number };
  readonly onUnknown: 'hold' | 'resend';
  /** Share of requests that something happens to. */
  readonly faults: number;
  /** Chance that the process dies at an event, and at a statement. */
  readonly deathAtStep: number;
  readonly deathAtStatement: number;
  /** Chance that another program locks the database as a transaction begins. */
  readonly busy: number;
  readonly diskFull: Window | null;
  readonly keyRefused: Window | null;
  /** When the merchant is blocked: creates are answered with the documented 403. */
  readonly blocked: Window | null;
  /** When a person has paused creates, or everything. */
  readonly paused: (Window & { readonly kind: 'creates-paused' | 'all-paused' }) | null;
  /** Where the machine's clock is set back, and by how much. */
  readonly clockSetBack: { readonly at: number; readonly ms: number } | null;
  /** Where processes share a server: when the one that drives the account stands still, and the share of commits whose connection is lost. */
  readonly shared: { readonly stills: readonly Stretch[]; readonly lostCommits: number } | null;
  /** After this moment nothing goes wrong any more. */
  readonly calmAt: number;
  readonly endAt: number;
  readonly decisions: readonly (PlannedDecision & { readonly at: number })[];
  /** Chance that a person wants an order sent again while its create is in flight. */
  readonly decidesInFlight: number;
}

/** A moment, and how long something lasts from it on. */
export interface Stretch {
  readonly at: number;
  readonly ms: number;
}

const JUDGEMENTS = ['exists', 'not-created', 'abandoned', 'retry', 'cancel'] as const;
/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const chance = new Chance(seed);
  const odd = new Chance(seed + 2_000_003);
  const shared = new Chance(seed + 3_000_017);
  const calmAt = chance.of([2 * MINUTE, 20 * MINUTE, 3 * HOUR, 30 * HOUR]);
  const onUnknown = chance.next() < 0.2 ? 'resend' : 'hold';
  const plan = {
    seed,
    orders: withOddAnswers(planOrders(chance, calmAt), odd),
    concurrency: 1 + chance.below(6),
    rate: { requests: 1 + chance.below(8), intervalMs: chance.of([200, 1_000, 2_000, 60_000]) },
    onUnknown,
    faults: chance.of([0, 0.05, 0.2, 0.5]),
    deathAtStep: chance.of([0, 0.002, 0.01, 0.03]),
    deathAtStatement: chance.of([0, 0.001, 0.005, 0.01]),
    busy: chance.of([0, 0, 0.02, 0.1]),
    diskFull: chance.next() < 0.3 ? chance.window(calmAt) : null,
    keyRefused: chance.next() < 0.2 ? chance.window(calmAt) : null,
    blocked: odd.next() < 0.2 ? odd.window(calmAt) : null,
    paused:
      odd.next() < 0.3 ? { ...odd.window(calmAt), kind: odd.of(['creates-paused', 'all-paused'] as const) } : null,
    clockSetBack:
      onUnknown === 'hold' && chance.next() < 0.3
        ? { at: chance.below(calmAt), ms: chance.of([SECOND, HOUR, 40 * DAY]) }
        : null,
    shared: shared.next() < 0.35 ? planShared(shared, calmAt) : null,
    calmAt,
    // Unknown outcomes are verified for a day, and daily look-ups find what appeared late; final orders are looked at for 8.
    endAt: calmAt + (chance.next() < 0.1 ? 12 * DAY : 3 * DAY),
  } as const;
  return { ...plan, decisions: planDecisions(chance, plan), decidesInFlight: chance.of([0, 0, 0.2, 0.5]) };
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
  return Array.from({ length: 1 + chance.below(40) }, () => ({
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
