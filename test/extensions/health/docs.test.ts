import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { GAUGES, liveMetrics } from '../../../src/extensions/health/ops/metrics.ts';

const text = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The labels of each metric that there is, by its name. */
function knownMetrics(): ReadonlyMap<string, readonly string[]> {
  const registry = new Registry();
  liveMetrics(registry, (account) => account);
  const live = registry.getMetricsAsArray().map((metric) => {
    const { name, labelNames } = metric as unknown as { name: string; labelNames: readonly string[] };
    return [name, labelNames.filter((label) => label !== 'le')] as const;
  });
  return new Map([...live, ...Object.entries(GAUGES).map(([name, [, ...labels]]) => [name, labels] as const)]);
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}
const { groups } = parse(text('deploy/prometheus-alerts.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

const { panels } = JSON.parse(text('deploy/grafana-dashboard.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];
/** Of every target: what Prometheus itself knows of it. */
const OWN = new Map([['up', []]]);

describe('an expression of the alert rules or of the dashboard', () => {
  it.each(expressions)('of %s names metrics and labels that there are: %s', (_name, expr) => {
    const known = new Map<string, readonly string[]>([...knownMetrics(), ...OWN]);
    const used = [...expr.matchAll(/\b((?:order_sync|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g)];
    expect(used.length).toBeGreaterThan(0);
    for (const [, name = '', matchers = ''] of used) {
      const metric = known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
      expect([...known.keys()]).toContain(metric);
      const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
      const allowed = [...(known.get(metric) ?? []), 'job', 'instance'];
      expect(labels.filter((label) => !allowed.includes(label))).toEqual([]);
      const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
        list.split(',').map((one) => one.trim()),
      );
      expect(by.filter((label) => ![...allowed, 'le'].includes(label))).toEqual([]);
    }
    expect(expr.split('(').length).toBe(expr.split(')').length);
  });

  it.each(rules)('of $alert has a severity, a summary, and a description of what it means and what to do', (rule) => {
    const { labels, annotations } = rule;
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    expect(annotations.description.split('. ').length).toBeGreaterThan(1);
  });
});
