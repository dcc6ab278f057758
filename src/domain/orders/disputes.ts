import type { Contradiction } from '../contradictions.ts';
import { sameDecimal } from '../decimal.ts';
import { quote } from '../text.ts';
import type { RecordView } from '../record.ts';
import { isFinalRecord, outcomeOf, type FollowSettings } from './lookup.ts';
import { nextLookupAt } from './schedule.ts';
import { move, type Decision, type Tracking } from './tracking.ts';

/** The kind of a contradiction and the value of the record that contradicts. */
type Settled = readonly [kind: string, actual: string | null];

/** Gives the contradictions that make an order disputed: those of `follow.disputedBy` that no person has settled. */
export function disputesOf(
  { oursDespite }: Pick<Tracking, 'oursDespite'>,
  contradictions: readonly Contradiction[],
  { disputedBy }: Pick<FollowSettings, 'disputedBy'>,
): readonly Contradiction[] {
  const settled = settledIn(oursDespite);
  return contradictions.filter((one) => disputedBy.includes(one.kind) && !settled.some((known) => isSame(known, one)));
}

export function describeDisputes(disputes: readonly Contradiction[]): string {
  return `the order at the exchange contradicts the row: ${disputes.map(describe).join('; ')}`;
}

const NAMES: Readonly<Record<Exclude<Contradiction['kind'], 'age'>, string>> = {
  merchant: 'merchant',
  pair: 'pair',
  type: 'type',
  amount: 'amount',
  id: 'external order id',
};

function describe({ kind, expected, actual }: Contradiction): string {
  const [ours, theirs] = [expected ?? '', actual ?? ''];
  if (kind === 'age') return `it was created at ${quote(theirs)}, and ours was ${ours}`;
  return `its ${NAMES[kind]} is ${quote(theirs)}, and ours is ${quote(ours)}`;
}

export interface NewestRecord {
  readonly record: RecordView;
  readonly contradictions: readonly Contradiction[];
}

/** Decides what it does to a disputed order that a person says: it is ours. The same contradictions dispute it no more. */
export function decideOurs(
  tracking: Tracking,
  { record, contradictions }: NewestRecord,
  how: { readonly source: 'operator'; readonly reason: string; readonly actor: string },
  now: Date,
  settings: FollowSettings,
): Decision {
  const isFinal = isFinalRecord(record, settings);
  const outcome = isFinal ? outcomeOf(record, settings) : null;
  const oursDespite = settling(tracking, contradictions);
  const moved = move(tracking, isFinal ? 'final' : 'open', how, { oursDespite, outcome, changedAt: now, rechecks: 0 });
  const nextActionAt = nextLookupAt(moved.tracking, now, settings);
  return { ...moved, tracking: { ...moved.tracking, nextActionAt } };
}

function settling({ oursDespite }: Tracking, contradictions: readonly Contradiction[]): string {
  const settled = settledIn(oursDespite);
  const news = contradictions.filter((one) => !settled.some((known) => isSame(known, one)));
  return JSON.stringify([...settled, ...news.map(({ kind, actual }): Settled => [kind, actual])]);
}

function isSame([kind, actual]: Settled, one: Contradiction): boolean {
  if (kind !== one.kind) return false;
  return actual === one.actual || (kind === 'amount' && sameDecimal(actual, one.actual));
}

/** Another program may have written anything into the column: that settles nothing. */
function settledIn(text: string | null): readonly Settled[] {
  try {
    const settled: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(settled)
      ? settled.filter(Array.isArray).map(([kind, actual]) => [kind, actual] as Settled)
      : [];
  } catch {
    return [];
  }
}
