import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINDING_CLASSES, type FindingClassName } from '../../src/findings/rules/classes.ts';
import { reconcileOrders } from '../../src/extensions/reports/reconciliation/reconciliation.ts';
import {
  askPreOrders,
  recordPreOrderFindings,
  type PreOrderAnswer,
} from '../../src/extensions/reports/reconciliation/pre-orders.ts';
import { listFindings } from '../../src/extensions/operate/tables/listed-findings.ts';
import type { App } from '../../src/app.ts';
import { decideOrders } from '../../src/extensions/operate/decide-orders.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { SCENARIOS, type Scenario, type ScenarioStep } from '../../src/extensions/sandbox/scenario.ts';
import { STRAY_ORDER, TAMPERINGS, type TamperingName } from '../../src/extensions/sandbox/tampering.ts';
import { hastyClock } from '../support/test-clock.ts';
import { testProgram, type TestProgram } from '../support/test-program.ts';

const SEED = 4;
const HOUR_MS = 60 * 60_000;
const RATE_WINDOW_MS = 1_000;
/** A generated order is final by then. */
const LONGEST_LIFE_MS = 16 * HOUR_MS;
const FOREVER = new AbortController().signal;
/** Mapped, so that a status outside of them is found. */
const STATUSES = {
  ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED,REJECTED',
  ORDER_SYNC_FOLLOW_OPEN_STATUSES: 'REQUEST,IN_PROGRESS',
};
/** The faults that a request may suffer without its order ever needing a person. */
const SUFFERED = [
  'fault-reset-after',
  'fault-error-taken',
  'fault-truncated',
  'fault-wrong-json',
  'fault-html',
  'fault-slow',
  'fault-rate-limited',
  'fault-lookup-reset-before',
  'fault-lookup-error-taken',
  'fault-lookup-truncated',
  'fault-lookup-rate-limited',
];

/** The result of the report of reconciliation. */
interface Report {
  readonly isClean: boolean;
  /** `CLASS id`, as the report lists them. */
  readonly findings: readonly string[];
  /** The same of the findings that stand open in the database, without the ones that the report found by itself. */
  readonly written: readonly string[];
}

interface Life {
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly cryptoAddress: string | null;
  readonly scenario: Scenario;
}

/** Any amount that is positive, up to 17 digits before the point and 18 behind it, also such as `1.50`. */
const amounts = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 17n - 1n }), fc.option(fc.stringMatching(/^\d{1,18}$/), { nil: undefined }))
  .map(([whole, fraction]) => (fraction === undefined ? `${whole}` : `${whole}.${fraction}`))
  .filter((text) => /[1-9]/.test(text));
const delays = fc.integer({ min: 0, max: 3 * HOUR_MS });
const completedSteps = fc
  .tuple(fc.subarray([0, 1, 2]), fc.array(delays, { minLength: 4, maxLength: 4 }))
  .map(([kept, waits]): readonly ScenarioStep[] => {
    const before: readonly Omit<ScenarioStep, 'afterMs'>[] = [
      { order: 'IN_PROGRESS', crypto: 'PENDING' },
      { crypto: 'CONFIRMED' },
      { fiat: 'PENDING' },
    ];
    const end = { order: 'COMPLETED', crypto: 'CONFIRMED', fiat: 'PAID', completed: true };
    const steps = [...before.filter((_, index) => kept.includes(index)), end];
    return steps.map((step, index) => ({ ...step, afterMs: waits[index] ?? 0 }));
  });
const rejectedSteps = fc
  .tuple(fc.boolean(), delays, delays)
  .map(([begins, first, second]): readonly ScenarioStep[] => [
    ...(begins ? [{ afterMs: first, order: 'IN_PROGRESS', crypto: 'PENDING' }] : []),
    { afterMs: second, order: 'REJECTED', crypto: 'CANCELLED', fiat: 'CANCELLED', completed: true },
  ]);
const lives = (steps: fc.Arbitrary<readonly ScenarioStep[]>): fc.Arbitrary<Life> =>
  fc.record({
    asset: amounts,
    from: fc.constantFrom('BTC', 'ETH', 'USDT'),
    to: fc.constantFrom('EUR', 'USD'),
    cryptoAddress: fc.constantFrom(null, 'an-address'),
    scenario: fc.record({ appearsAfterMs: fc.oneof(fc.integer({ min: 0, max: 60_000 }), delays), steps }),
  });
/** How long no person looks, and whether the program is ended and started meanwhile. */
interface Gap {
  readonly ms: number;
  readonly restarts: boolean;
}
const gaps = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 4 * HOUR_MS }), restarts: fc.boolean() }), {
  maxLength: 5,
});

describe('the report of reconciliation', () => {
  it('is clean, with no finding at all, whatever untampered orders live through', async () => {
    const histories = fc.record({
      orders: fc.array(lives(fc.oneof(completedSteps, rejectedSteps)), { minLength: 1, maxLength: 6 }),
      suffered: fc.uniqueArray(fc.constantFrom(...SUFFERED), { maxLength: 6 }),
      gaps,
    });
    await fc.assert(
      fc.asyncProperty(histories, async ({ orders, suffered, gaps: waits }) => {
        const named = orders.map((life, index): [string, Life] => [`${suffered[index] ?? 'shop'}-${index}`, life]);
        expect(await reportOf(new Map(named), waits)).toEqual({ isClean: true, findings: [], written: [] });
      }),
      { seed: SEED, numRuns: 30 },
    );
  });

  it('has for each order that is tampered with the one class that the table names, and nothing of the others', async () => {
    const names = Object.keys(TAMPERINGS) as TamperingName[];
    const life = lives(completedSteps);
    const histories = fc.record({
      untouched: fc.array(life, { minLength: 3, maxLength: 3 }),
      tampered: fc.array(life, { minLength: names.length, maxLength: names.length }),
      gaps,
    });
    const expected = names.map((name) => `${TAMPERINGS[name].finding} tamper-${name}-1`);
    await fc.assert(
      fc.asyncProperty(histories, async ({ untouched, tampered, gaps: waits }) => {
        const orders = new Map([
          ...untouched.map((one, index): [string, Life] => [`shop-${index}`, one]),
          ...tampered.map((one, index): [string, Life] => [`tamper-${names[index]}-1`, one]),
        ]);
        const { isClean, findings, written } = await reportOf(orders, waits);
        expect([isClean, findings.toSorted()]).toEqual([false, expected.toSorted()]);
        // While the exchange answers with an older record, the order as it is now is not known.
        expect(written).toEqual([...expected, 'UNCHECKED tamper-stale-1'].toSorted());
      }),
      { seed: SEED, numRuns: 4, endOnFailure: true },
    );
  });

  it('names a way to tamper for each class that an answer of the exchange can bring about', () => {
    const named = new Set(Object.values(TAMPERINGS).map(({ finding }) => finding));
    const others = (Object.keys(FINDING_CLASSES) as FindingClassName[]).filter((name) => !named.has(name));
    expect(others).toEqual(['FAIL_OVER', 'CREATE_UNKNOWN', 'PREORDER_REUSED', 'ORDER_MISSING', 'STUCK']);
  });
});

/** The result of the report once the orders were followed to their end and looked at again. */
async function reportOf(orders: ReadonlyMap<string, Life>, waits: readonly Gap[]): Promise<Report> {
  const program = await testProgram({
    clock: hastyClock(),
    environment: STATUSES,
    scenarioOf: (id) => (id.startsWith('tamper-stray') ? SCENARIOS['completed'] : orders.get(id)?.scenario),
  });
  for (const [id, life] of orders) insert(program, id, life);
  await cancelStrays(program, [...orders.keys()]);
  const toTheEnd = [LONGEST_LIFE_MS, HOUR_MS, HOUR_MS].map((ms): Gap => ({ ms, restarts: false }));
  for (const { ms, restarts } of [...waits, ...toTheEnd]) {
    await syncOnce(program.app, 'all', FOREVER);
    if (restarts) await program.restart();
    // A new owner lets the rate limit's window of the last one pass.
    program.clock.advance(ms + RATE_WINDOW_MS);
  }
  await syncOnce(program.app, 'all', FOREVER);
  return await reportOn(program.app);
}

function insert(program: TestProgram, id: string, life: Life): void {
  const { asset, currencyPair } = STRAY_ORDER;
  const isStray = id.startsWith('tamper-stray');
  const now = program.clock.now().toISOString();
  const columns = {
    external_order_id: id,
    asset: isStray ? asset : life.asset,
    from_currency: isStray ? currencyPair.fromCurrency : life.from,
    to_currency: isStray ? currencyPair.toCurrency : life.to,
    // The stray order has no owner: it has none of these.
    crypto_address: id.startsWith('tamper-') ? 'an-address' : life.cryptoAddress,
    payment_token: id.startsWith('tamper-') ? 'a-token' : null,
    provider_type: id.startsWith('tamper-') ? 'CARDPROV' : null,
    created_at: now,
    next_action_at: now,
  };
  const names = Object.keys(columns);
  program.merchant
    .prepare(`insert into merchant_orders (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`)
    .run(columns);
}

/** An order is only unexpected when nothing of it was sent. */
async function cancelStrays({ app }: TestProgram, ids: readonly string[]): Promise<void> {
  const targets = ids.filter((id) => id.startsWith('tamper-stray')).map((externalOrderId) => ({ externalOrderId }));
  const action = { judgement: { kind: 'cancel' }, actor: 'a test', reason: 'not wanted' } as const;
  for await (const result of decideOrders(app, targets, action)) expect(result.kind).toBe('done');
}

/** The report of everything, as `report reconciliation --online` makes it, without being written. */
async function reportOn(app: App): Promise<Report> {
  const { account, store, clock, exchange, settings } = app;
  const asOf = clock.now().toISOString();
  const scope = { account, asOf };
  const ask = async (preOrderId: string): Promise<PreOrderAnswer> => {
    const outcome = await exchange.showPreOrder(preOrderId);
    return outcome.kind === 'ok' ? { kind: 'known', body: outcome.body } : { kind: 'missing' };
  };
  await recordPreOrderFindings(store, account, await askPreOrders(store, scope, ask, () => {}), clock.now());
  using report = await reconcileOrders(app, { ...scope, settings });
  const { document, isClean } = report;
  const findings: string[] = [];
  const rows = document.sections.find(({ name }) => name === 'findings')?.rows ?? [];
  for await (const row of rows) findings.push(`${row['class']} ${row['external_order_id']}`);
  const { rows: open } = await listFindings(store.db, { account, status: 'open', limit: 1_000 });
  return { isClean, findings, written: open.map((one) => `${one.class} ${one.external_order_id}`).toSorted() };
}
