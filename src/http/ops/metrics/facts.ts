import { HOLD_KINDS } from '../../../domain/accounts/holds.ts';
import { instantMs } from '../../../domain/instant.ts';
import { FINDING_CLASSES } from '../../../domain/findings/classes.ts';
import { ORDER_STATES } from '../../../domain/orders/states.ts';
import { BREAKER_LANES } from '../../../exchange/breaker.ts';
import type { Overview } from '../../../reports/status/overview.ts';
import { stalledMsOf } from '../../../reports/status/problems.ts';
import type { Reading } from '../../../reports/status/status.ts';
import type { Disk } from '../readings.ts';
import type { Gauges } from './gauges.ts';
import { OTHERS } from './labels.ts';

/** What the gauges of a process show. */
export interface MetricFacts {
  readonly now: Date;
  /** The accounts that this process owns. */
  readonly owned: readonly string[];
  readonly labelOf: (account: string) => string;
  readonly reading: Reading;
  readonly disk: Disk | undefined;
}

/** Sets the gauges by what is known now. */
export function setGauges(gauges: Gauges, facts: MetricFacts): void {
  const { reading, disk, owned } = facts;
  const { overview, daemon } = reading;
  gauges.set('order_sync_database_up', overview === null ? 0 : 1);
  gauges.set('order_sync_database_unwritten', (daemon?.unwritten ?? null) === null ? 0 : 1);
  gauges.set('order_sync_accounts_owned', owned.length);
  if (overview !== null) setOverview(gauges, facts, overview);
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
  return ms === undefined ? 0 : Math.max(0, now.getTime() - ms) / 1_000;
}

function setLive(gauges: Gauges, { reading, labelOf, now }: MetricFacts): void {
  for (const live of reading.daemon?.accounts ?? []) {
    const account = labelOf(live.account);
    gauges.set('order_sync_requests_in_flight', live.inFlight, { account });
    gauges.set('order_sync_lookups_overdue', live.overdue ?? 0, { account });
    gauges.set('order_sync_stalled_seconds', stalledMsOf(live, now.getTime()) / 1_000, { account });
    if (live.answeredAt !== null) {
      gauges.set('order_sync_last_answer_age_seconds', age(live.answeredAt, now), { account });
    }
    const goodAt = live.passes.flatMap((pass) => pass.goodAt ?? []).toSorted();
    if (goodAt.length > 0) gauges.set('order_sync_pass_age_seconds', age(goodAt.at(-1) ?? null, now), { account });
    for (const lane of live.breakers === null ? [] : BREAKER_LANES) {
      gauges.set('order_sync_breaker_open', live.breakers?.[lane] === 'open' ? 1 : 0, { account, lane });
    }
  }
}
