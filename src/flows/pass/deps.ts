import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { FailOver } from '../../domain/accounts/fail-over.ts';
import type { CreateSettings } from '../../domain/orders/create.ts';
import type { FollowSettings } from '../../domain/orders/lookup.ts';
import type { OverdueSettings } from '../../domain/findings/age.ts';
import type { ReconcileSettings } from '../../domain/findings/finding.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import type { Store } from '../../store/port.ts';
import type { Activity } from './activity.ts';
import type { FollowPace } from './follow-pace.ts';
import type { CreateGuard } from './guard.ts';
import type { AccountRestraints } from './restraints.ts';
import type { Incidents } from './incidents.ts';
import type { CreatesInFlight } from './in-flight.ts';
import type { RequestLease } from './lease.ts';
import type { SentIntents, Walk } from './sent-intents.ts';
import type { Counters } from './counters.ts';

/** The settings of findings; the time after which an order is stuck is learned. */
type FindingSettings = ReconcileSettings & Omit<OverdueSettings, 'stuckAfter'>;

interface FlowFacts {
  readonly pace: FollowPace;
  readonly isOnlyAccount: boolean;
}

export interface FlowDeps {
  readonly account: string;
  readonly store: Store;
  readonly exchange: ExchangeClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** What fails for a while, or again and again: it is not logged at each request. */
  readonly incidents: Incidents;
  readonly settings: CreateSettings & FollowSettings & FindingSettings & FlowFacts;
  readonly links: { readonly finalStatuses: readonly string[] };
  readonly photos: Config['photos'];
  /** Most orders that one pass works on at a time. */
  readonly concurrency: number;
  readonly lease: RequestLease;
  readonly holds: AccountRestraints;
  readonly guard: CreateGuard;
  readonly inFlight: CreatesInFlight;
  readonly walk: Walk;
  /** The newest creates of this process, in all its accounts. */
  readonly intents: SentIntents;
  /** Orders that a fail-over left in doubt and that are not marked yet, each with that fail-over. */
  readonly unmarked: Map<string, FailOver>;
  readonly counters: Counters;
  readonly activity: Activity;
  /** Aborts when the process has no time left for requests in flight and for results that cannot be written. */
  readonly gracePeriodOver: AbortSignal;
}
