import type Database from 'better-sqlite3';
import type { Config } from '../../../src/settings/config.ts';
import { reconcileOrders } from '../../../src/extensions/reports/reconciliation/reconciliation.ts';
import { jsonText } from '../../../src/extensions/documents/data.ts';
import { isDecided } from '../../../src/extensions/operate/rules/decided.ts';
import { readOverview } from '../../../src/extensions/health/tables/overview.ts';
import type { Store } from '../../../src/store/port.ts';
import type { Fail } from './feed.ts';
import { webhooksSettings } from '../../../src/extensions/webhooks/settings.ts';

/** A report of reconciliation as its JSON form has it. */
interface Report {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly sections: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

interface ReportWorld {
  readonly store: Store;
  readonly account: string;
  readonly config: Pick<Config, 'reconcile' | 'exchange'>;
  /** Nothing was written later. */
  readonly latest: Date;
  readonly fail: Fail;
}

const PARTS = ['checked', 'unchecked', 'disputed', 'nothing_to_compare'];

/** Makes the report of reconciliation and the status, as their commands do, and checks that they add up. */
export async function checkReports(world: ReportWorld): Promise<Report> {
  const { store, account, config, latest, fail } = world;
  const clock = { now: () => latest };
  const settings = { ...config.reconcile, outputPosition: config.exchange.outputPosition };
  using made = await reconcileOrders({ store, clock }, { account, settings, mayBeEmpty: true });
  const text = (await Array.fromAsync(jsonText(made.document))).join('');
  const overview = await readOverview(store.db, { account, ...webhooksSettings.of(config).webhooks, now: latest });
  const leak = /.{0,40}(?:canary|whsec_).{0,40}/.exec(`${text} ${JSON.stringify(overview)}`);
  if (leak !== null) fail('secrets stay in', leak[0]);
  const report = JSON.parse(text) as Report;
  const parts = PARTS.map((part) => Number(report.facts[part]));
  const sum = parts.reduce((one, other) => one + other, 0);
  if (sum !== report.facts['orders'])
    fail('the report adds up', `${parts.join(' + ')} for ${String(report.facts['orders'])}`);
  return report;
}

/** Checks reports against the rows, while no process writes. */
export async function checkReportsAtEnd(world: ReportWorld, reader: Database.Database): Promise<void> {
  const { store, account, latest, fail } = world;
  const report = await checkReports(world);
  const rows = reader.prepare('select state, outcome, asset from merchant_orders where account = ?').all(account) as {
    readonly state: string;
    readonly outcome: string | null;
    readonly asset: unknown;
  }[];
  if (report.facts['orders'] !== rows.length)
    fail('the report has every order', `${String(report.facts['orders'])} of ${rows.length}`);
  const final = rows.filter(({ state }) => state === 'final');
  expectEqual(fail, 'orders by outcome', {
    succeeded: [report.facts['succeeded'], final.filter(({ outcome }) => outcome === 'succeeded').length],
    failed: [report.facts['failed'], final.filter(({ outcome }) => outcome === 'failed').length],
    open: [report.facts['open'], rows.filter(({ state }) => state === 'open').length],
    disputed: [report.facts['disputed'], rows.filter(({ state }) => state === 'disputed').length],
  });
  checkSums(report, rows, fail);
  const findings = reader
    .prepare(
      `select class, external_order_id as id, status, first_seen_at from findings where account = ? and status <> 'resolved'`,
    )
    .all(account) as {
    readonly class: string;
    readonly id: string | null;
    readonly status: string;
    readonly first_seen_at: string;
  }[];
  const history = reader.prepare(
    `select field, old_value, new_value, observed_at, source from events
    where account = ? and type = 'order' and subject = ? order by id`,
  );
  // The rule judges one finding in memory, and the report asks the database for all of them.
  const shown = (one: (typeof findings)[number]) =>
    one.status === 'open' && isDecided(one, history.all(account, one.id) as Parameters<typeof isDecided>[1])
      ? 'decided'
      : one.status;
  const named = new Set(
    (report.sections['findings'] ?? []).map((row) =>
      JSON.stringify([row['class'], row['external_order_id'], row['status']]),
    ),
  );
  // Which orders are unchecked the report judges by itself, for its own moment.
  const missing = findings.find(
    (one) => one.class !== 'UNCHECKED' && !named.has(JSON.stringify([one.class, one.id, shown(one)])),
  );
  if (missing !== undefined) fail('the report has every finding', JSON.stringify(missing));
  const overview = await readOverview(store.db, { account, endpoints: [], now: latest });
  const byState = Map.groupBy(rows, ({ state }) => state);
  const states = Object.entries(overview.orders).map(([state, orders]) => [
    state,
    [orders, byState.get(state)?.length ?? 0],
  ]);
  expectEqual(fail, 'orders by state', Object.fromEntries(states) as Record<string, [unknown, unknown]>);
  const open = Map.groupBy(
    findings.filter(({ status }) => status === 'open'),
    (one) => one.class,
  );
  const told = new Map(overview.findings.map((one) => [one.class, one.open]));
  const classes = [...new Set([...open.keys(), ...told.keys()])];
  expectEqual(
    fail,
    'open findings',
    Object.fromEntries(classes.map((name) => [name, [told.get(name) ?? 0, open.get(name)?.length ?? 0]])),
  );
}

/** Adds the amounts up a second time, in whole numbers. */
function checkSums(report: Report, rows: readonly { readonly asset: unknown }[], fail: Fail): void {
  const pairs = report.sections['pairs'] ?? [];
  for (const { ours, theirs, difference } of pairs)
    if (scaled(theirs) - scaled(ours) !== scaled(difference))
      fail('sums are exact', `${String(theirs)} - ${String(ours)} is ${String(difference)}`);
  const amounts = rows.map(({ asset }) => asset);
  // The rows' check says whether these count.
  if (amounts.some((asset) => asset === '-1' || asset === '1e400')) return;
  const ours = amounts.map((asset) => (isAmount(asset) ? scaled(asset) : 0n)).reduce((one, other) => one + other, 0n);
  const added = pairs.map(({ asset }) => scaled(asset)).reduce((one, other) => one + other, 0n);
  if (ours !== added) fail('sums are exact', `${ours} is ${added} in the report, in units of 1e-30`);
}

function isAmount(asset: unknown): boolean {
  return typeof asset === 'string' && /^\d+(\.\d+)?(e-?\d+)?$/.test(asset);
}

/** A decimal in units of 1e-30. */
function scaled(decimal: unknown): bigint {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e(-?\d+))?$/.exec(String(decimal)) ?? [];
  const digits = BigInt(`${whole}${fraction}`) * 10n ** BigInt(30 - fraction.length + Number(exponent));
  return sign === '-' ? -digits : digits;
}

function expectEqual(fail: Fail, what: string, pairs: Readonly<Record<string, readonly [unknown, unknown]>>): void {
  for (const [name, [reported, counted]] of Object.entries(pairs))
    if (reported !== counted)
      fail('reports equal the rows', `${what}: ${name} ${String(reported)}, counted ${String(counted)}`);
}
