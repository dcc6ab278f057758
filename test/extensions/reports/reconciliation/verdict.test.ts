import { describe, expect, it } from 'vitest';
import type { ReportDocument, Row } from '../../../../src/extensions/documents/document.ts';
import type { ReconciledOrder, WrittenFinding } from '../../../support/filled-database.ts';
import { factsOf, reportOf, rowsOf } from '../../../support/reconciled.ts';

const NEVER_SENT = { record: null, lastLookupAt: null, sentAt: null };

/** The heading of each group of a section, in the order of its rows. */
function headsOf({ document }: { document: ReportDocument }, name: string, rows: readonly Row[]) {
  const groups = document.sections.find((one) => one.name === name)?.groups;
  const values = new Set(rows.map((row) => row[groups?.key ?? '']));
  return [...values].map((value) => groups?.describe(value ?? null));
}

const totalOf = ({ document }: { document: ReportDocument }, currency: string) => {
  const { rowsForPeople } = document.sections.find(({ name }) => name === 'money') ?? {};
  return (rowsForPeople as readonly Row[]).find((row) => row['currency'] === currency && row['pair'] === 'all pairs');
};

const cardOf = ({ cards = [] }: ReportDocument, label: string) => cards.find((card) => card.label === label);

describe('the verdict of a reconciliation', () => {
  it('is good where both sides agree', async () => {
    await reportOf({ orders: [{ id: 'a' }, { id: 'b', state: 'pending', ...NEVER_SENT }] }, ({ document }) => {
      expect(document.verdict).toMatchObject({ tone: 'good' });
      expect(document.verdict?.reasons).toHaveLength(2);
      expect(document.worst).toEqual([]);
      expect(cardOf(document, 'Checked')).toMatchObject({ value: '1 of 2', tone: 'good' });
    });
  });

  it('names each reason, the gravest first, and counts each order that a person should look at once', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', asset: '1', record: { input: '2' } },
      { id: 'b', state: 'disputed' },
      { id: 'c', state: 'open', lastLookupAt: null },
      { id: 'd' },
      { id: 'e' },
    ];
    const findings: WrittenFinding[] = [
      { id: 'a', class: 'ADDRESS_CHANGED' },
      { id: 'd', class: 'STUCK', severity: 'warning' },
      { id: 'e', class: 'STATUS_UNMAPPED', severity: 'info' },
    ];
    await reportOf({ orders, findings }, ({ document }) => {
      const { tone, text, reasons } = document.verdict ?? {};
      expect([tone, text]).toEqual(['error', 'A person should look at 4 of 5 orders']);
      expect(reasons?.map((reason) => /disputed|error|checked|warning|several/.exec(reason)?.[0])).toEqual([
        'disputed',
        'error',
        'checked',
        'warning',
        // Order a has two errors.
        'several',
      ]);
      expect(document.worst).toEqual([
        expect.stringMatching(/^error ADDRESS_CHANGED a: /),
        'error AMOUNT_MISMATCH a: expected 1 BTC, is 2 BTC',
        expect.stringMatching(/^warning STUCK d: /),
        expect.stringMatching(/^warning UNCHECKED c: /),
      ]);
      expect(rowsOf({ document }, 'disputed_orders').map((row) => row['external_order_id'])).toEqual(['b']);
      expect(cardOf(document, 'Difference')).toMatchObject({ value: '+1 BTC', tone: 'error' });
      expect(['Errors', 'Warnings', 'For information'].map((label) => cardOf(document, label)?.value)).toEqual([
        '2',
        '2',
        '1',
      ]);
      // Order c is listed as one that could not be checked, and not by the class of its finding.
      expect(cardOf(document, 'Warnings')?.note).toMatch(/^1 /);
    });
  });

  it('is that there is nothing to reconcile where no order is in the period, which may be as it should be', async () => {
    for (const [mayBeEmpty, tone] of [
      [false, 'warning'],
      [true, 'neutral'],
    ] as const)
      await reportOf({ orders: [{ id: 'a' }], from: '2027-01-01', mayBeEmpty }, (report) => {
        expect(report).toMatchObject({ isEmpty: true, isClean: mayBeEmpty });
        expect(report.document.verdict).toMatchObject({ tone, text: 'Nothing to reconcile' });
        expect(report.document.cards).toEqual([]);
        expect(factsOf(report)['verdict']).toBe(mayBeEmpty ? 'clean' : 'not clean');
      });
  });

  it('is not that there is nothing to reconcile where rows are of no period', async () => {
    const orders: ReconciledOrder[] = [{ id: 'a', account: 'another', state: 'pending', ...NEVER_SENT }];
    await reportOf({ orders }, (report) => {
      expect(report).toMatchObject({ isEmpty: false, isClean: false });
      expect(report.document.verdict?.text).toBe('A person should look');
    });
  });
});

describe('what a person should look at', () => {
  it('is grouped by class, the gravest first, those that a person has dealt with last', async () => {
    const findings: WrittenFinding[] = [
      { id: 'a', class: 'STATUS_UNMAPPED', severity: 'info' },
      { id: 'a', class: 'TX_HASH_REUSED', status: 'acknowledged', changedAt: '2026-01-05T13:00:00.000Z' },
      { id: 'a', class: 'STUCK', severity: 'warning', firstSeenAt: '2026-01-03T00:00:00.000Z' },
      { id: 'b', class: 'STUCK', severity: 'warning' },
      { id: 'a', class: 'OF_ANOTHER_VERSION' },
    ];
    await reportOf({ orders: [{ id: 'a' }, { id: 'b' }], findings }, (report) => {
      const rows = rowsOf(report, 'attention');
      expect(headsOf(report, 'attention', rows)).toEqual([
        expect.objectContaining({ title: 'Error: of another version (OF_ANOTHER_VERSION)', tone: 'error' }),
        expect.objectContaining({ title: 'Warning: stuck (STUCK)', tone: 'warning' }),
        expect.objectContaining({ title: 'Info: status unmapped (STATUS_UNMAPPED)', tone: 'info' }),
        expect.objectContaining({ title: 'Acknowledged: transaction hash reused (TX_HASH_REUSED)', tone: 'neutral' }),
      ]);
      expect(rows[1]).toMatchObject({ external_order_id: 'a', age: '3 days' });
    });
  });

  it('has each order that could not be checked, by reason, and each of them once', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', state: 'open', lastLookupAt: '2026-01-04T00:00:00.000Z', changedAt: '2026-01-02T00:00:00.000Z' },
      { id: 'b', state: 'open', lastLookupAt: '2026-01-04T00:00:00.000Z', changedAt: '2026-01-01T00:00:00.000Z' },
      { id: 'c', state: 'held', record: null },
    ];
    await reportOf({ orders }, (report) => {
      const rows = rowsOf(report, 'unchecked_orders');
      expect(rows.map((row) => [row['external_order_id'], row['age'], row['state']])).toEqual([
        ['c', '12 hours', 'held'],
        ['b', '5 days', 'open'],
        ['a', '4 days', 'open'],
      ]);
      expect(headsOf(report, 'unchecked_orders', rows).map((head) => head?.title)).toEqual([
        'Nobody knows whether the exchange took it',
        'Looked up too long ago',
      ]);
      expect(rowsOf(report, 'attention').map((row) => row['class'])).toEqual(['CREATE_UNKNOWN']);
    });
  });
});

describe('the money of a reconciliation', () => {
  const ORDERS: readonly ReconciledOrder[] = [
    { id: 'a', asset: '0.1', outcome: 'succeeded' },
    { id: 'b', asset: '0.2', outcome: 'succeeded', to: 'USD', createdAt: '2026-01-04T10:00:00.000Z' },
    { id: 'c', asset: '0.4', outcome: 'failed', record: { input: '0.5' } },
    { id: 'd', asset: '0.8', state: 'disputed' },
    { id: 'e', asset: '1.6', state: 'pending', ...NEVER_SENT },
    { id: 'f', asset: '3.2', position: 'OUTPUT' },
    { id: 'g', asset: '6.4', position: 'OUTPUT', to: 'USD' },
    { id: 'h', asset: '?', state: 'invalid', ...NEVER_SENT },
  ];

  it('is added up by currency alone, by what became of the orders; where the currency is not known by pair alone', async () => {
    await reportOf({ orders: ORDERS }, (report) => {
      const keys = ['currency', 'pair', 'orders', 'succeeded', 'failed', 'disputed', 'not_at_exchange', 'difference'];
      const unknown = 'position OUTPUT: currency not shown';
      expect(rowsOf(report, 'money').map((row) => keys.map((key) => row[key]))).toEqual([
        ['BTC', 'BTC/EUR', 5, '0.1', '0.4', '0.8', '1.6', '0.1'],
        ['BTC', 'BTC/USD', 1, '0.2', '0', '0', '0', '0'],
        [unknown, 'BTC/EUR', 1, '0', '0', '0', '0', '0'],
        [unknown, 'BTC/USD', 1, '0', '0', '0', '0', '0'],
      ]);
      expect(rowsOf(report, 'money').map((row) => row['unreadable'])).toEqual([1, 0, 0, 0]);
      const total = totalOf(report, 'BTC');
      expect(keys.map((key) => total?.[key])).toEqual(['BTC', 'all pairs', 6, '0.3', '0.4', '0.8', '1.6', '0.1']);
      expect(totalOf(report, unknown)).toBeUndefined();
      expect(rowsOf(report, 'money_days').map((row) => [row['currency'], row['day'], row['succeeded']])).toEqual([
        ['BTC', '2026-01-04', '0.2'],
        ['BTC', '2026-01-05', '0.1'],
        [`BTC/EUR, ${unknown}`, '2026-01-05', '0'],
        [`BTC/USD, ${unknown}`, '2026-01-05', '0'],
      ]);
      expect(headsOf(report, 'money', rowsOf(report, 'money')).map((head) => head?.unit)).toEqual(['BTC', undefined]);
    });
  });

  it('has the amounts of the position OUTPUT with those of the same currency, where the setting names the amount', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', asset: '100', from: 'EUR', to: 'BTC', outcome: 'succeeded' },
      { id: 'b', asset: '50', position: 'OUTPUT', outcome: 'succeeded', record: { output: '51' } },
    ];
    await reportOf({ orders, outputPosition: 'outputAsset' }, (report) => {
      const total = totalOf(report, 'EUR');
      expect(total).toMatchObject({ currency: 'EUR', pair: 'all pairs', succeeded: '150', ours: '150', theirs: '151' });
    });
  });
});
