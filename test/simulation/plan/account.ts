import type { Judgement } from '../../../src/extensions/operate/rules/judgement.ts';
import type { FaultName } from '../faults.ts';
import { HOUR, MINUTE, SECOND, type Chance, type Stretch, type Window } from './chance.ts';
import type { PlannedOrder } from './orders.ts';
import type { PlannedSettings } from './settings.ts';

/** The decision about an order that a person tries. */
export interface PlannedDecision {
  readonly id: string;
  readonly kind: Judgement['kind'];
  /** They do not say that it may be created twice. */
  readonly isCareful?: boolean;
}

/** The plan of one seed for one account; times in milliseconds since the world began. */
export interface AccountPlan {
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
  /** When a person has paused creates, or everything. */
  readonly paused: (Window & { readonly kind: 'creates-paused' | 'all-paused' }) | null;
  /** How often a person allows creates again that a limit or unknown outcomes have stopped. */
  readonly resumedEveryMs: number | null;
  /** When the merchant's own program saves whole rows that it read a while before. */
  readonly staleSaves: readonly (Stretch & { readonly id: string })[];
  readonly decisions: readonly (PlannedDecision & { readonly at: number })[];
  /** Chance that a person wants an order sent again while its create is in flight. */
  readonly decidesInFlight: number;
  /** Nothing goes wrong between it and its exchange: whatever happens to other accounts, its orders do not wait. */
  readonly isWell: boolean;
}

/** A stretch of time in which requests have one fault. */
export interface Outage extends Window {
  readonly fault: FaultName;
  readonly isOfCreates: boolean;
}

const JUDGEMENTS = ['exists', 'not-created', 'abandoned', 'retry', 'cancel', 'ours'] as const;
/** The effect of an exchange that is down on every request. */
export const OUTAGES: readonly FaultName[] = [
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

/** Each seed has faults of its own: few of them, each often, or most of them. */
export function someOf(swarm: Chance, all: readonly FaultName[]): FaultName[] {
  const count = swarm.of([1, 2, 4, 8, 20]);
  return Array.from({ length: count }, () => swarm.of(all));
}

/** Plans outages of the exchange, up to that moment. */
export function planOutages(swarm: Chance, calmAt: number): Outage[] {
  return Array.from({ length: swarm.of([0, 0, 1, 2]) }, () => {
    const isOfCreates = swarm.next() < 0.4;
    return { ...swarm.window(calmAt), isOfCreates, fault: swarm.of(isOfCreates ? OUTAGES_OF_CREATES : OUTAGES) };
  });
}

/** Plans which rows the merchant's program saves whole, as it read them before. */
export function planStaleSaves(
  swarm: Chance,
  orders: readonly PlannedOrder[],
  calmAt: number,
): AccountPlan['staleSaves'] {
  return Array.from({ length: 1 + swarm.below(8) }, () => ({
    id: swarm.of(orders).id,
    at: swarm.of([swarm.below(10 * SECOND), swarm.below(calmAt)]),
    ms: swarm.of([0, 50, SECOND, HOUR]),
  }));
}

/**
 * At any time but near the end, because orders that a person has moved must settle too: soon, while orders are sent; and
 * later than a day, when orders that were not found are held.
 */
export function planDecisions(
  chance: Chance,
  orders: readonly PlannedOrder[],
  calmAt: number,
): AccountPlan['decisions'] {
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
