import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import type { Clock } from '../../../clock.ts';
import type { Config } from '../../../config/config.ts';
import { RESTRAINT_KINDS } from '../../../domain/accounts/restraints.ts';
import { FINDING_CLASSES } from '../../../domain/findings/classes.ts';
import { instantMs } from '../../../domain/instant.ts';
import { ORDER_STATES } from '../../../domain/orders/states.ts';
import { BREAKER_LANES } from '../../../exchange/breaker.ts';
import type { Activities } from '../../../flows/pass/activity.ts';
import { readingOf, type ReadingSources } from '../../../flows/reports/status.ts';
import { stalledMsOf } from '../../../reports/status/problems.ts';
import type { Overview, Reading } from '../../../reports/status/status.ts';
import { shared, type Disk, type OpsPages } from '../readings.ts';
import { Gauges, liveMetrics } from './families.ts';

/** The event loop is looked at each so many ms: each look wakes the process. */
const LOOP_RESOLUTION_MS = 100;
const PERCENTILES = [50, 99, 100];
/** The accounts beyond these are counted together. */
const MOST_ACCOUNTS = 50;
const OTHERS = 'other';

interface MetricSources extends ReadingSources, Pick<OpsPages, 'readings'> {
  readonly config: Pick<Config, 'accounts' | 'database'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'databaseAheadMs'>;
  readonly activities: Activities;
  readonly version: string;
}

export interface Metrics extends Disposable {
  readonly contentType: string;
  /** In the text format of Prometheus: read at most once a second, whoever asks. */
  text(): Promise<string>;
}

export function startMetrics(sources: MetricSources): Metrics {
  const { config, clock, accounts, activities, readings, version } = sources;
  const registry = new Registry();
  // The first accounts of the settings by their names, all others together.
  const known = new Set(config.accounts.slice(0, MOST_ACCOUNTS).map(({ name }) => name));
  const labelOf = (account: string) => (known.has(account) ? account : OTHERS);
  activities.listen(liveMetrics(registry, labelOf));
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  const text = shared(clock, async () => {
    const gauges = new Gauges();
    gauges.set('order_sync_build_info', 1, { version, node: process.version });
    const { value: overview = null } = await readings.overview();
    const { value: disk } = await readings.disk();
    const reading = readingOf(sources, undefined, overview);
    setGauges(gauges, { now: clock.now(), owned: accounts.names, labelOf, reading, disk });
    for (const percentile of PERCENTILES) {
      // What is measured is the time between two looks.
      const delayMs = Math.max(0, loop.percentile(percentile) / 1e6 - LOOP_RESOLUTION_MS);
      gauges.set('order_sync_event_loop_delay_seconds', delayMs / 1_000, { percentile: String(percentile) });
    }
    loop.reset();
    gauges.set('process_resident_memory_bytes', process.memoryUsage.rss());
    return `${await gauges.text()}\n${await registry.metrics()}`;
  });
  return { contentType: registry.contentType, text, [Symbol.dispose]: () => void loop.disable() };
}

interface MetricFacts {
  readonly now: Date;
  readonly owned: readonly string[];
  readonly labelOf: (account: string) => string;
  readonly reading: Reading;
  readonly disk: Disk | undefined;
}

function setGauges(gauges: Gauges, facts: MetricFacts): void {
  const { reading, disk, owned } = facts;
  const { overview, daemon } = reading;
  gauges.set('order_sync_database_up', overview === null ? 0 : 1);
  gauges.set('order_sync_database_unwritten', (daemon?.unwritten ?? null) === null ? 0 : 1);
  gauges.set('order_sync_accounts_owned', owned.length);
  if (overview !== null) {
    setZeros(gauges, facts);
    setOverview(gauges, facts, overview);
  }
  setLive(gauges, facts);
  if (disk === undefined) return;
  const { freeBytes, databaseBytes, walBytes } = disk;
  gauges.set('order_sync_disk_free_bytes', freeBytes);
  if (databaseBytes !== undefined) gauges.set('order_sync_database_bytes', databaseBytes);
  if (walBytes !== undefined) gauges.set('order_sync_database_wal_bytes', walBytes);
}

/** Sets what an account may have to none, so that a series is there before its first number. */
function setZeros(gauges: Gauges, { labelOf, owned }: MetricFacts): void {
  for (const account of owned.map(labelOf)) {
    for (const state of ORDER_STATES) gauges.set('order_sync_orders', 0, { account, state });
    for (const found of Object.keys(FINDING_CLASSES)) {
      gauges.set('order_sync_findings', 0, { account, ...findingLabels(found) });
    }
    for (const kind of RESTRAINT_KINDS) gauges.set('order_sync_holds', 0, { account, kind });
    gauges.set('order_sync_exchange_out_of_reach', 0, { account });
    gauges.set('order_sync_account_stopped', 0, { account });
  }
}

function setOverview(gauges: Gauges, { labelOf, now }: MetricFacts, overview: Overview): void {
  const { accounts, holds, outOfReach, stopped, oldestPending, oldestUnknown, receivers } = overview;
  for (const { account: name, orders, findings } of accounts) {
    const account = labelOf(name);
    for (const [state, count] of Object.entries(orders)) gauges.set('order_sync_orders', count, { account, state });
    for (const [found, count] of Object.entries(findings)) {
      gauges.set('order_sync_findings', count, { account, ...findingLabels(found) });
    }
  }
  const labels = ({ account }: { readonly account: string }) => ({ account: labelOf(account) });
  for (const hold of holds) gauges.set('order_sync_holds', 1, { ...labels(hold), kind: hold.kind });
  for (const lost of outOfReach) gauges.set('order_sync_exchange_out_of_reach', 1, labels(lost));
  for (const stop of stopped) gauges.set('order_sync_account_stopped', 1, labels(stop));
  gauges.set('order_sync_oldest_pending_age_seconds', age(oldestPending?.since, now));
  gauges.set('order_sync_oldest_unknown_age_seconds', age(oldestUnknown?.since, now));
  for (const { name: endpoint, oldestWaiting, failingSince, parked, deadLetters } of receivers) {
    gauges.set('order_sync_webhook_lag_seconds', age(oldestWaiting, now), { endpoint });
    gauges.set('order_sync_webhook_failing_seconds', age(failingSince, now), { endpoint });
    gauges.set('order_sync_webhook_parked', parked, { endpoint });
    gauges.set('order_sync_webhook_dead_letters', deadLetters, { endpoint });
  }
}

/** Classes of other versions are counted together. */
function findingLabels(name: string): { readonly class: string; readonly severity: string } {
  if (!Object.hasOwn(FINDING_CLASSES, name)) return { class: OTHERS, severity: 'warning' };
  return { class: name, severity: FINDING_CLASSES[name as keyof typeof FINDING_CLASSES].severity };
}

function age(since: string | null | undefined, now: Date): number {
  const ms = instantMs(since ?? null);
  return ms === undefined ? 0 : Math.max(0, now.getTime() - ms) / 1_000;
}

function setLive(gauges: Gauges, { reading, labelOf, now }: MetricFacts): void {
  for (const live of reading.daemon?.accounts ?? []) {
    const account = labelOf(live.account);
    gauges.set('order_sync_requests_in_flight', live.inFlight, { account });
    gauges.set('order_sync_lookups_overdue', live.overdue, { account });
    gauges.set('order_sync_stalled_seconds', stalledMsOf(live, now.getTime()) / 1_000, { account });
    if (live.answeredAt !== null) {
      gauges.set('order_sync_last_answer_age_seconds', age(live.answeredAt, now), { account });
    }
    const goodAt = live.passes.flatMap((pass) => pass.goodAt ?? []).toSorted();
    if (goodAt.length > 0) gauges.set('order_sync_pass_age_seconds', age(goodAt.at(-1), now), { account });
    for (const lane of live.breakers === null ? [] : BREAKER_LANES) {
      gauges.set('order_sync_breaker_open', live.breakers?.[lane] === 'open' ? 1 : 0, { account, lane });
    }
  }
}
