import { instantMs } from '../../domain/instant.ts';
import { LONGEST_MS } from '../../domain/orders/pace/stay-times.ts';
import { counted, inUnits, withCommas } from '../formats/words.ts';

/** What decides when an order that is followed is looked up; times in milliseconds. */
export type StoryPace = {
  /** The status that it is in, for people. */
  readonly status: string;
  /** When it came into it: UTC, ISO 8601. */
  readonly since: string;
} & (
  | { readonly kind: 'every-tick' }
  /** So many stays in the status have ended, half of them within `halfMs`; infinite where it is not known. */
  | { readonly kind: 'learned'; readonly stays: number; readonly halfMs: number }
);

/** With fewer stays than these nothing is said of how long they took. */
const FEW_STAYS = 10;

export function paceSentence(pace: StoryPace, asOf: Date): string {
  const forMs = Math.max(0, asOf.getTime() - (instantMs(pace.since) ?? 0));
  if (pace.kind === 'every-tick') return 'It is looked up at each tick of schedule.cron (follow.pace).';
  const { status, stays, halfMs } = pace;
  if (stays < FEW_STAYS) {
    const known = stays === 0 ? 'no order has been seen to leave it' : `only ${counted(stays, 'order')} left it`;
    return `Not much is known of ${status} yet, as ${known}. Until then look-ups are spaced by how long an order has been there: this one for ${inUnits(forMs)} so far.`;
  }
  const orders = status === 'accepted' ? 'accepted orders' : `orders in ${status}`;
  const [part, withinMs] = Number.isFinite(halfMs)
    ? (['Half', halfMs] as const)
    : (['Fewer than half', LONGEST_MS] as const);
  const of = `${part} of the ${withCommas(stays)} ${orders} that changed did so within ${inUnits(withinMs)}`;
  return `${of}; this one has been there, unchanged, for ${inUnits(forMs)}.`;
}
