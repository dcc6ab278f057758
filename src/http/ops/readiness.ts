import { describeStop, stopRemedy } from '../../domain/accounts/stops.ts';
import { accountWords } from '../../domain/accounts/words.ts';
import { readinessChecks, type AccountReadiness, type ReadinessCheck } from '../../domain/accounts/readiness.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { Activities, Activity } from '../../flows/pass/activity.ts';
import type { Overview } from '../../reports/status/overview.ts';
import type { Store } from '../../store/port.ts';
import type { Readings } from './readings.ts';

/** What tells whether a process does its work. */
export interface ReadinessSources {
  readonly config: Pick<Config, 'database'>;
  readonly store: Pick<Store, 'migrations' | 'writer'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The names of the accounts that this process owns. */
  readonly accounts: { readonly names: readonly string[] };
  readonly activities: Activities;
  readonly readings: Readings;
}

/** Checks whether the process does its work. Never rejects. */
export async function checkReadiness(
  { config, store, clock, accounts, activities, readings }: ReadinessSources,
  isStopping: boolean,
): Promise<readonly ReadinessCheck[]> {
  const { value: overview, failure } = await readings.overview();
  const { pending } = failure === undefined ? await store.migrations().catch(() => ({ pending: [] })) : { pending: [] };
  const { value: disk } = await readings.disk();
  const { names: owned } = accounts;
  return readinessChecks({
    isStopping,
    databaseFailure: failure,
    unwritten: store.writer.failure?.message,
    otherMigrations: pending,
    owned: owned.length,
    isShared: config.database.kind === 'postgres',
    accounts: overview === undefined ? [] : readinessOf(owned, activities, overview, clock.now()),
    freeBytes: disk?.freeBytes,
  });
}

function readinessOf(
  names: readonly string[],
  activities: Activities,
  overview: Overview,
  now: Date,
): readonly AccountReadiness[] {
  const isOfKey = ({ kind }: { readonly kind: string }) => kind === 'key-refused';
  // What an account that rests has left stands in the database.
  const refused = new Set(overview.holds.filter(isOfKey).map(({ account }) => account));
  const lost = new Map(overview.outOfReach.map((one) => [one.account, one.reason ?? `since ${one.since}`]));
  const stopped = new Map(
    overview.stopped.map((one) => [
      one.account,
      `${describeStop(one)}; ${stopRemedy(one.kind, accountWords(one.account))}`,
    ]),
  );
  return names.map((account) => {
    const activity = activities.find(account);
    const { live } = activity ?? {};
    return {
      account,
      isTrusted: live?.holding.isTrusted() ?? true,
      isKeyRefused: live?.holds.all.some(isOfKey) ?? refused.has(account),
      stopped: stopped.get(account),
      outOfReach: lost.get(account),
      stalledMs: activity === undefined ? 0 : stalledMsOf(activity, now),
    };
  });
}

/** The time for which there has been work for a pass, none has ended well and no request was answered. */
export function stalledMsOf({ passes, answeredAt }: Activity, now: Date): number {
  const waits = [...passes.values()].flatMap(({ wantedSince, goodAt }) => {
    if (wantedSince === undefined) return [];
    const moved = Math.max(wantedSince.getTime(), goodAt?.getTime() ?? 0, answeredAt?.getTime() ?? 0);
    return [now.getTime() - moved];
  });
  return Math.max(0, ...waits);
}
