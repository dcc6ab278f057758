import { expectedLookups, latenessOf } from '../../domain/orders/pace/lookups.ts';
import type { Overdue } from '../../domain/orders/pace/overdue.ts';
import type { LearnedPace, LearnedStatus } from '../../domain/orders/pace/pace.ts';
import { orderOfKey, statusName } from '../../domain/orders/pace/status.ts';
import { inUnits, withCommas } from '../formats/words.ts';

/** The name of all statuses for which there is no room. */
export const OTHERS = 'all others';

/** How soon the orders of an account are looked up, and what is known of how long they stay in a status. */
export interface FollowedAccount {
  readonly account: string;
  /** The pace in force (`follow.pace`). */
  readonly pace: 'learned' | 'spaced' | 'every-tick';
  /** Look-ups a millisecond that may go to followed orders. */
  readonly budget: number;
  /** What was learned, whether it is in force or not. */
  readonly learned: LearnedPace;
  /** The orders that wait for a look-up which was due; undefined where none does. */
  readonly overdue: Overdue | undefined;
}

/** A status of an account in the report. */
export interface FollowedStatus extends LearnedStatus {
  readonly account: FollowedAccount;
  readonly name: string;
  /** The ages at which an order is looked up, in milliseconds; undefined where the pace in force is not the learned one. */
  readonly lookups: { readonly agesMs: readonly number[]; readonly perOrder: number } | undefined;
}

/** The statuses of an account: those with most orders first, then those with most stays. */
export function statusesOf(account: FollowedAccount): FollowedStatus[] {
  return account.learned.statuses
    .toSorted((a, b) => b.orders - a.orders || b.stays - a.stays)
    .map((status) => {
      const order = orderOfKey(status.key);
      const name = order === undefined ? OTHERS : statusName(order);
      return { ...status, account, name, lookups: account.pace === 'learned' ? lookupsOf(status) : undefined };
    });
}

/** The orders that speak of a status. */
export function weightOf({ orders, stays }: LearnedStatus): number {
  return orders + stays;
}

function lookupsOf(status: LearnedStatus): FollowedStatus['lookups'] {
  const all = [...expectedLookups(status.hazards, (ageMs) => status.gapMs(ageMs))];
  return { agesMs: all.map(({ ageMs }) => ageMs), perOrder: all.reduce((sum, { part }) => sum + part, 0) };
}

/** Look-ups a millisecond that are expected to bring news. */
export function newsOf({ statuses }: LearnedPace): number {
  return statuses.reduce((sum, { news }) => sum + news, 0);
}

/** The orders that are followed now. */
export function ordersOf(statuses: readonly LearnedStatus[]): number {
  return statuses.reduce((sum, { orders }) => sum + orders, 0);
}

/** Says how late changes were seen, as a sentence; undefined where it is known of none. */
export function lateSentence(learned: readonly LearnedPace[]): string | undefined {
  const late = latenessOf(learned.flatMap(lateOf));
  if (late === undefined) return undefined;
  const { changes, meanMs, p95Ms } = late;
  const what = changes === 1 ? 'One change was' : `${withCommas(changes)} changes were`;
  return `${what} seen ${inUnits(meanMs)} after the exchange made them in the mean, 95 % within ${inUnits(p95Ms)}.`;
}

/** How late changes were seen, in milliseconds. */
export function lateOf({ statuses }: LearnedPace): readonly number[] {
  return statuses.flatMap(({ lateMs }) => lateMs);
}
