import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry, Counter, Gauge, Histogram } from 'prom-client';
import { RESTRAINT_KINDS } from '../../../accounts/rules/restraints.ts';
import { FINDING_CLASSES, severityOf } from '../../../findings/rules/classes.ts';
import { instantMs } from '../../../base/instant.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';
import { BREAKER_LANES } from '../../../exchange/transport/breaker.ts';
import type { ProcessListener } from '../activity.ts';
import { readingOf } from '../status/read-status.ts';
import { stalledMsOf } from '../status/problems.ts';
import { newestOf, type LiveStatus, type Overview } from '../status/status.ts';
import { shared, type OpsPages } from './readings.ts';

/** ms between two samples of the event loop. The time is long, because each sample wakes the process. */
const LOOP_RESOLUTION_MS = 100;
const MOST_ACCOUNTS = 50;
const OTHERS = 'other';

export type Metrics = ReturnType<typeof startMetrics>;

export function startMetrics(sources: OpsPages) {
  const { config, clock, accounts, activities, readings, version } = sources;
  const registry = new Registry();
  const known = new Set(config.accounts.slice(0, MOST_ACCOUNTS).map(({ name }) => name));
  const labelOf = (account: string) => (known.has(account) ? account : OTHERS);
  activities.listen(liveMetrics(registry, labelOf));
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  const text = shared(clock, async () => {
    const read = await readings.overview();
    const disk = await readings.disk();
    const { overview, daemon } = readingOf(sources, undefined, read.overview);
    const gauges = new Gauges(clock.now(), labelOf);
    gauges.set('order_sync_build_info', 1, { version, node: process.version });
    gauges.set('order_sync_database_up', overview === null ? 0 : 1);
    gauges.set('order_sync_database_unwritten', daemon.unwritten === null ? 0 : 1);
    gauges.set('order_sync_accounts_owned', accounts.names.length);
    if (overview !== null) {
      for (const account of accounts.names) setZeros(gauges, account);
      setOverview(gauges, overview);
    }
    for (const live of daemon.accounts) setLive(gauges, live);
    gauges.set('order_sync_disk_free_bytes', disk?.freeBytes);
    gauges.set('order_sync_database_bytes', disk?.databaseBytes);
    gauges.set('order_sync_database_wal_bytes', disk?.walBytes);
    for (const percentile of [50, 99, 100]) {
      // The histogram has the time between two samples, so the resolution is subtracted.
      const delayMs = Math.max(0, loop.percentile(percentile) / 1e6 - LOOP_RESOLUTION_MS);
      gauges.set('order_sync_event_loop_delay_seconds', delayMs / 1_000, { percentile: String(percentile) });
    }
    loop.reset();
    gauges.set('process_resident_memory_bytes', process.memoryUsage.rss());
    return `${await gauges.text()}\n${await registry.metrics()}`;
  });
  return { contentType: registry.contentType, text, [Symbol.dispose]: () => void loop.disable() };
}

function setZeros(gauges: Gauges, account: string): void {
  for (const state of ORDER_STATES) gauges.set('order_sync_orders', 0, { account, state });
  for (const name of Object.keys(FINDING_CLASSES)) {
    gauges.set('order_sync_findings', 0, { account, ...findingLabels(name) });
  }
  for (const kind of RESTRAINT_KINDS) gauges.set('order_sync_holds', 0, { account, kind });
  gauges.set('order_sync_exchange_out_of_reach', 0, { account });
  gauges.set('order_sync_account_stopped', 0, { account });
}

function setOverview(gauges: Gauges, overview: Overview): void {
  const { accounts, holds, outOfReach, stopped, oldestPending, oldestUnknown, receivers } = overview;
  for (const { account, orders, findings } of accounts) {
    for (const [state, count] of Object.entries(orders)) gauges.set('order_sync_orders', count, { account, state });
    for (const [name, count] of Object.entries(findings)) {
      gauges.set('order_sync_findings', count, { account, ...findingLabels(name) });
    }
  }
  for (const { account, kind } of holds) gauges.set('order_sync_holds', 1, { account, kind });
  for (const { account } of outOfReach) gauges.set('order_sync_exchange_out_of_reach', 1, { account });
  for (const { account } of stopped) gauges.set('order_sync_account_stopped', 1, { account });
  gauges.set('order_sync_oldest_pending_age_seconds', gauges.ageOf(oldestPending?.since) ?? 0);
  gauges.set('order_sync_oldest_unknown_age_seconds', gauges.ageOf(oldestUnknown?.since) ?? 0);
  for (const { name: endpoint, oldestWaiting, failingSince, parked, deadLetters } of receivers) {
    gauges.set('order_sync_webhook_lag_seconds', gauges.ageOf(oldestWaiting) ?? 0, { endpoint });
    gauges.set('order_sync_webhook_failing_seconds', gauges.ageOf(failingSince) ?? 0, { endpoint });
    gauges.set('order_sync_webhook_parked', parked, { endpoint });
    gauges.set('order_sync_webhook_dead_letters', deadLetters, { endpoint });
  }
}

function findingLabels(name: string): Labels {
  const severity = severityOf(name);
  return severity === null ? { class: OTHERS, severity: 'warning' } : { class: name, severity };
}

function setLive(gauges: Gauges, live: LiveStatus): void {
  const { account, inFlight, overdue, answeredAt, passes, breakers } = live;
  gauges.set('order_sync_requests_in_flight', inFlight, { account });
  gauges.set('order_sync_lookups_overdue', overdue, { account });
  gauges.set('order_sync_stalled_seconds', stalledMsOf(live, gauges.now.getTime()) / 1_000, { account });
  gauges.set('order_sync_last_answer_age_seconds', gauges.ageOf(answeredAt), { account });
  gauges.set('order_sync_pass_age_seconds', gauges.ageOf(newestOf(passes.map(({ goodAt }) => goodAt))), { account });
  for (const lane of breakers === null ? [] : BREAKER_LANES) {
    gauges.set('order_sync_breaker_open', breakers?.[lane] === 'open' ? 1 : 0, { account, lane });
  }
}

export const GAUGES = {
  order_sync_build_info: ['1; the labels say which version runs on which Node.', 'version', 'node'],
  order_sync_database_up: ['1 if the database can be read.'],
  order_sync_database_unwritten: ['1 if the database cannot be written, or too few standbys confirm its changes.'],
  order_sync_accounts_owned: ['Accounts that this process owns.'],
  order_sync_orders: ['Orders by state.', 'account', 'state'],
  order_sync_findings: ['Open findings.', 'account', 'class', 'severity'],
  order_sync_oldest_pending_age_seconds: ['Time since the first pending order was due to be sent; 0 if there is none.'],
  order_sync_oldest_unknown_age_seconds: ['Time since the first unknown order became unknown; 0 if there is none.'],
  order_sync_holds: ['1 if a hold stops requests of the account.', 'account', 'kind'],
  order_sync_account_stopped: ['1 if no worker can drive the account.', 'account'],
  order_sync_exchange_out_of_reach: ['1 if the exchange is out of reach of an account.', 'account'],
  order_sync_breaker_open: ['1 if the circuit breaker, or a hold, stops the requests of the lane.', 'account', 'lane'],
  order_sync_requests_in_flight: ['Requests that have left and have not ended.', 'account'],
  order_sync_lookups_overdue: [
    'Orders whose look-up, at the last tick of reconcile.cron, had been due for more than 1 min plus the shortest gap of schedule.cron.',
    'account',
  ],
  order_sync_last_answer_age_seconds: ['Time since the exchange last answered anything but a 5xx.', 'account'],
  order_sync_pass_age_seconds: ['Time since a pass of the account last succeeded in this process.', 'account'],
  order_sync_stalled_seconds: [
    'Time that work has waited without a successful pass or an answered request.',
    'account',
  ],
  order_sync_webhook_lag_seconds: ['Age of the oldest event that waits for an endpoint.', 'endpoint'],
  order_sync_webhook_failing_seconds: ['Time for which an endpoint has accepted no events.', 'endpoint'],
  order_sync_webhook_parked: [
    'Orders, links and accounts with an event that an endpoint refused and that is retried.',
    'endpoint',
  ],
  order_sync_webhook_dead_letters: ['Events that an endpoint refused at every attempt.', 'endpoint'],
  order_sync_database_bytes: ['Size of the file of a SQLite database.'],
  order_sync_database_wal_bytes: ['Size of the write-ahead log of a SQLite database.'],
  order_sync_disk_free_bytes: ['Free space of the disk with the database, or with its marks.'],
  order_sync_event_loop_delay_seconds: ['How late the event loop was since the last scrape.', 'percentile'],
  process_resident_memory_bytes: ['Memory of the process.'],
} as const satisfies Record<string, readonly [help: string, ...labels: string[]]>;
type GaugeName = keyof typeof GAUGES;

/** If several accounts share the label `other`, these gauges are added up. Other gauges show the highest value. */
const ADDED_UP: readonly GaugeName[] = [
  'order_sync_orders',
  'order_sync_findings',
  'order_sync_requests_in_flight',
  'order_sync_lookups_overdue',
];

type Labels = Readonly<Record<string, string>>;

class Gauges {
  readonly now: Date;
  readonly #labelOf: (account: string) => string;
  readonly #samples = new Map<GaugeName, Map<string, { readonly labels: Labels; value: number }>>();

  constructor(now: Date, labelOf: (account: string) => string) {
    this.now = now;
    this.#labelOf = labelOf;
  }

  set(name: GaugeName, value: number | undefined, { account, ...others }: Labels = {}): void {
    if (value === undefined) return;
    const labels = account === undefined ? others : { account: this.#labelOf(account), ...others };
    const samples = this.#samples.get(name) ?? new Map();
    this.#samples.set(name, samples);
    const key = JSON.stringify(labels);
    const sample = samples.get(key);
    if (sample === undefined) samples.set(key, { labels, value });
    else sample.value = ADDED_UP.includes(name) ? sample.value + value : Math.max(sample.value, value);
  }

  /** Returns the seconds since a time in ISO 8601, at least 0; undefined without a time. */
  ageOf(since: string | null | undefined): number | undefined {
    const ms = instantMs(since ?? null);
    return ms === undefined ? undefined : Math.max(0, this.now.getTime() - ms) / 1_000;
  }

  async text(): Promise<string> {
    const registry = new Registry();
    for (const [name, samples] of this.#samples) {
      const [help, ...labelNames]: readonly [string, ...string[]] = GAUGES[name];
      const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
      for (const { labels, value } of samples.values()) gauge.set(labels, value);
    }
    return await registry.metrics();
  }
}

export function liveMetrics(registry: Registry, labelOf: (account: string) => string): ProcessListener {
  const registers = [registry];
  const histogram = <Label extends string>(name: string, help: string, buckets: number[], labelNames: Label[] = []) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const requests = new Counter({
    name: 'order_sync_requests_total',
    help: 'Requests to the exchange that have ended, by operation and outcome.',
    labelNames: ['account', 'operation', 'outcome'],
    registers,
  });
  const durations = histogram(
    'order_sync_request_duration_seconds',
    'Time from when a request left until its answer was read.',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30],
    ['operation'],
  );
  const waits = histogram(
    'order_sync_turn_wait_seconds',
    'Time that a request waited for its turn: for the rate limit, for requests with precedence, or because too many are in flight.',
    [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    ['lane'],
  );
  const passes = histogram(
    'order_sync_pass_duration_seconds',
    'Duration of passes; a pass that an error ended is not good.',
    [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 3_600],
    ['pass', 'good'],
  );
  const delays = histogram(
    'order_sync_detection_delay_seconds',
    'Time from a change of an order at the exchange until a look-up saw it, if the exchange says when it was.',
    [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 600, 3_600, 21_600, 86_400],
  );
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time that the process has used.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });
  return (account, event) => {
    if (event.kind === 'request.ended') {
      const { operation, outcome, tookMs } = event;
      requests.inc({ account: labelOf(account), operation, outcome: outcome.replaceAll('-', '_') });
      durations.observe({ operation }, tookMs / 1_000);
    } else if (event.kind === 'turn.came') waits.observe({ lane: event.lane }, event.waitedMs / 1_000);
    else if (event.kind === 'pass.ended') {
      passes.observe({ pass: event.pass, good: String(event.isGood) }, event.tookMs / 1_000);
    } else if (event.kind === 'change.seen') delays.observe(event.lateMs / 1_000);
  };
}
