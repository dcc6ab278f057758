import { LEAST_GAP_MS, type PacedOrder } from '../../src/orders/rules/lookup.ts';
import { type Stay, statusKey, type FollowedOrder } from '../../src/extensions/pace/status.ts';
import type { App } from '../../src/app.ts';
import { LearningPace } from '../../src/extensions/pace/follow-pace.ts';
import { PaceLearner } from '../../src/extensions/pace/pace.ts';
import { DAY, MINUTE, SECOND } from './tracking.ts';

export const LIMITS = {
  leastMs: LEAST_GAP_MS,
  mostMs: 0.9 * DAY,
  worthMs: 2 * SECOND,
  rate: 10 / SECOND,
  budget: 5 / SECOND,
};
export const NOW = new Date('2026-03-01T12:00:00Z');
export const ago = (ms: number) => new Date(NOW.getTime() - ms);
export const OPEN: PacedOrder = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' };
export const ACCEPTED: PacedOrder = { state: 'accepted', orderStatus: null, cryptoStatus: null, fiatStatus: null };

export function stay(order: PacedOrder, to: number, changes: Partial<Stay> = {}): Stay {
  const { state } = order;
  return { key: statusKey(order), state, from: 0.9 * to, to, isByExchange: true, lateMs: undefined, ...changes };
}

export const spread = (order: PacedOrder) =>
  Array.from({ length: 200 }, (_, index) => stay(order, 30 * SECOND * 1.03 ** index));
export const stays = (order: PacedOrder, to: number, count = 100) =>
  Array.from({ length: count }, () => stay(order, to));

/** An order of an age that was looked up just now, and will be again in a minute. */
export function followed(order: PacedOrder, ageMs: number, changes: Partial<FollowedOrder> = {}): FollowedOrder {
  return { ...order, changedAt: ago(ageMs), lastLookupAt: NOW, nextActionAt: ago(-MINUTE).toISOString(), ...changes };
}

export function learnerWith(ended: readonly Stay[], orders: readonly (readonly [PacedOrder, number, number])[] = []) {
  const learner = new PaceLearner(ended);
  for (const [order, ageMs, count] of orders) {
    for (let index = 0; index < count; index += 1) learner.addOrder(followed(order, ageMs), NOW);
  }
  return learner;
}

/** The pace of a program as the extension sees it. */
export function learningPaceOf({ settings: { pace } }: App): LearningPace {
  if (!(pace instanceof LearningPace)) throw new Error('the program was made with another pace');
  return pace;
}
