import { systemClock } from '../../clock.ts';
import { FINDING_CLASSES } from '../../domain/findings/classes.ts';
import { reconcileOrders } from '../../flows/reports/reconciliation.ts';
import { printable } from '../../reports/formats/text.ts';
import type { Store } from '../../store/port.ts';
import { ACCOUNT } from '../shared/options.ts';

const CLASS_WIDTH = Math.max(...Object.keys(FINDING_CLASSES).map((name) => name.length));
const ORDER_WIDTH = 28;
/** The defaults of the settings. */
const SETTINGS = { tolerance: '0', freshFor: 24 * 60 * 60_000, orderMissingAfter: 24 * 60 * 60_000 };

/** Prints the verdict and the findings of the reconciliation report. True when it lists the expected findings and no others. */
export async function reconcileDemo(
  store: Store,
  asOf: string,
  expected: readonly string[],
  say: (text: string) => void,
): Promise<boolean> {
  const request = { account: ACCOUNT, asOf, settings: SETTINGS };
  using report = await reconcileOrders({ store, clock: systemClock() }, request);
  const { facts, sections } = report.document;
  const fact = (key: string) => facts.find((one) => one.key === key)?.value;
  const because = fact('because');
  say(`Reconciliation of ${fact('orders')} orders: ${fact('verdict')}${because === null ? '' : ` (${because})`}.`);
  const listed: string[] = [];
  const findings = sections.find((section) => section.name === 'findings')?.rows ?? [];
  for await (const { class: name, external_order_id: order, expected: wanted, actual } of findings) {
    listed.push(`${name} ${order}`);
    const [left, right] = [String(name).padEnd(CLASS_WIDTH), String(order).padEnd(ORDER_WIDTH)];
    say(`  ${left}  ${right}  ${printable(wanted ?? null)} → ${printable(actual ?? null)}`);
  }
  const missing = expected.filter((finding) => !listed.includes(finding));
  const others = listed.filter((finding) => !expected.includes(finding));
  for (const finding of missing) say(`Not found: ${finding}`);
  for (const finding of others) say(`Found, although nobody tampered: ${finding}`);
  const isExact = missing.length === 0 && others.length === 0;
  if (isExact && expected.length > 0)
    say(`It lists the ${expected.length} orders that were tampered with, and no other.`);
  return isExact;
}
