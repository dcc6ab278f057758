import { systemClock } from '../../src/base/clock.ts';
import type { AmountField, Tolerance } from '../../src/base/decimal.ts';
import type { FindingClassName } from '../../src/findings/rules/classes.ts';
import { reconcileOrders } from '../../src/extensions/reports/reconciliation/reconciliation.ts';
import type { ReportDocument, Row } from '../../src/extensions/documents/document.ts';
import type { ReconciliationReport } from '../../src/extensions/reports/reconciliation/document.ts';
import { newTestDatabase } from './database.ts';
import { eventWriter, type WrittenEvent } from './events.ts';
import { AS_OF, fillDatabase, type ReconciledOrder, type WrittenFinding } from './filled-database.ts';

/** The parts of a report of reconciliation; a missing one is as in a report of everything. */
export interface Given {
  readonly orders: readonly ReconciledOrder[];
  readonly findings?: readonly WrittenFinding[];
  /** Undefined: all accounts. */
  readonly account?: string | undefined;
  /** Written after the findings. */
  readonly events?: readonly WrittenEvent[];
  /** Since when the exchange has been out of reach of the account. */
  readonly lostAt?: string;
  readonly by?: 'insertion' | 'completion';
  readonly from?: string;
  readonly to?: string;
  readonly asOf?: string;
  readonly tolerance?: Tolerance;
  readonly outputPosition?: AmountField;
  readonly ignore?: readonly FindingClassName[];
  readonly mayBeEmpty?: boolean;
}

/** Makes a database, reconciles it, and hands the report to `use` while its rows can be read. */
export async function reportOf<Result>(
  {
    orders,
    findings = [],
    asOf = AS_OF,
    tolerance = '0',
    outputPosition,
    ignore = [],
    lostAt,
    events = [],
    ...scope
  }: Given,
  use: (report: ReconciliationReport) => Result,
): Promise<Awaited<Result>> {
  const database = await newTestDatabase();
  const merchant = database.connect();
  fillDatabase(merchant, orders, findings);
  const lost = { type: 'account', external_order_id: 'default', field: 'exchange', new_value: 'out-of-reach' } as const;
  const write = eventWriter(merchant);
  for (const event of events) write(event);
  if (lostAt !== undefined) write({ ...lost, observed_at: lostAt });
  const settings = { tolerance, outputPosition, freshFor: 86_400_000, orderMissingAfter: 86_400_000, ignore };
  const deps = { store: await database.open(), clock: systemClock() };
  using report = await reconcileOrders(deps, { account: 'default', ...scope, asOf, settings });
  return await use(report);
}

/** The rows of a section. */
export function rowsOf({ document }: { document: ReportDocument }, name: string): Row[] {
  const section = document.sections.find((one) => one.name === name);
  if (section === undefined || Symbol.asyncIterator in section.rows) throw new Error(`no section ${name}`);
  return [...section.rows];
}

/** The facts by their keys. */
export function factsOf({ document }: { document: ReportDocument }): Record<string, unknown> {
  return Object.fromEntries(document.facts.map(({ key, value }) => [key, value]));
}
