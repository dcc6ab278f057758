import type { Row } from '../../documents/document.ts';
import type { MoneyGroup } from '../../reports/reconciliation/money.ts';
import type { Problem } from '../../../accounts/problem.ts';
import type { OverdueStatus, Overview, RateUse, Times } from '../status/status.ts';

/** What a dashboard shows, read at one moment. Times are UTC, ISO 8601; a list that is cut says so. */
export interface DashboardFacts {
  readonly at: string;
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  /** The accounts that may be chosen, the first ones of many. */
  readonly accounts: readonly string[];
  readonly overview: Overview;
  readonly problems: readonly Problem[];
  /** Rows of `findings`: the gravest open ones, the first of many. */
  readonly newestFindings: readonly Row[];
  /** Null if this process owns none of the accounts: then it is not known here. */
  readonly exchange: ExchangeFacts | null;
  readonly database: { readonly bytes: number | null; readonly readMs: number };
  /** Null if too many accounts are shown to add it up. */
  readonly activity: ActivityFacts | null;
}

export interface ExchangeFacts {
  readonly lastAnswerAt: string | null;
  readonly inFlight: number;
  readonly rate: RateUse;
  /** Since the process began. */
  readonly operations: readonly OperationFacts[];
  readonly detection: Times;
  readonly overdue: OverdueStatus | null;
}

export interface OperationFacts extends Times {
  readonly operation: string;
  readonly failed: number;
}

export interface ActivityFacts {
  readonly hours: Hours;
  readonly money: readonly MoneyPeriod[];
  readonly ageing: Ageing;
}

export const MOVES = ['inserted', 'accepted', 'final'] as const;

/** Orders by the hour of today, UTC: `inserted[13]` came between 13:00 and 14:00. */
export interface Hours extends Readonly<Record<(typeof MOVES)[number], readonly number[]>> {
  readonly day: string;
  /** Before this time not everything was counted, as there is too much; null if all of the day is. */
  readonly since: string | null;
}

export interface MoneyPeriod {
  readonly title: string;
  readonly parts: readonly MoneyGroup[];
  /** Only the newest orders were added up, those since this time. */
  readonly cutAt: string | null;
}

interface Ageing {
  readonly rows: readonly { readonly state: string; readonly orders: readonly number[] }[];
  /** Not all orders were looked at, as there are too many. */
  readonly isCut: boolean;
}

/** The ends of the classes of ages, in milliseconds; the last class has none. */
export const AGE_LIMITS_MS = [60_000, 600_000, 3_600_000, 86_400_000, 7 * 86_400_000] as const;
