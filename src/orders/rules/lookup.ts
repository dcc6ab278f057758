import type { ContradictionKind } from './contradictions.ts';
import { instant } from '../../base/instant.ts';
import type { Difference, RecordView } from './record.ts';
import type { RecordComparison, Turns } from './record-change.ts';
import type { Decision, Tracking } from './tracking.ts';

/** The answer to a look-up (§4.11). `unanswered` is no evidence. A found record may spell the id in another way. */
export type LookupAnswer =
  | FoundRecord
  | { readonly kind: 'absent'; readonly evidence: 'documented' | 'likely' }
  /** `answeredFor` is the other id that the answer was about. With `isOutage`, look-ups of all orders fail. */
  | {
      readonly kind: 'unanswered';
      readonly why: string;
      readonly answeredFor?: string;
      readonly isOutage?: boolean;
      readonly isUnreadable?: true;
    };

export interface FoundRecord {
  readonly kind: 'found';
  readonly record: RecordView;
  readonly body: string;
  readonly comparison?: RecordComparison;
}

/** A shape of answers that the exchange uses if there is no order. The merchant lists it in `exchange.absence`. */
export interface AbsenceShape {
  readonly status: number;
  /** A place in the JSON body (RFC 6901). Without `value`, any value at this place matches. */
  readonly pointer?: string;
  /** The text at `pointer`, or the number, `true`, `false`, `null`, `[]` or `{}` as text. */
  readonly value?: string;
}

/** The facts that a pace depends on: the state of the order, and the statuses of its record (§2.7). */
export type PacedOrder = Pick<Tracking, 'state' | 'orderStatus' | 'cryptoStatus' | 'fiatStatus'>;

/** Returns a text for people: the statuses, then the state if it is not open. Without statuses, the state alone. */
export function statusName({ state, orderStatus, cryptoStatus, fiatStatus }: PacedOrder): string {
  const statuses = [orderStatus, cryptoStatus, fiatStatus];
  if (state === 'accepted' || statuses.every((status) => status === null)) return state;
  const name = statuses.map((status) => status ?? 'none').join(' / ');
  return state === 'open' ? name : `${name}, ${state}`;
}

export interface Pace {
  /** Returns the time until the next look-up of an order that last changed `sinceChangeMs` ago, in milliseconds. */
  gapMs(order: PacedOrder, sinceChangeMs: number): number;
}

/** The shortest gap that `follow.pace: learned` plans: 5 s, less a tenth. Verifications and rechecks may be closer. */
export const LEAST_GAP_MS = 4_500;

export interface FollowSettings {
  readonly verifyAfter: readonly number[];
  readonly onUnknown: 'hold' | 'resend';
  readonly finalStatuses: readonly string[];
  readonly openStatuses: readonly string[];
  readonly succeededStatuses: readonly string[];
  readonly disputedBy: readonly ContradictionKind[];
  readonly recheckFinalAfter: readonly number[];
  /** An accepted pre-order that no customer takes up is given up after this many ms; undefined for never. */
  readonly giveUpAfter?: number | undefined;
  readonly freshFor: number;
  readonly pace: Pace;
}

export interface LookupDecision extends Decision {
  readonly keepsRecord: boolean;
  readonly turns?: Turns;
  /** Our record, and the received record that was not taken. */
  readonly disagreement?: Difference;
}

export function isFinalRecord(record: RecordView, settings: Pick<FollowSettings, 'finalStatuses' | 'openStatuses'>) {
  const status = record.orderStatus;
  if (settings.finalStatuses.includes(status)) return true;
  if (settings.openStatuses.includes(status)) return false;
  const completed = instant(record.completionDate);
  const server = instant(record.serverDate);
  return completed !== undefined && server !== undefined && completed <= server;
}

/** Returns the outcome of a final order; null if no setting decides the outcome for the order's status. */
export function outcomeOf({ orderStatus }: Pick<RecordView, 'orderStatus'>, settings: FollowSettings) {
  const { succeededStatuses, finalStatuses } = settings;
  if (succeededStatuses.includes(orderStatus)) return 'succeeded';
  const isUnmapped = finalStatuses.length > 0 && !finalStatuses.includes(orderStatus);
  return succeededStatuses.length === 0 || isUnmapped ? null : 'failed';
}
