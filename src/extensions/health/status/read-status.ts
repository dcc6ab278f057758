import { viewOf } from '../../../accounts/rules/restraints.ts';
import type { Clock } from '../../../base/clock.ts';
import { keyPlaceByAccount, type Config } from '../../../settings/config.ts';
import { settingsFile } from '../../../settings/layers.ts';
import type { BreakerLane } from '../../../exchange/transport/breaker.ts';
import type { Overview, DaemonStatus, LiveStatus, Status } from './status.ts';
import { overviewFor } from '../tables/overview.ts';
import type { Store } from '../../../store/port.ts';
import { MOST_LISTED } from '../../commands/problem.ts';
import { askedOf, lookupFacts, type Activities, type Activity } from '../activity.ts';

export interface ReadingSources {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly activities: Activities;
  readonly accounts: { readonly names: readonly string[] };
}

export interface StatusSources extends ReadingSources {
  readonly process: Pick<DaemonStatus, 'pid' | 'version' | 'startedAt'>;
  readonly ops: { readonly failure?: string | undefined };
}

export async function readStatus(sources: StatusSources, account: string | undefined): Promise<Status> {
  const { store, clock, config, activities, accounts, process, ops } = sources;
  const overview = await overviewFor(store.db, config, account, clock.now());
  const reading = readingOf(sources, account, overview);
  return {
    ...reading,
    database: store.address,
    overview: reading.overview ?? overview,
    daemon: {
      ...process,
      ...reading.daemon,
      accounts: reading.daemon.accounts.slice(0, MOST_LISTED),
      opsFailure: ops.failure ?? null,
      owned: accounts.names.length,
      driven: [...activities.all].filter(({ live }) => live !== undefined).length,
      ...lookupFacts(activities, config, account),
    },
  };
}

export function readingOf(sources: ReadingSources, account: string | undefined, overview: Overview | null) {
  const { config, store, clock, activities, accounts } = sources;
  const asked = askedOf(activities, account);
  const owned = new Set(accounts.names);
  const live = gravestFirst(asked.map((activity) => liveStatus(activity, clock.now(), owned.has(activity.account))));
  const unwritten = live.find((one) => one.unwritten !== undefined)?.unwritten;
  const { file } = config;
  return {
    asOf: clock.now().toISOString(),
    daemon: {
      unwritten: unwritten ?? (store.writer.failure ?? activities.lease?.failure)?.message ?? null,
      opsFailure: null,
      changedSettings: file === null || settingsFile(file.path).changedAt === file.changedAt ? undefined : file.path,
      accounts: live,
    },
    driver: null,
    olderState: null,
    databaseAheadMs: clock.databaseAheadMs ?? null,
    keyPlaceOf: keyPlaceByAccount(config),
    overview: overview && {
      ...overview,
      holds: [...overview.holds, ...unwrittenHolds(asked, overview)],
      // The database has only the first cause of an outage; this process has the newest.
      outOfReach: overview.outOfReach.map(({ reason, ...lost }) => {
        return { ...lost, reason: activities.find(lost.account)?.failure ?? reason };
      }),
    },
  };
}

/** Accounts with problems come first, then accounts whose passes wait longest, because `readStatus` cuts the list. */
function gravestFirst(accounts: readonly LiveStatus[]): LiveStatus[] {
  const keyed = accounts.map((one) => {
    const [waitsSince = '~'] = one.passes.flatMap(({ wantedSince }) => wantedSince ?? []).toSorted();
    const troubles = [one.unwritten !== undefined, !one.isTrusted, one.keptBack.length > 0, true];
    return { one, key: `${troubles.indexOf(true)} ${waitsSince} ${one.isDriven ? 0 : 1}` };
  });
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ one }) => one);
}

function unwrittenHolds(activities: readonly Activity[], { holds }: Overview): Overview['holds'] {
  const known = new Set(holds.filter(({ kind }) => kind === 'key-refused').map(({ account }) => account));
  return activities.flatMap(({ account, live }) => {
    const refused = known.has(account) ? [] : (live?.restraints.all.filter(({ kind }) => kind === 'key-refused') ?? []);
    return refused.map((hold) => ({ account, ...viewOf(hold) }));
  });
}

function liveStatus(activity: Activity, now: Date, isOwned: boolean): LiveStatus {
  const { account, live, inFlight, answeredAt, passes, unwritten } = activity;
  const untried = live?.restraints.keyUntriedSince;
  const breakerOf = (lane: BreakerLane) => {
    const breaker = live?.exchange.breaker(lane);
    if (breaker === undefined || (!breaker.isOpen && breaker.openings === 0)) return 'closed';
    return breaker.isOpen ? 'open' : 'half-open';
  };
  return {
    account,
    isDriven: live !== undefined,
    inFlight,
    answeredAt,
    isTrusted: live?.accountLease.isTrusted() ?? true,
    ...(isOwned && unwritten !== undefined && { unwritten }),
    ...(untried !== undefined && { keyUntriedSince: untried.toISOString() }),
    overdue: activity.overdue?.orders ?? 0,
    keptBack: activity.keptBack(now),
    breakers: live === undefined ? null : { create: breakerOf('create'), lookup: breakerOf('lookup') },
    passes: [...passes].map(([pass, times]) => ({ pass, ...times })),
  };
}
