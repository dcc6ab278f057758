import { instantMs } from '../../base/instant.ts';
import { isAllowedMove, isPaced, type OrderState } from './states.ts';

/** The columns of `merchant_orders` that only this program writes: what it knows of an order and plans with it. */
export interface Tracking {
  readonly account: string;
  readonly externalOrderId: string;
  readonly state: OrderState;
  readonly stateReason: string | null;
  /** The number of changes of the row by the program; a write raises the number that was read by one. */
  readonly revision: number;
  readonly preOrderId: string | null;
  readonly exchangeType: string | null;
  readonly orderId: string | null;
  readonly orderStatus: string | null;
  readonly cryptoStatus: string | null;
  readonly fiatStatus: string | null;
  /** Create requests made, also the ones that were proved not taken. */
  readonly attempts: number;
  readonly nextActionAt: Date | null;
  /** The last look-up that brought evidence: a record, or a documented 404. */
  readonly lastLookupAt: Date | null;
  /** When the intent of the newest create request became durable. */
  readonly sentAt: Date | null;
  /** When something of the order last changed; look-ups are spaced by it. */
  readonly changedAt: Date | null;
  /** `modificationDate` of the newest record (§2.7), as received. */
  readonly modificationDate: string | null;
  /** `modificationDate` of the newest answer, if it was not taken: it is older than our record, or takes turns with it. */
  readonly staleDate: string | null;
  /** Look-ups of an unknown outcome that found no order. */
  readonly verifications: number;
  /** Creates that were repeated after an unknown outcome: by a person, or once by `create.onUnknown: resend`. */
  readonly resends: number;
  /** The number of the account's hold in which its create was last refused with 403, from 1; 0 if it never was. */
  readonly forbiddenIn: number;
  readonly rechecks: number;
  /** Look-ups since the newest create that found no order by an answer which proves it. */
  readonly documentedAbsences: number;
  readonly absentAt: Date | null;
  /** When an order that existed at the exchange was taken over; it was never sent from here. */
  readonly adoptedAt: Date | null;
  readonly outcome: 'succeeded' | 'failed' | null;
  /** The contradictions in spite of which a person said that the order is ours, as `decideOurs` writes them. */
  readonly oursDespite: string | null;
  readonly failOver: number | null;
}

type EventSource = 'create' | 'lookup' | 'operator' | 'import';

export interface OrderEvent {
  readonly field:
    | 'state'
    | `${'order' | 'cryptoTransaction' | 'fiatTransaction'}.status`
    | `record.${string}`
    | 'finding';
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly exchangeTime: string | null;
  readonly source: EventSource;
  readonly reason: string | null;
  readonly actor?: string;
}

export interface Decision {
  readonly tracking: Tracking;
  readonly events: readonly OrderEvent[];
}

/** No create of the order ever left, and it was not taken over from the exchange. */
export function isNeverSent({ attempts, adoptedAt }: Pick<Tracking, 'attempts' | 'adoptedAt'>): boolean {
  return attempts === 0 && adoptedAt === null;
}

/** Moves an order, with its event. Throws if the table does not allow it, or if an unsent row would get an order. */
export function move(
  from: Tracking,
  to: OrderState,
  how: { source: EventSource; reason?: string | null; exchangeTime?: string | null; actor?: string },
  changes: Partial<Tracking> = {},
): Decision {
  const order = `order ${JSON.stringify(from.externalOrderId)}`;
  // A bug of ours, whatever the exchange answers.
  if (!isAllowedMove(from.state, to)) throw new Error(`${order} may not go from ${from.state} to ${to}`);
  const isFound = to === 'open' || to === 'final';
  if (from.state === 'pending' && isFound && isNeverSent({ ...from, ...changes })) {
    throw new Error(`${order} was never sent and may not be ${to}`);
  }
  const reason = how.reason ?? null;
  const event: OrderEvent = {
    field: 'state',
    oldValue: from.state,
    newValue: to,
    exchangeTime: how.exchangeTime ?? null,
    source: how.source,
    reason,
    ...(how.actor === undefined ? {} : { actor: how.actor }),
  };
  const failOver = to === 'unknown' || to === 'held' ? from.failOver : null;
  return { tracking: { ...from, failOver, ...changes, state: to, stateReason: reason }, events: [event] };
}

export function finding(name: string, source: EventSource, reason: string, exchangeTime: string | null): OrderEvent {
  return { field: 'finding', oldValue: null, newValue: name, exchangeTime, source, reason };
}

const CLOCKS_DIFFER_MS = 60_000;

/** How many ms after the exchange changed an order a look-up saw it; undefined if that is not known. */
export function lateMsOf(before: Tracking, { tracking, events }: Decision): number | undefined {
  const change = events.find(({ field }) => field === 'state' || field.endsWith('.status'));
  if (change === undefined || !isPaced(before.state) || tracking.changedAt === null) return undefined;
  const [enteredAt, lookedUpAt] = [before.changedAt, before.lastLookupAt].map((at) => at?.getTime() ?? 0);
  const unchangedAt = Math.max(enteredAt ?? 0, lookedUpAt ?? 0);
  return lateMs(instantMs(change.exchangeTime) ?? null, unchangedAt, tracking.changedAt.getTime());
}

/** A date that lies before the look-up that found no change is not that of the change. */
export function lateMs(exchangeTime: number | null, unchangedAt: number, observedAt: number): number | undefined {
  if (exchangeTime === null) return undefined;
  const isOfChange = exchangeTime >= unchangedAt - CLOCKS_DIFFER_MS && exchangeTime <= observedAt + CLOCKS_DIFFER_MS;
  if (!isOfChange) return undefined;
  return Math.max(0, observedAt - Math.max(exchangeTime, unchangedAt));
}
