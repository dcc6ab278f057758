import type { Lane } from '../accounts/rules/restraints.ts';
import type { CreateOutcome } from '../orders/rules/create.ts';
import type { LookupAnswer } from '../orders/rules/lookup.ts';
import type { MerchantOrder } from '../orders/rules/record.ts';
import type { BreakerLane, BreakerState, Health } from './transport/breaker.ts';

export interface OrderLookup {
  readonly answer: LookupAnswer;
  readonly askedAt: Date;
  readonly health: Health;
}

export interface TurnReport {
  /** False if it is proved that nothing left: then the turn does not count against the rate. */
  readonly wasSent: boolean;
  readonly health: Health;
  readonly isRateLimited?: boolean;
}

/** The right to send one request. It must be ended, or disposed of, which is the same. */
export interface Turn extends Disposable {
  readonly lane: Lane;
  /** The sender sets it; a turn in which nothing was sent counts for nothing. */
  report: TurnReport;
  /** The request leaves now, and was sent unless a later report proves that it was not. */
  leave(): void;
  end(): void;
}

/** A lane's circuit breaker; it is open also while the account is restrained. */
export interface BreakerView extends Pick<BreakerState, 'openings' | 'openingsEver' | 'needsProbe' | 'failedProbes'> {
  readonly isOpen: boolean;
  /** The time for which it is still open; 0 when it is closed or half-open. */
  readonly openForMs: number;
}

/** The part of the exchange's client that the passes of orders use. */
export interface OrderExchange {
  /** The order whose look-up was answered last, with any answer. Undefined if that order has failed since. */
  readonly lastAnswered: string | undefined;
  /** A circuit breaker has opened, and no request was answered since. */
  readonly isSilent: boolean;
  breaker(lane: BreakerLane): BreakerView;
  /** The turn of a create: its intent is recorded after its turn has come and before the request leaves. */
  turnToCreate(externalOrderId: string, signal: AbortSignal): Promise<Turn | undefined>;
  /** Sends the pre-order once (§4.9) and ends the turn. Returns the outcome by the outcome rule. Never rejects. */
  createPreOrder(order: MerchantOrder, turn: Turn, isForbiddenAlone?: boolean): Promise<CreateOutcome>;
  /** §4.11, once, in a turn of the look-ups; undefined if none came. */
  lookUpOrder(externalOrderId: string, signal?: AbortSignal, isProbe?: boolean): Promise<OrderLookup | undefined>;
}
