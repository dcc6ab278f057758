import type { FeedEvent } from '../../feed/event.ts';
import type { MoneyGroup } from '../../reports/reconciliation/money.ts';
import type { Problem } from '../../../accounts/problem.ts';
import type { LookupFacts, Overview } from '../status/status.ts';
import type { Concerned } from '../tables/at-stake.ts';

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

/** The periods that a person may choose, and their steps. `digits`: how many characters of a time tell steps apart. */
export const RANGES = {
  '1h': { name: 'hour', label: '1 hour', steps: 12, stepMs: 5 * MINUTE_MS, step: '5 minutes', digits: 16 },
  '24h': { name: '24 hours', label: '24 hours', steps: 24, stepMs: HOUR_MS, step: 'hour', digits: 13 },
  '7d': { name: '7 days', label: '7 days', steps: 28, stepMs: 6 * HOUR_MS, step: '6 hours', digits: 13 },
} as const;
export type RangeName = keyof typeof RANGES;

/** The facts of a dashboard, read at one moment. Times are UTC, ISO 8601; a list that is cut says so. */
export interface DashboardFacts {
  readonly at: string;
  readonly account: string | undefined;
  readonly accounts: readonly string[];
  readonly range: RangeName;
  readonly program: ProgramFacts;
  readonly overview: Overview;
  readonly troubles: readonly Trouble[];
  readonly newest: readonly FeedEvent[];
  /** Null if this process owns none of the accounts, and so knows nothing of their exchange. */
  readonly exchange: (LookupFacts & { readonly lastAnswerAt: string | null; readonly inFlight: number }) | null;
  readonly database: { readonly bytes: number | null; readonly readMs: number };
  readonly activity: ActivityFacts | null;
}

export interface ProgramFacts {
  readonly version: string;
  readonly startedAt: string;
  /** The kind of exchange at which the orders are made, such as `sandbox`. */
  readonly exchange: string;
}

export interface Trouble extends Problem {
  readonly concerned: Concerned | undefined;
  readonly count: number;
  readonly stake?: Stake | undefined;
  readonly advice?: string | undefined;
}

export interface Stake {
  readonly amounts: readonly { readonly currency: string; readonly amount: string }[];
  readonly isCut: boolean;
}

export const MOVES = ['inserted', 'accepted', 'final'] as const;

export interface ActivityFacts {
  readonly starts: readonly string[];
  readonly moves: Readonly<Record<(typeof MOVES)[number], readonly number[]>>;
  /** Since when moves are counted if there are too many; null if all are counted. */
  readonly movesSince: string | null;
  readonly money: readonly MoneyGroup[];
  readonly moneySince: string | null;
}
