import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import type { FailOver } from '../../accounts/rules/fail-over.ts';
import type { OrderExchange } from '../../exchange/client.ts';
import type { Config } from '../../settings/config.ts';
import type { Database, Store } from '../../store/port.ts';
import type { CreateGuard } from './guard.ts';
import type { AccountRestraints } from './restraints.ts';
import type { CreatesInFlight } from './in-flight.ts';
import type { RequestLease } from './lease.ts';
import { EVERY_TICK, type FollowPace } from './pace.ts';
import type { ReadProgress, SentIntents } from './sent-intents.ts';
import type { Observers } from './outcomes.ts';

export interface FlowDeps {
  readonly account: string;
  /** The settings of the account. An extension picks its part with `settingsPart.of`. */
  readonly config: object;
  readonly store: Store;
  readonly exchange: OrderExchange;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: ReturnType<typeof flowSettings>;
  readonly restraints: AccountRestraints;
  readonly creates: {
    readonly lease: RequestLease;
    readonly guard: CreateGuard;
    readonly inFlight: CreatesInFlight;
    readonly readProgress: ReadProgress;
    readonly intents: SentIntents;
    /** The fail-over by order id, for orders in doubt whose rows could not be marked yet. */
    readonly unmarked: Map<string, FailOver>;
  };
  readonly observers: Observers;
  /** Aborts when the process has no time left for requests in flight and for results that cannot be written. */
  readonly gracePeriodOver: AbortSignal;
}

export function flowSettings(config: Config, pace: FollowPace = EVERY_TICK) {
  const { create, follow, reconcile, exchange, accounts } = config;
  const { outputPosition } = exchange;
  // While half of the orders wait for answers, the program claims and records the other half.
  const passes = { pace, isOnlyAccount: accounts.length === 1, concurrency: exchange.concurrency * 2 };
  return { ...create, ...follow, ...reconcile, outputPosition, ...passes };
}

/** A pass that looks at each account from time to time, even if no order of the account is due. */
export interface Sweep {
  readonly name: string;
  readonly cron: string | undefined;
  readonly isAtStart: boolean;
  /** True if the sweep asks the exchange. */
  readonly isAsking: boolean;
  accounts(db: Database, names: readonly string[]): Promise<readonly string[]>;
  run(deps: FlowDeps, stop: AbortSignal, since?: Date): Promise<void>;
}

/** Makes a sweep. Its cron is `reconcile.cron`, or stands in the settings of an extension. */
export type SweepMaker = (settings: { readonly reconcile: { readonly cron?: string | undefined } }) => Sweep;
