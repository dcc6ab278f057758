import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import type { FailOver } from '../../accounts/rules/fail-over.ts';
import type { CreateSettings } from '../rules/create.ts';
import type { FollowSettings } from '../rules/lookup.ts';
import type { OverdueSettings } from '../../findings/rules/age.ts';
import type { ReconcileSettings } from '../../findings/rules/finding.ts';
import type { OrderExchange } from '../../exchange/client.ts';
import type { Store } from '../../store/port.ts';
import type { CreateGuard } from './guard.ts';
import type { AccountRestraints } from './restraints.ts';
import type { CreatesInFlight } from './in-flight.ts';
import type { RequestLease } from './lease.ts';
import type { FollowPace } from './pace.ts';
import type { SentIntents, Walk } from './sent-intents.ts';
import type { Observers } from './outcomes.ts';

/** The settings of findings; the time after which an order is stuck is learned. */
type FindingSettings = ReconcileSettings & Omit<OverdueSettings, 'stuckAfter'>;

interface PassSettings {
  readonly pace: FollowPace;
  readonly isOnlyAccount: boolean;
  /** Most orders that one pass works on at a time. */
  readonly concurrency: number;
}

/** The part of an account that sends creates alone. */
interface Creates {
  readonly lease: RequestLease;
  readonly guard: CreateGuard;
  readonly inFlight: CreatesInFlight;
  readonly walk: Walk;
  /** The newest creates of this process, in all its accounts. */
  readonly intents: SentIntents;
  /** Orders that a fail-over left in doubt and that are not marked yet, each with that fail-over. */
  readonly unmarked: Map<string, FailOver>;
}

export interface FlowDeps {
  readonly account: string;
  /** The settings of the account. An extension picks its own from them with `settingsPart.of`. */
  readonly config: object;
  readonly store: Store;
  readonly exchange: OrderExchange;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: CreateSettings & FollowSettings & FindingSettings & PassSettings;
  readonly restraints: AccountRestraints;
  readonly creates: Creates;
  readonly observers: Observers;
  /** Aborts when the process has no time left for requests in flight and for results that cannot be written. */
  readonly gracePeriodOver: AbortSignal;
}
