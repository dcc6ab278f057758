import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import type { Clock } from '../../../clock.ts';
import type { Config } from '../../../config/config.ts';
import type { Activities } from '../../../flows/pass/activity.ts';
import { readingOf, type ReadingSources } from '../../../flows/reports/status.ts';
import { shared, type Readings } from '../readings.ts';
import { setGauges } from './facts.ts';
import { Gauges } from './gauges.ts';
import { accountLabels } from './labels.ts';
import { liveMetrics } from './live.ts';

/** The event loop is looked at each so many ms: each look wakes the process. */
const LOOP_RESOLUTION_MS = 100;
const PERCENTILES = [50, 99, 100];

/** What metrics are made from. */
export interface MetricSources extends ReadingSources {
  readonly config: Pick<Config, 'accounts' | 'database'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'databaseAheadMs'>;
  readonly activities: Activities;
  readonly readings: Readings;
  /** That of the program. */
  readonly version: string;
}

/** The metrics of a process. */
export interface Metrics extends Disposable {
  readonly contentType: string;
  /** In the text format of Prometheus: read at most once a second, whoever asks. */
  text(): Promise<string>;
}

/** Begins to count. */
export function startMetrics(sources: MetricSources): Metrics {
  const { config, clock, accounts, activities, readings, version } = sources;
  const registry = new Registry();
  const labelOf = accountLabels(config.accounts.map(({ name }) => name));
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
