import { instantMs } from '../../base/instant.ts';
import { isAllowedMove, isPaced, type OrderState } from './states.ts';

/** The key of an order, and the columns of `merchant_orders` that only this program writes. */
export interface Tracking {
  readonly account: string;
  readonly externalOrderId: string;
  readonly state: OrderState;
  readonly stateReason: string | null;
  /** How often the program changed the row. A write requires the number that was read, and adds one. */
  readonly revision: number;
  readonly preOrderId: string | null;
  readonly exchangeType: string | null;
  readonly orderId: string | null;
  readonly orderStatus: string | null;
  readonly cryptoStatus: string | null;
  readonly fiatStatus: string | null;
  /** How many creates were begun or assumed, including creates that the exchange certainly did not take. */
  readonly attempts: number;
  readonly nextActionAt: Date | null;
  /** When a look-up last brought evidence: a record, or an absence that counts (`absent`). */
  readonly lastLookupAt: Date | null;
  /** When the newest create was begun or assumed. */
  readonly sentAt: Date | null;
  /** When an answer, a person or a recovery last changed the order. Gaps between look-ups depend on the time since. */
  readonly changedAt: Date | null;
  /** `modificationDate` of the newest record (§2.7), as received. */
  readonly modificationDate: string | null;
  /** The date, or `no date`, of the last received record if it was not taken; null if it was taken. */
  readonly staleDate: string | null;
  /** How many planned look-ups of the unknown outcome found no order. */
  readonly verifications: number;
  /** How often a person, a fail-over or `create.onUnknown: resend` may have repeated a create of unknown outcome. */
  readonly resends: number;
  /** The number, from 1, of the `forbidden` restraint in which the create was last refused; 0 if it never was. */
  readonly forbiddenIn: number;
  readonly rechecks: number;
  /** How many planned look-ups since the newest create brought a documented absence. */
  readonly documentedAbsences: number;
  readonly absentAt: Date | null;
  /** When this program took over an order that existed at the exchange and was never sent from here. */
  readonly adoptedAt: Date | null;
  readonly outcome: 'succeeded' | 'failed' | null;
  /** JSON pairs of kind and value: the contradictions that a person settled by saying that the order is ours. */
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

/** True if no create of the order was begun, and the order was not taken over from the exchange. */
export function isNeverSent({ attempts, adoptedAt }: Pick<Tracking, 'attempts' | 'adoptedAt'>): boolean {
  return attempts === 0 && adoptedAt === null;
}

/** Returns the moved order and its event. Throws if a move is illegal, or makes an unsent pending row open or final. */
export function move(
  from: Tracking,
  to: OrderState,
  how: { source: EventSource; reason?: string | null; exchangeTime?: string | null; actor?: string },
  changes: Partial<Tracking> = {},
): Decision {
  const order = `order ${JSON.stringify(from.externalOrderId)}`;
  // Only a bug of this program can cause this error, whatever the exchange answers.
  if (!isAllowedMove(from.state, to)) throw new Error(`${order} may not go from ${from.state} to ${to}`);
  const isFound = to === 'open' || to === 'final';
  if (from.state === 'pending' && isFound && isNeverSent({ ...from, ...changes })) {
    throw new Error(`${order} was never sent and may not be ${to}`);
  }
  const { source, reason = null, exchangeTime = null, actor } = how;
  const said = { exchangeTime, source, reason, ...(actor !== undefined && { actor }) };
  const event: OrderEvent = { field: 'state', oldValue: from.state, newValue: to, ...said };
  const failOver = to === 'unknown' || to === 'held' ? from.failOver : null;
  return { tracking: { ...from, failOver, ...changes, state: to, stateReason: reason }, events: [event] };
}

export function finding(name: string, source: EventSource, reason: string, exchangeTime: string | null): OrderEvent {
  return { field: 'finding', oldValue: null, newValue: name, exchangeTime, source, reason };
}

const CLOCKS_DIFFER_MS = 60_000;

/** Returns the ms from a change at the exchange until a look-up saw the change; undefined if not known. */
export function lateMsOf(before: Tracking, { tracking, events }: Decision): number | undefined {
  const change = events.find(({ field }) => field === 'state' || field.endsWith('.status'));
  if (change === undefined || !isPaced(before.state) || tracking.changedAt === null) return undefined;
  const unchangedAt = Math.max(before.changedAt?.getTime() ?? 0, before.lastLookupAt?.getTime() ?? 0);
  return lateMs(instantMs(change.exchangeTime) ?? null, unchangedAt, tracking.changedAt.getTime());
}

/** Returns the delay in ms; undefined if the change is unknown, or over a minute outside of the other two times. */
export function lateMs(exchangeTime: number | null, unchangedAt: number, observedAt: number): number | undefined {
  if (exchangeTime === null) return undefined;
  const isOfChange = exchangeTime >= unchangedAt - CLOCKS_DIFFER_MS && exchangeTime <= observedAt + CLOCKS_DIFFER_MS;
  if (!isOfChange) return undefined;
  return Math.max(0, observedAt - Math.max(exchangeTime, unchangedAt));
}
