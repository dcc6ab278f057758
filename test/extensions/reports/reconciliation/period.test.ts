import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { askPreOrders } from '../../../../src/extensions/reports/reconciliation/pre-orders.ts';
import {
  knownFindings,
  nextPreOrders,
  reconciledRows,
} from '../../../../src/extensions/reports/tables/reconciliation.ts';
import type { Query } from '../../../../src/store/dialect.ts';
import { compileFor, queries } from '../../../../src/store/statement.ts';
import { summaryParts } from '../../../../src/extensions/reports/tables/summary.ts';
import { newTestDatabase, ofSqlite } from '../../../support/database.ts';
import { AS_OF, fillDatabase, filledDatabase, type ReconciledOrder } from '../../../support/filled-database.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { factsOf, reportOf, rowsOf } from '../../../support/reconciled.ts';

const [JANUARY_2, JANUARY_3] = ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'];
const PERIOD = { by: 'completion', from: JANUARY_2, to: JANUARY_3 } as const;

function completed(id: string, completedAt: string | null): ReconciledOrder {
  return { id, createdAt: '2025-12-31T00:00:00.000Z', asset: '1', record: { completedAt } };
}

const ORDERS: readonly ReconciledOrder[] = [
  completed('before', '2026-01-01T23:59:59.999Z'),
  completed('first', JANUARY_2),
  completed('last', '2026-01-02T23:59:59.999Z'),
  completed('after', JANUARY_3),
  completed('unreadable', null),
  { id: 'none', createdAt: JANUARY_2, state: 'accepted', record: null },
];

describe('a period of completion', () => {
  it('has the orders that were completed in it, by the day of that, and only their findings', async () => {
    const findings = ORDERS.map(({ id }) => ({ id, class: 'ORDER_REPLACED' }));
    await reportOf({ orders: ORDERS, findings, ...PERIOD }, (report) => {
      expect(factsOf(report)).toMatchObject({ by: 'completion', orders: 2, from: JANUARY_2, to: JANUARY_3 });
      expect(rowsOf(report, 'days')).toMatchObject([{ day: '2026-01-02', orders: 2, errors: 2 }]);
      expect(rowsOf(report, 'findings').map((row) => row['external_order_id'])).toEqual(['first', 'last']);
    });
    const open = { orders: ORDERS, ...PERIOD, to: '2027-01-01T00:00:00.000Z', asOf: JANUARY_3 };
    expect(await reportOf(open, factsOf)).toMatchObject({ orders: 3 });
  });

  it('has no order that was inserted after the moment of the report', async () => {
    const orders = [{ ...completed('a', JANUARY_2), createdAt: '2026-01-05T00:00:00.000Z' }];
    expect(await reportOf({ orders, ...PERIOD, asOf: '2026-01-04T00:00:00.000Z' }, factsOf)).toMatchObject({
      orders: 0,
    });
  });

  it('has the same orders in a summary, and has their pre-orders asked for, each once', async () => {
    const database = await newTestDatabase();
    fillDatabase(database.connect(), ORDERS);
    const store = await database.open();
    const parts = await Array.fromAsync(summaryParts(store, { account: 'default', ...PERIOD }));
    expect(parts).toMatchObject([{ orders: 2, asset: '2', state: 'final' }]);
    const asked: string[] = [];
    const ask = (id: string) => {
      asked.push(id);
      return { kind: 'unanswered' as const };
    };
    await askPreOrders(store, { account: 'default', ...PERIOD, asOf: AS_OF }, ask, () => {});
    expect(asked).toEqual(['pre-first', 'pre-last']);
  });

  it('is found in its index, so that no table is read whole', ofSqlite('its plans'), async () => {
    const path = join(temporaryFolder(), 'orders.db');
    await filledDatabase(path, ORDERS);
    const scope = { account: 'default', ...PERIOD, asOf: AS_OF };
    const last = { at: JANUARY_2, external_order_id: 'first' } as Parameters<typeof nextPreOrders>[1];
    const planned: string[] = [];
    const plan = async function* (query: Query<unknown>) {
      const sqlite = new Database(path);
      const { sql, parameters } = compileFor(queries, query);
      sqlite.aggregate('exact_sum', { start: 0, step: (total: number, _asset: unknown) => total });
      const steps = sqlite.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...parameters);
      planned.push(...steps.map(({ detail }) => detail));
      sqlite.close();
      yield [];
    };
    const store = { snapshot: async () => ({ pages: plan, [Symbol.asyncDispose]: async () => {} }) };
    for (const query of [reconciledRows(scope), nextPreOrders(scope, last, 1), knownFindings(scope)]) {
      await plan(query).next();
    }
    expect(await Array.fromAsync(summaryParts(store as never, scope))).toEqual([]);
    const reads = planned.filter((step) => /^(SCAN|SEARCH)/.test(step));
    const ofPeriod = reads.filter((step) => /order_records_completed \(account=\? AND completed_at>\? AND/.test(step));
    const ofOrder = reads.filter((step) => step.includes('account=? AND external_order_id=?'));
    const decisions = reads.filter((step) => step.includes('events_of_subject (account=? AND type=? AND subject=?)'));
    expect([reads.length, ofPeriod.length, ofOrder.length, decisions.length]).toEqual([10, 3, 5, 1]);
  });
});
