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

/** The cells of each row of the table below a heading of the manual. */
function tableBelow(heading: string): string[][] {
  const [, section = ''] = text('docs/operating.md').split(`\n${heading}\n`);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  const rows = table.trim().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
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

describe('the manual', () => {
  it('has every metric with its labels, and no other', () => {
    const shown = tableBelow('### Metrics').map(([name, labels]) => [namesIn(name)[0], namesIn(labels)]);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(knownMetrics()));
    expect(shown).toHaveLength(knownMetrics().size);
  });

  it('has every alert, with what it means and what to do', () => {
    const shown = tableBelow('### Alerts');
    expect(shown.map(([name]) => namesIn(name)[0])).toEqual(rules.map(({ alert }) => alert));
    expect(shown.filter((cells) => cells.length !== 3 || cells.includes(''))).toEqual([]);
  });
});

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

  it.each(rules)('of $alert has a severity and a summary', ({ labels, annotations }) => {
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
  });
});
