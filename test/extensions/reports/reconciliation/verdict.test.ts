import { describe, expect, it } from 'vitest';
import type { ReportDocument, Row } from '../../../../src/extensions/documents/document.ts';
import type { ReconciledOrder, WrittenFinding } from '../../../support/filled-database.ts';
import { factsOf, reportOf, rowsOf } from '../../../support/reconciled.ts';

const NEVER_SENT = { record: null, lastLookupAt: null, sentAt: null };

/** The heading of each group of a section, in the order of its rows. */
function headsOf({ document }: { document: ReportDocument }, name: string, rows: readonly Row[]) {
  const groups = document.sections.find((one) => one.name === name)?.groups;
  const heads = Map.groupBy(rows, (row) => JSON.stringify(groups?.says.map((key) => row[key])));
  return [...heads.values()].map(([row = {}]) => groups?.describe(row));
}

const totalOf = ({ document }: { document: ReportDocument }, currency: string) => {
  const { rowsForPeople } = document.sections.find(({ name }) => name === 'money') ?? {};
  return (rowsForPeople as readonly Row[]).find((row) => row['currency'] === currency && row['pair'] === 'all pairs');
};

const cardOf = ({ cards = [] }: ReportDocument, label: string) => cards.find((card) => card.label === label);

describe('the verdict of a reconciliation', () => {
  it('is good if both sides agree', async () => {
    await reportOf({ orders: [{ id: 'a' }, { id: 'b', state: 'pending', ...NEVER_SENT }] }, ({ document }) => {
      expect(document.verdict).toMatchObject({ tone: 'good' });
      expect(document.verdict?.reasons).toHaveLength(2);
      expect(document.verdict?.first).toBeUndefined();
      expect(cardOf(document, 'Orders')).toMatchObject({ value: '2', note: '1 checked, 1 with nothing to compare' });
      expect(cardOf(document, 'Difference of the compared sums')).toMatchObject({ value: 'none', tone: 'good' });
    });
  });

  it('says how many of the orders that it does not compare are invalid', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a' },
      { id: 'b', state: 'pending', ...NEVER_SENT },
      { id: 'c', state: 'invalid', ...NEVER_SENT },
    ];
    const invalid = expect.stringMatching(/^1 order\b.* invalid/) as string;
    await reportOf({ orders }, ({ document }) => {
      expect(document.verdict?.reasons.slice(1)).toEqual([expect.stringMatching(/^2 orders\b/), invalid]);
    });
    for (const account of ['default', undefined]) {
      await reportOf({ orders: [...orders, { id: 'd', state: 'disputed' }], account }, ({ document }) => {
        expect(document.verdict?.reasons).toContainEqual(invalid);
        expect(document.verdict?.reasons).toContainEqual(
          expect.stringMatching(/^2 orders\b.*: 1 pending, 1 invalid\.$/),
        );
        // The disputed one and the invalid one.
        expect(document.verdict?.text).toContain(' 2 of 4 ');
      });
    }
  });

  it('says that the exchange is out of reach, if it was at the moment of the report', async () => {
    const orders: ReconciledOrder[] = [{ id: 'a' }, { id: 'b', state: 'pending', ...NEVER_SENT }];
    const saysIn = async (lostAt: string, account?: string) =>
      await reportOf({ orders, lostAt, account }, ({ document }) =>
        document.verdict?.reasons.some((reason) => reason.includes(lostAt)),
      );
    expect(await saysIn('2026-01-05T23:00:00.000Z', 'default')).toBe(true);
    expect(await saysIn('2026-01-05T23:00:00.000Z')).toBe(true);
    expect(await saysIn('2026-01-06T00:00:01.000Z', 'default')).toBe(false);
  });

  it('begins with an outage at the moment of the report, before disputed orders', async () => {
    const orders: ReconciledOrder[] = [{ id: 'a', state: 'disputed' }];
    const begins = async (lostAt: string) => {
      const given = { orders, lostAt, account: 'default' };
      return await reportOf(given, ({ document }) => document.verdict?.first?.section);
    };
    expect(await begins('2026-01-05T23:00:00.000Z')).toBeUndefined();
    expect(await begins('2026-01-06T00:00:01.000Z')).toBe('disputed_orders');
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
      expect(
        reasons?.map((reason) => /^Money in doubt:|^Diff|^Money|disputed|error|checked|warning/.exec(reason)?.[0]),
      ).toEqual([
        'Money in doubt:',
        'Diff',
        'disputed',
        'error',
        'checked',
        'warning',
        // Order a has two errors.
        'Money',
      ]);
      // Every list has one order, and the first of the gravest is what to begin with.
      expect(document.verdict?.first).toMatchObject({ section: 'disputed_orders' });
      expect(document.sections.map(({ name }) => name).slice(0, 3)).toEqual([
        'disputed_orders',
        'findings',
        'unchecked_orders',
      ]);
      const listed = rowsOf({ document }, 'findings').map((row) => `${row['class']} ${row['external_order_id']}`);
      expect(listed).toEqual(['ADDRESS_CHANGED a', 'AMOUNT_MISMATCH a', 'UNCHECKED c', 'STUCK d', 'STATUS_UNMAPPED e']);
      expect(rowsOf({ document }, 'disputed_orders').map((row) => row['external_order_id'])).toEqual(['b']);
      expect(cardOf(document, 'Difference of the compared sums')).toMatchObject({ value: '+1 BTC', tone: 'error' });
      expect(cardOf(document, 'Findings')?.note).toBe('2 errors, 2 warnings, 1 for information');
    });
  });

  it.each<[string, ReconciledOrder, WrittenFinding[], string, string]>([
    ['an error', { id: 'a' }, [{ id: 'a', class: 'ADDRESS_CHANGED' }], 'findings', 'ADDRESS_CHANGED'],
    ['a warning', { id: 'a' }, [{ id: 'a', class: 'STUCK', severity: 'warning' }], 'findings', 'STUCK'],
    [
      'an order not checked whose finding is acknowledged',
      { id: 'a', state: 'held', record: null },
      [{ id: 'a', class: 'CREATE_UNKNOWN', status: 'acknowledged', changedAt: '2026-01-05T12:30:00.000Z' }],
      'unchecked_orders',
      'not known',
    ],
  ])('begins with %s if nothing is graver', async (_, order, findings, section, title) => {
    await reportOf({ orders: [order], findings }, ({ document }) => {
      expect(document.verdict?.first?.section).toBe(section);
      expect(document.verdict?.first?.head.title).toContain(title);
    });
  });

  it('is that there is nothing to reconcile if no order is in the period, which may be as it should be', async () => {
    for (const [mayBeEmpty, tone] of [
      [false, 'warning'],
      [true, 'neutral'],
    ] as const)
      await reportOf({ orders: [{ id: 'a' }], from: '2027-01-01', mayBeEmpty }, (report) => {
        expect(report.isClean).toBe(mayBeEmpty);
        expect(report.document.verdict?.isEmpty ?? false).toBe(!mayBeEmpty);
        expect(report.document.verdict).toMatchObject({ tone, text: 'Nothing to reconcile' });
        expect(report.document.cards).toEqual([]);
        expect(factsOf(report)['verdict']).toBe(mayBeEmpty ? 'clean' : 'not clean');
      });
  });

  it('is not that there is nothing to reconcile if rows are of no period', async () => {
    const orders: ReconciledOrder[] = [{ id: 'a', account: 'another', state: 'pending', ...NEVER_SENT }];
    await reportOf({ orders }, (report) => {
      expect(report.isClean).toBe(false);
      expect(report.document.verdict?.isEmpty).toBeUndefined();
      expect(report.document.verdict?.text).toBe('A person should look');
    });
  });
});

describe('an amount below zero, which only a row that was refused can have', () => {
  it('lessens no sum of others', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', asset: '1.5', state: 'pending', ...NEVER_SENT },
      { id: 'b', asset: '-0.5', state: 'invalid', ...NEVER_SENT },
    ];
    await reportOf({ orders }, (report) => {
      expect(rowsOf(report, 'pairs')).toMatchObject([{ orders: 2, asset: '1.5' }]);
    });
  });
});

describe('the money in doubt', () => {
  const ORDERS: readonly ReconciledOrder[] = [
    { id: 'fine', asset: '1000' },
    { id: 'disputed', asset: '0.000000000000000001', state: 'disputed' },
    { id: 'held', asset: '2', state: 'held', record: null },
    { id: 'unknown', asset: '4', state: 'unknown', record: null },
    { id: 'error', asset: '8', from: 'EUR', to: 'BTC' },
    { id: 'warning', asset: '16', from: 'EUR', to: 'BTC' },
    { id: 'info', asset: '32' },
    { id: 'acknowledged', asset: '64' },
    { id: 'unreadable', asset: '?', from: 'USD' },
    { id: 'of-no-currency', asset: '128', position: 'ELSEWHERE' },
  ];
  const FINDINGS: readonly WrittenFinding[] = [
    { id: 'error', class: 'ADDRESS_CHANGED' },
    { id: 'error', class: 'TX_HASH_CHANGED' },
    { id: 'warning', class: 'STUCK', severity: 'warning' },
    { id: 'info', class: 'STATUS_UNMAPPED', severity: 'info' },
    { id: 'acknowledged', class: 'TX_HASH_REUSED', status: 'acknowledged', changedAt: '2026-01-05T13:00:00.000Z' },
    { id: 'unreadable', class: 'ADDRESS_CHANGED' },
  ];

  it('is the exact sum by currency of the orders that a person should look at, each once and whole', async () => {
    await reportOf({ orders: ORDERS, findings: FINDINGS }, (report) => {
      const sums = '6.000000000000000001 BTC, 128 BTC/EUR (currency not shown for ELSEWHERE), 24 EUR, 1 not readable';
      expect(factsOf(report)).toMatchObject({ orders_in_doubt: 7, in_doubt: sums });
      expect(report.document.verdict).toMatchObject({ text: 'A person should look at 7 of 10 orders' });
      expect(report.document.verdict?.reasons[0]).toContain(`${sums}.`);
      expect(cardOf(report.document, 'Orders in doubt')).toMatchObject({ value: '7', note: sums });
    });
  });

  it('is none if nothing is in doubt', async () => {
    await reportOf({ orders: [{ id: 'a' }] }, (report) => {
      expect(factsOf(report)).toMatchObject({ orders_in_doubt: 0, in_doubt: null });
      expect(cardOf(report.document, 'Orders in doubt')).toMatchObject({ value: '0', tone: 'good' });
    });
  });
});

describe('what a person should look at', () => {
  it('is grouped by class, the gravest first, decided findings last', async () => {
    const findings: WrittenFinding[] = [
      { id: 'a', class: 'STATUS_UNMAPPED', severity: 'info' },
      { id: 'a', class: 'TX_HASH_REUSED', status: 'acknowledged', changedAt: '2026-01-05T13:00:00.000Z' },
      { id: 'a', class: 'STUCK', severity: 'warning', firstSeenAt: '2026-01-03T00:00:00.000Z' },
      { id: 'b', class: 'STUCK', severity: 'warning' },
      { id: 'a', class: 'OF_ANOTHER_VERSION' },
    ];
    await reportOf({ orders: [{ id: 'a' }, { id: 'b' }], findings }, (report) => {
      const rows = rowsOf(report, 'findings');
      expect(headsOf(report, 'findings', rows)).toEqual([
        expect.objectContaining({ title: 'OF_ANOTHER_VERSION (error)', tone: 'error' }),
        expect.objectContaining({ title: 'STUCK (warning)', tone: 'warning' }),
        expect.objectContaining({ title: 'STATUS_UNMAPPED (info)', part: 'details' }),
        expect.objectContaining({ title: 'TX_HASH_REUSED (acknowledged)' }),
      ]);
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
        'It is not known whether the exchange took the order',
        'Looked up too long ago',
      ]);
      expect(rowsOf(report, 'findings').map((row) => row['class'])).toEqual([
        'CREATE_UNKNOWN',
        'UNCHECKED',
        'UNCHECKED',
      ]);
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

  it('is added up by currency alone, by the outcome of the orders; if the currency is not known by pair alone', async () => {
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
    });
  });

  it('has the amounts of the position OUTPUT with those of the same currency, if the setting names the amount', async () => {
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
