import { HOLD_KINDS } from '../../../domain/accounts/holds.ts';
import { instantMs } from '../../../domain/instant.ts';
import { FINDING_CLASSES } from '../../../domain/findings/classes.ts';
import { ORDER_STATES } from '../../../domain/orders/states.ts';
import { BREAKER_LANES } from '../../../exchange/breaker.ts';
import type { Activities } from '../../../flows/pass/activity.ts';
import type { Overview } from '../../../reports/status/overview.ts';
import { stalledMsOf } from '../readiness.ts';
import type { Disk } from '../readings.ts';
import type { Gauges } from './gauges.ts';
import { OTHERS } from './labels.ts';

/** What the gauges of a process show. */
export interface MetricFacts {
  readonly now: Date;
  /** The accounts that this process owns. */
  readonly owned: readonly string[];
  readonly activities: Activities;
  readonly labelOf: (account: string) => string;
  /** Undefined where the database cannot be read. */
  readonly overview: Overview | undefined;
  readonly disk: Disk | undefined;
}

/** Sets the gauges by what is known now. */
export function setGauges(gauges: Gauges, facts: MetricFacts): void {
  const { overview, disk, owned } = facts;
  gauges.set('order_sync_database_up', overview === undefined ? 0 : 1);
  gauges.set('order_sync_accounts_owned', owned.length);
  if (overview !== undefined) setOverview(gauges, facts, overview);
  setLive(gauges, facts);
  if (disk === undefined) return;
  const { freeBytes, databaseBytes, walBytes } = disk;
  gauges.set('order_sync_disk_free_bytes', freeBytes);
  if (databaseBytes !== undefined) gauges.set('order_sync_database_bytes', databaseBytes);
  if (walBytes !== undefined) gauges.set('order_sync_database_wal_bytes', walBytes);
}

function setOverview(gauges: Gauges, { labelOf, owned, now }: MetricFacts, overview: Overview): void {
  for (const name of owned) {
    const account = labelOf(name);
    for (const state of ORDER_STATES) gauges.set('order_sync_orders', 0, { account, state });
    for (const found of Object.keys(FINDING_CLASSES)) {
      gauges.set('order_sync_findings', 0, { account, ...findingLabels(found) });
    }
    for (const kind of HOLD_KINDS) gauges.set('order_sync_holds', 0, { account, kind });
    gauges.set('order_sync_exchange_out_of_reach', 0, { account });
    gauges.set('order_sync_account_stopped', 0, { account });
  }
  for (const { account: name, orders, findings } of overview.accounts) {
    const account = labelOf(name);
    for (const [state, count] of Object.entries(orders)) gauges.set('order_sync_orders', count, { account, state });
    for (const [found, count] of Object.entries(findings)) {
      gauges.set('order_sync_findings', count, { account, ...findingLabels(found) });
    }
  }
  for (const { account, kind } of overview.holds)
    gauges.set('order_sync_holds', 1, { account: labelOf(account), kind });
  for (const { account } of overview.outOfReach) {
    gauges.set('order_sync_exchange_out_of_reach', 1, { account: labelOf(account) });
  }
  for (const { account } of overview.stopped)
    gauges.set('order_sync_account_stopped', 1, { account: labelOf(account) });
  gauges.set('order_sync_oldest_pending_age_seconds', age(overview.oldestPending?.since ?? null, now));
  gauges.set('order_sync_oldest_unknown_age_seconds', age(overview.oldestUnknown?.since ?? null, now));
  setReceivers(gauges, overview, now);
}

/** Classes of other versions are counted together. */
function findingLabels(name: string): { readonly class: string; readonly severity: string } {
  if (!Object.hasOwn(FINDING_CLASSES, name)) return { class: OTHERS, severity: 'warning' };
  return { class: name, severity: FINDING_CLASSES[name as keyof typeof FINDING_CLASSES].severity };
}

function setReceivers(gauges: Gauges, { receivers }: Overview, now: Date): void {
  for (const { name: endpoint, oldestWaiting, failingSince, parked, deadLetters } of receivers) {
    gauges.set('order_sync_webhook_lag_seconds', age(oldestWaiting, now), { endpoint });
    gauges.set('order_sync_webhook_failing_seconds', age(failingSince, now), { endpoint });
    gauges.set('order_sync_webhook_parked', parked, { endpoint });
    gauges.set('order_sync_webhook_dead_letters', deadLetters, { endpoint });
  }
}

/** Seconds since a time; 0 where there is none. */
function age(since: string | null, now: Date): number {
  const ms = instantMs(since);
  return ms === undefined ? 0 : secondsSince(new Date(ms), now);
}

function setLive(gauges: Gauges, { activities, labelOf, now }: MetricFacts): void {
  for (const activity of activities.all) {
    const account = labelOf(activity.account);
    gauges.set('order_sync_requests_in_flight', activity.inFlight, { account });
    gauges.set('order_sync_lookups_overdue', activity.overdue?.orders ?? 0, { account });
    gauges.set('order_sync_stalled_seconds', stalledMsOf(activity, now) / 1_000, { account });
    if (activity.answeredAt !== undefined) {
      gauges.set('order_sync_last_answer_age_seconds', secondsSince(activity.answeredAt, now), { account });
    }
    const goodAt = [...activity.passes.values()].flatMap((pass) => pass.goodAt?.getTime() ?? []);
    if (goodAt.length > 0) {
      gauges.set('order_sync_pass_age_seconds', secondsSince(new Date(Math.max(...goodAt)), now), { account });
    }
    for (const lane of activity.live === undefined ? [] : BREAKER_LANES) {
      const isOpen = activity.live?.exchange.breaker(lane).isOpen === true;
      gauges.set('order_sync_breaker_open', isOpen ? 1 : 0, { account, lane });
    }
  }
}

function secondsSince(at: Date, now: Date): number {
  return Math.max(0, now.getTime() - at.getTime()) / 1_000;
}
