import type { App } from '../../src/app.ts';
import { reconcileOrders } from '../../src/flows/reports/reconciliation.ts';
import { askPreOrders, recordPreOrderFindings, type PreOrderAnswer } from '../../src/flows/reports/pre-orders.ts';
import { reconciliationDocument } from '../../src/reports/reconciliation/document.ts';
import { listFindings } from '../../src/store/findings.ts';
import { openScratch } from '../../src/store/stage/scratch.ts';

/** What the report of reconciliation says. */
export interface Certified {
  readonly isClean: boolean;
  /** `CLASS id`, as the report lists them. */
  readonly findings: readonly string[];
  /** The same of those that stand open in the database, without what the report found by itself. */
  readonly written: readonly string[];
}

/** The report of everything, as `report reconciliation --online` makes it, without being written. */
export async function certified(app: App): Promise<Certified> {
  const { account, store, clock, exchange, settings } = app;
  const asOf = clock.now().toISOString();
  const scope = { account, asOf };
  const ask = async (preOrderId: string): Promise<PreOrderAnswer> => {
    const outcome = await exchange.showPreOrder(preOrderId);
    return outcome.kind === 'ok' ? { kind: 'known', body: outcome.body } : { kind: 'missing' };
  };
  await recordPreOrderFindings(store, account, await askPreOrders(store, scope, ask, () => {}), clock.now());
  using scratch = openScratch();
  using snapshot = store.snapshot();
  const reconciled = await reconcileOrders(snapshot, scratch, scope, settings);
  const { isClean } = reconciliationDocument({ account, from: null, to: null, asOf, ...settings }, reconciled, []);
  const findings = [];
  for (const row of reconciled.findings) findings.push(`${row['class']} ${row['external_order_id']}`);
  const open = await listFindings(store.db, { account, status: 'open', limit: 1_000 });
  return { isClean, findings, written: open.map((one) => `${one.class} ${one.external_order_id}`).toSorted() };
}
