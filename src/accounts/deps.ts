import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Connect } from '../exchange/transport.ts';
import type { Activities } from '../flows/pass/activity.ts';
import type { Patience } from '../flows/pass/patience.ts';
import type { Store } from '../store/port.ts';
import type { PassesOf } from './driven-account.ts';

/** What the accounts of a process are driven with. */
export interface AccountsDeps {
  readonly config: Config;
  /** The database, for any account. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly patience: Patience;
  /** What watches them. */
  readonly activities: Activities;
  readonly connect?: Connect | undefined;
  readonly passesOf: PassesOf;
  /** The last tick of `schedule.cron`. */
  readonly tickedAt: () => Date;
  readonly stop: AbortSignal;
  /** The process cannot go on. */
  readonly onFailure: (error: unknown) => void;
}
