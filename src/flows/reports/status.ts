import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { BreakerLane } from '../../exchange/breaker.ts';
import type { DaemonStatus, LiveStatus, Status } from '../../reports/status/status.ts';
import { readOverview } from '../../store/overview/overview.ts';
import type { Store } from '../../store/port.ts';
import { overdueOf, type Activities, type Activity } from '../pass/activity.ts';
import { timesOf } from '../pass/newest-times.ts';
import { rateUse } from '../pass/rate-use.ts';

/** Of more accounts that are driven only the first are told of one by one. */
const MOST_ACCOUNTS = 100;

/** What the status of a daemon is made from. */
export interface StatusSources {
  readonly config: Pick<Config, 'accounts' | 'exchange' | 'webhooks'>;
  readonly store: Pick<Store, 'db' | 'address' | 'writer'>;
  readonly clock: Pick<Clock, 'now' | 'databaseAheadMs'>;
  readonly activities: Pick<Activities, 'all' | 'find'>;
  /** The accounts that this process owns. */
  readonly names: readonly string[];
  readonly process: Pick<DaemonStatus, 'pid' | 'version' | 'startedAt'>;
  readonly ops: { readonly failure: string | undefined };
}

/** Reads how an account does, or all of them where none is named. */
export async function readStatus(sources: StatusSources, account: string | undefined): Promise<Status> {
  const { store, clock, config } = sources;
  const { endpoints } = config.webhooks;
  const now = clock.now();
  return {
    asOf: now.toISOString(),
    database: store.address,
    daemon: daemonStatus(sources, account),
    driver: null,
    olderState: null,
    databaseAheadMs: clock.databaseAheadMs ?? null,
    overview: await readOverview(store.db, { account, endpoints, now }),
  };
}

function daemonStatus(
  { config, store, activities, names, process, ops }: StatusSources,
  account: string | undefined,
): DaemonStatus {
  const known = [...activities.all];
  const asked = account === undefined ? known : known.filter((one) => one.account === account);
  // Those that work first: of the others nothing is new.
  const sorted = asked.toSorted((one, other) => Number(isDriven(other)) - Number(isDriven(one)));
  return {
    ...process,
    owned: names.length,
    driven: known.filter(isDriven).length,
    rate: rateUse(activities, config, account),
    unwritten: store.writer.failure?.message ?? null,
    opsFailure: ops.failure ?? null,
    seenLate: timesOf(asked.map(({ seenLate }) => seenLate)),
    overdue: overdueOf(asked),
    accounts: sorted.slice(0, MOST_ACCOUNTS).map(liveStatus),
  };
}

function isDriven({ live }: Activity): boolean {
  return live !== undefined;
}

function liveStatus(activity: Activity): LiveStatus {
  const { account, live, inFlight, answeredAt, passes } = activity;
  const breakerOf = (lane: BreakerLane) => {
    const breaker = live?.exchange.breaker(lane);
    if (breaker === undefined || (!breaker.isOpen && breaker.openings === 0)) return 'closed';
    return breaker.isOpen ? 'open' : 'half-open';
  };
  return {
    account,
    isDriven: isDriven(activity),
    inFlight,
    answeredAt: textOf(answeredAt),
    breakers: live === undefined ? null : { create: breakerOf('create'), lookup: breakerOf('lookup') },
    passes: [...passes].map(([pass, { wantedSince, runningSince, goodAt }]) => ({
      pass,
      wantedSince: textOf(wantedSince),
      runningSince: textOf(runningSince),
      goodAt: textOf(goodAt),
    })),
  };
}

function textOf(time: Date | undefined): string | null {
  return time?.toISOString() ?? null;
}
