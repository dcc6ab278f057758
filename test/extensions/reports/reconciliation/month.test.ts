import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { reconcileOrders } from '../../../../src/extensions/reports/reconciliation/reconciliation.ts';
import { figureText } from '../../../../src/extensions/documents/chart.ts';
import { newTestDatabase } from '../../../support/database.ts';
import { MONTH, MONTH_AS_OF, fillMonth } from '../../../support/month.ts';

it('reconciles a month of orders: a few of them want a person, all others agree', async () => {
  const database = await newTestDatabase();
  fillMonth(database.connect());
  const store = await database.open();
  const settings = { tolerance: '0', freshFor: 86_400_000, orderMissingAfter: 86_400_000, ignore: [] };
  using report = await reconcileOrders(
    { store, clock: systemClock() },
    { account: 'default', ...MONTH, asOf: MONTH_AS_OF, settings },
  );
  const facts = Object.fromEntries(report.document.facts.map(({ key, value }) => [key, value]));
  expect(facts).toMatchObject({ verdict: 'not clean', orders: 1_500, unchecked: 3, disputed: 1, errors: 9 });
  const { charts } = report.document;
  // The charts of pace are only in a whole report.
  expect(charts.map(({ kind, part }) => `${part} ${kind}`)).toEqual([
    'money columns',
    'money columns',
    'money columns',
  ]);
  expect(charts.reduce((sum, chart, id) => sum + Buffer.byteLength(figureText(chart, id)), 0)).toBeLessThan(130_000);
});
