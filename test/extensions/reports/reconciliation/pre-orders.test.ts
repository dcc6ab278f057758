import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import type { FindingClassName } from '../../../../src/findings/rules/classes.ts';
import { askPreOrders, recordPreOrderFindings } from '../../../../src/extensions/reports/reconciliation/pre-orders.ts';
import { listFindings } from '../../../../src/extensions/operate/tables/listed-findings.ts';
import { AS_OF, fillDatabase } from '../../../support/filled-database.ts';
import { newTestDatabase } from '../../../support/database.ts';

const ACCOUNT = 'default';

/** The pre-order of order a, as the exchange answers with it. */
function preOrder(changes: Readonly<Record<string, string>> = {}): string {
  const fields = {
    id: '"pre-a"',
    externalOrderId: '"a"',
    asset: '1.5',
    assetPosition: '"INPUT"',
    currencyPair: '{"fromCurrency":"BTC","toCurrency":"EUR"}',
    orderType: '"DEPOSIT"',
    paymentToken: '"canary-1"',
    ...changes,
  };
  return `{${Object.entries(fields)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`;
}

/** The results of asking for it once after the other, and the findings that stand after each time. */
async function asked(...bodies: readonly string[]) {
  return await askedIgnoring([], ...bodies);
}

async function askedIgnoring(ignore: readonly FindingClassName[], ...bodies: readonly string[]) {
  const database = await newTestDatabase();
  fillDatabase(database.connect(), [{ id: 'a', paymentToken: 'canary-1' }]);
  const store = await database.open();
  const seen = [];
  for (const body of bodies) {
    const answers = await askPreOrders(
      store,
      { account: ACCOUNT, asOf: AS_OF, ignore },
      () => ({ kind: 'known', body }),
      () => {},
    );
    await recordPreOrderFindings(store, ACCOUNT, answers, systemClock().now());
    const { rows: findings } = await listFindings(store.db, { account: ACCOUNT, limit: 10 });
    const lines = findings.map((row) => `${row.class} ${row.status}: ${row.expected}, ${row.actual}`);
    seen.push([answers.unanswered, answers.differing, lines]);
  }
  return seen;
}

describe('pre-orders that the exchange is asked for', () => {
  it('agree to the last digit, in any spelling', async () => {
    expect(await asked(preOrder({ asset: '1.500' }))).toEqual([[0, 0, []]]);
  });

  it('are found to differ, until they agree again', async () => {
    const line = (status: string) => `PREORDER_ECHO_MISMATCH ${status}: asset 1.50, asset 1.500000000000000001`;
    expect(await asked(preOrder({ asset: '1.500000000000000001' }), preOrder())).toEqual([
      [0, 1, [line('open')]],
      [0, 0, [line('resolved')]],
    ]);
  });

  it('with another payment token are a finding of their own, unless that is ignored', async () => {
    const line = (status: string) =>
      `PREORDER_TOKEN_MISMATCH ${status}: paymentToken (not shown), another paymentToken`;
    const other = preOrder({ paymentToken: '"canary-2"' });
    expect(await asked(other)).toEqual([[0, 1, [line('open')]]]);
    expect(await askedIgnoring(['PREORDER_TOKEN_MISMATCH'], other)).toEqual([[0, 0, []]]);
  });

  it.each([
    ['of another id', preOrder({ id: '"pre-b"' })],
    ['of another order', preOrder({ externalOrderId: '"b"' })],
    ['that are none', '[]'],
    ['that are no JSON', '<html>'],
  ])('are no answer: %s', async (_name, body) => {
    expect(await asked(body)).toEqual([[1, 0, []]]);
  });
});
