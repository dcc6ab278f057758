/** A sample: its labels by name, and its value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with its samples. */
export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const ENDINGS: Readonly<Record<string, readonly string[]>> = { histogram: ['_bucket', '_sum', '_count'] };

/**
 * Reads the text format of Prometheus (0.0.4) as strictly as a scraper could. Throws on a line that is none of it, a metric
 * without help or type, one that stands in two places, a sample twice, and a histogram whose buckets do not grow.
 */
export function parseMetrics(text: string): Map<string, Metric> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const metrics = new Map<string, { name: string; type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current: { name: string; type: string; help: string; samples: Sample[] } | undefined;
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, kind = '', name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (metrics.has(name) || !NAME.test(name)) throw new Error(`a second place, or no name: ${line}`);
      current = { name, type: '', help: rest, samples: [] };
      metrics.set(name, current);
    } else if (kind === 'TYPE') {
      if (current?.name !== name || current.samples.length > 0) throw new Error(`a type in the wrong place: ${line}`);
      if (!['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`an unknown type: ${line}`);
      current.type = rest;
    } else {
      const sample = sampleOf(line);
      const names = (ENDINGS[current?.type ?? ''] ?? ['']).map((ending) => `${current?.name}${ending}`);
      if (current === undefined || current.type === '' || !names.includes(sample.name))
        throw new Error(`of no metric: ${line}`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).map(String).toSorted()]);
      if (seen.has(key)) throw new Error(`a sample twice: ${line}`);
      seen.add(key);
      current.samples.push(sample);
    }
  }
  for (const metric of metrics.values()) if (metric.type === 'histogram') checkBuckets(metric);
  return metrics;
}

function sampleOf(line: string): Sample {
  const [, name = '', text = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === '') throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, label = '', its = ''] = LABEL.exec(text) ?? [];
    if (label === '' || label in labels) throw new Error(`no labels: ${line}`);
    labels[label] = its.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function checkBuckets({ name, samples }: Metric): void {
  const last = new Map<string, number>();
  for (const sample of samples.filter((one) => one.name.endsWith('_bucket'))) {
    const { le: _le, ...others } = sample.labels;
    const key = JSON.stringify(others);
    if (sample.value < (last.get(key) ?? 0)) throw new Error(`buckets that do not grow: ${name}`);
    last.set(key, sample.value);
  }
}
