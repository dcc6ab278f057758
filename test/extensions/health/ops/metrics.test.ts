import { describe, expect, it } from 'vitest';
import { RESTRAINT_KINDS } from '../../../../src/accounts/rules/restraints.ts';
import { FINDING_CLASSES } from '../../../../src/findings/rules/classes.ts';
import { createPass } from '../../../../src/orders/create.ts';
import { GAUGES } from '../../../../src/extensions/health/ops/metrics.ts';
import { isSqlite } from '../../../support/database.ts';
import { testOps, type TestOps } from '../../../support/ops-endpoint.ts';
import { parseMetrics, type Metric } from '../../../support/prometheus.ts';
import { withWebhooks } from '../../../support/webhook-tables.ts';
import { withSettings } from '../../../support/settings.ts';

async function scrape({ get }: TestOps): Promise<Map<string, Metric>> {
  const answer = await get('/metrics');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/plain;.*0\.0\.4/),
  ]);
  return parseMetrics(await answer.text());
}

/** The value of the one sample of a metric that has these labels. */
function valueOf(metrics: Map<string, Metric>, name: string, labels: Record<string, string> = {}): number | undefined {
  const metric = metrics.get(name) ?? metrics.get(name.replace(/_(count|sum)$/, ''));
  const found = metric?.samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  expect(found?.length ?? 0).toBeLessThanOrEqual(1);
  return found?.[0]?.value;
}

describe('/metrics', () => {
  it('has every gauge that is known, in the format of Prometheus', async () => {
    const on = await testOps();
    on.activity.hear({ kind: 'pass.ended', pass: 'create', tookMs: 0, isGood: true });
    on.activity.hear({ kind: 'request.left' });
    on.activity.hear({ kind: 'request.ended', operation: 'look_up_order', outcome: 'ok', tookMs: 5, isAnswered: true });
    const metrics = await scrape(on);
    const rare = isSqlite() ? /^order_sync_webhook_\w+$/ : /^order_sync_(?:webhook_\w+|database_(?:wal_)?bytes)$/;
    expect(Object.keys(GAUGES).filter((name) => !metrics.has(name) && !rare.test(name))).toEqual([]);
    expect(valueOf(metrics, 'order_sync_database_up')).toBe(1);
    expect(valueOf(metrics, 'order_sync_build_info', { version: '0.0.0' })).toBe(1);
  });

  it('passes the checks of promtool: names that say their type, no label of another type, a base unit, a sentence', async () => {
    const on = await testOps();
    on.activity.hear({ kind: 'pass.ended', pass: 'create', tookMs: 0, isGood: true });
    on.activity.hear({ kind: 'request.ended', operation: 'look_up_order', outcome: 'ok', tookMs: 5, isAnswered: true });
    for (const { name, type, help, samples } of (await scrape(on)).values()) {
      const labels = new Set(samples.flatMap((one) => Object.keys(one.labels)));
      expect([name, labels.has('quantile'), labels.has('le') && type !== 'histogram']).toEqual([name, false, false]);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      expect(name).not.toMatch(/[A-Z]|_(?:bucket|count|sum|info_total|gauge|counter|histogram)$/);
      expect(name).not.toMatch(/_(?:milliseconds|ms|minutes|hours|days|kilobytes|bits|percent)(?:_|$)/);
      expect([name, help]).toEqual([name, expect.stringMatching(/\S/)]);
    }
  });

  it('has the counts of a quiet account, which are 0', async () => {
    const metrics = await scrape(await testOps());
    const classes = Object.entries(FINDING_CLASSES).map(([name, { severity }]) => ({ class: name, severity }));
    for (const labels of classes)
      expect(valueOf(metrics, 'order_sync_findings', { account: 'default', ...labels })).toBe(0);
    for (const kind of RESTRAINT_KINDS)
      expect(valueOf(metrics, 'order_sync_holds', { account: 'default', kind })).toBe(0);
  });

  it('counts the orders of each state, and how long the first waits', async () => {
    const on = await testOps();
    on.program.insert({ external_order_id: 'canary-1' }, { external_order_id: 'canary-2', asset: 'canary-asset' });
    await createPass(on.program.app, new AbortController().signal);
    on.program.insert({ external_order_id: 'canary-3' });
    on.program.clock.advance(90_000);
    const metrics = await scrape(on);
    const orders = (state: string) => valueOf(metrics, 'order_sync_orders', { account: 'default', state });
    expect([orders('accepted'), orders('invalid'), orders('pending'), orders('held')]).toEqual([1, 1, 1, 0]);
    expect(valueOf(metrics, 'order_sync_oldest_pending_age_seconds')).toBe(90);
    expect(valueOf(metrics, 'order_sync_oldest_unknown_age_seconds')).toBe(0);
    expect(await (await on.get('/metrics')).text()).not.toContain('canary');
  });

  it('counts requests by operation and outcome, waits, passes and how late changes are seen', async () => {
    const on = await testOps();
    on.activity.hear({ kind: 'request.left' });
    on.activity.hear({ kind: 'request.left' });
    on.activity.hear({
      kind: 'request.ended',
      operation: 'create_pre_order',
      outcome: 'not-sent',
      tookMs: 1_500,
      isAnswered: false,
    });
    on.activity.hear({ kind: 'turn.came', lane: 'create', waitedMs: 250 });
    on.activity.hear({ kind: 'pass.ended', pass: 'create', tookMs: 0, isGood: false });
    on.activity.hear({ kind: 'change.seen', lateMs: 3_000 });
    on.activity.overdue = { orders: 7, since: new Date(0) };
    const metrics = await scrape(on);
    const labels = { account: 'default', operation: 'create_pre_order', outcome: 'not_sent' };
    expect(valueOf(metrics, 'order_sync_requests_total', labels)).toBe(1);
    expect(valueOf(metrics, 'order_sync_request_duration_seconds_sum', { operation: 'create_pre_order' })).toBe(1.5);
    expect(valueOf(metrics, 'order_sync_turn_wait_seconds_sum', { lane: 'create' })).toBe(0.25);
    expect(valueOf(metrics, 'order_sync_pass_duration_seconds_count', { pass: 'create', good: 'false' })).toBe(1);
    expect(valueOf(metrics, 'order_sync_detection_delay_seconds_sum')).toBe(3);
    expect(valueOf(metrics, 'order_sync_requests_in_flight', { account: 'default' })).toBe(1);
    expect(valueOf(metrics, 'order_sync_lookups_overdue', { account: 'default' })).toBe(7);
  });

  it('has a label for each of 50 accounts, and adds up the others', async () => {
    const names = Array.from({ length: 120 }, (_, index) => `shop-${String(index).padStart(3, '0')}`);
    const on = await testOps({
      instead: ({ config }) => ({
        config: {
          ...withSettings(config, { ops: { listen: { host: '127.0.0.1', port: 0 } } }),
          accounts: names.map((name) => ({ ...config.accounts[0]!, name })),
        },
        accounts: { names },
      }),
    });
    for (const name of names) on.activities.of(name).hear({ kind: 'request.left' });
    const metrics = await scrape(on);
    const samples = metrics.get('order_sync_requests_in_flight')?.samples ?? [];
    expect(samples).toHaveLength(51);
    expect(valueOf(metrics, 'order_sync_requests_in_flight', { account: 'other' })).toBe(70);
  });

  it('tells of each receiver of webhooks what waits for it and what it has refused', async () => {
    const endpoint = { name: 'shop', url: 'https://shop.example', secrets: [], events: ['*'], allowPrivate: false };
    const on = await testOps({
      instead: ({ config }) => ({
        config: withSettings(config, {
          ops: { listen: { host: '127.0.0.1', port: 0 } },
          webhooks: { endpoints: [endpoint] },
        }),
      }),
    });
    const { program } = on;
    const since = program.clock.now().toISOString();
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, new AbortController().signal);
    await withWebhooks(program.app.store.db)
      .insertInto('webhook_endpoints')
      .values({ name: 'shop', since, failing_since: since })
      .execute();
    await withWebhooks(program.app.store.db)
      .insertInto('webhook_deliveries')
      .values({
        endpoint: 'shop',
        account: 'default',
        event_id: 1,
        kind: 'order',
        subject: 'a',
        status: 'dead',
        attempts: 11,
        answer: 410,
        since,
      })
      .execute();
    program.clock.advance(60_000);
    const metrics = await scrape(on);
    const names = ['lag_seconds', 'failing_seconds', 'parked', 'dead_letters'];
    const values = names.map((name) => valueOf(metrics, `order_sync_webhook_${name}`, { endpoint: 'shop' }));
    expect(values).toEqual([60, 60, 0, 1]);
  });

  it('is there while the database cannot be read', async () => {
    const on = await testOps({ instead: ({ app }) => ({ store: { ...app.store, isInPlace: () => false } }) });
    const metrics = await scrape(on);
    expect([valueOf(metrics, 'order_sync_database_up'), metrics.has('order_sync_orders')]).toEqual([0, false]);
  });

  it('reads the database once for all who ask within a second', async () => {
    let reads = 0;
    const on = await testOps({
      instead: ({ app }) => ({
        store: {
          ...app.store,
          isInPlace: () => {
            reads += 1;
            return true;
          },
        },
      }),
    });
    await Promise.all(Array.from({ length: 20 }, () => scrape(on)));
    expect(reads).toBe(1);
    on.program.clock.advance(1_000);
    await scrape(on);
    expect(reads).toBe(2);
  });
});
