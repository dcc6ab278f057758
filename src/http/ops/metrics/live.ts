import { Counter, Histogram, type Registry } from 'prom-client';
import type { ActivityListener } from '../../../flows/pass/activity.ts';

/** Seconds. */
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
const WAIT_BUCKETS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const PASS_BUCKETS = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 3_600];
const DELAY_BUCKETS = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 600, 3_600, 21_600, 86_400];

/** Makes the metrics that are counted as it happens, and gives who hears of it. */
export function liveMetrics(registry: Registry, labelOf: (account: string) => string): ActivityListener {
  const registers = [registry];
  const requests = new Counter({
    name: 'order_sync_requests_total',
    help: 'Requests to the exchange that have ended, by operation and outcome.',
    labelNames: ['account', 'operation', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'order_sync_request_duration_seconds',
    help: 'Time from when a request left until its answer was read.',
    labelNames: ['operation'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const waits = new Histogram({
    name: 'order_sync_turn_wait_seconds',
    help: 'Time that a request waited for its turn: for the rate limit, for others that go first, for room in flight.',
    labelNames: ['lane'],
    buckets: WAIT_BUCKETS,
    registers,
  });
  const passes = new Histogram({
    name: 'order_sync_pass_duration_seconds',
    help: 'Time that passes took; not good are those that the database broke off.',
    labelNames: ['pass', 'good'],
    buckets: PASS_BUCKETS,
    registers,
  });
  const delays = new Histogram({
    name: 'order_sync_detection_delay_seconds',
    help: 'Time from a change of an order at the exchange until a look-up saw it, where the exchange says when it was.',
    buckets: DELAY_BUCKETS,
    registers,
  });
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
  return {
    onRequest(account, { operation, outcome, tookMs }) {
      requests.inc({ account: labelOf(account), operation, outcome: outcome.replaceAll('-', '_') });
      durations.observe({ operation }, tookMs / 1_000);
    },
    onTurn: (_account, lane, waitedMs) => waits.observe({ lane }, waitedMs / 1_000),
    onPass: (_account, pass, tookMs, isGood) => passes.observe({ pass, good: String(isGood) }, tookMs / 1_000),
    onChange: (_account, lateMs) => delays.observe(lateMs / 1_000),
  };
}
