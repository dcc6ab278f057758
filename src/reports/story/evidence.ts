import type { AccountStop, RestraintView } from '../../domain/accounts/restraints.ts';
import type { RecordView } from '../../domain/record.ts';

/** Everything that the database knows of one order. Times are UTC, ISO 8601. */
export interface StoryEvidence {
  readonly order: StoryOrder;
  readonly events: readonly StoryEvent[];
  /** The newest record, and when it came; its view is undefined if it cannot be read. */
  readonly record: { readonly receivedAt: string; readonly view: StoryRecord | undefined } | null;
  readonly keptAnswers: readonly StoryKeptAnswer[];
  readonly findings: readonly StoryFinding[];
  readonly holds: readonly RestraintView[];
  readonly stop: AccountStop | null;
  readonly pace?: StoryPace | undefined;
}

export interface StoryOrder {
  readonly account: string;
  readonly externalOrderId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly nextActionAt: string | null;
  readonly lastLookupAt: string | null;
  readonly preOrderId: string | null;
  readonly asset: string | null;
  readonly assetPosition: string | null;
  readonly fromCurrency: string | null;
  readonly toCurrency: string | null;
  readonly verifications: number;
  readonly outcome: string | null;
  /** When the row was made for an order that the exchange had already. */
  readonly adoptedAt: string | null;
}

/** A line of `order_events`. */
export interface StoryEvent {
  readonly field: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly observedAt: string;
  readonly exchangeTime: string | null;
  readonly source: string;
  readonly reason: string | null;
  readonly actor: string | null;
}

export type StoryRecord = Pick<
  RecordView,
  'orderId' | 'orderNumber' | 'inputAsset' | 'outputAsset' | 'fromCurrency' | 'toCurrency' | 'ratio' | 'fee'
>;

/** An answer to a create that could not be read or named another pre-order, and the ids that can be seen in it. */
export interface StoryKeptAnswer {
  readonly receivedAt: string;
  readonly httpStatus: number;
  readonly ids: readonly string[];
}

/** A row of `findings`. */
export interface StoryFinding {
  readonly class: string;
  readonly severity: string;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly resolvedAt: string | null;
  readonly changedBy: string | null;
  readonly changedAt: string | null;
  readonly reason: string | null;
}

/** What decides when an order that is followed is looked up; times in milliseconds. */
export type StoryPace = {
  readonly status: string;
  readonly since: string;
} & (
  | { readonly kind: 'every-tick' }
  /** So many stays in the status have ended, half of them within `halfMs`; infinite where it is not known. */
  | { readonly kind: 'learned'; readonly stays: number; readonly halfMs: number }
);
