import { describe, expect, it } from 'vitest';
import { csvText, jsonText } from '../../../../src/extensions/documents/data.ts';
import type { ReportDocument } from '../../../../src/extensions/documents/document.ts';
import { htmlText } from '../../../../src/extensions/documents/html.ts';
import { UNCHECKED } from '../../../../src/extensions/reports/reconciliation/judge.ts';
import { tableText } from '../../../../src/extensions/documents/table.ts';
import { xlsxBytes } from '../../../../src/extensions/documents/xlsx.ts';
import {
  AS_OF,
  CREATED_AT,
  LOOKED_UP_AT,
  type ReconciledOrder,
  type WrittenFinding,
} from '../../../support/filled-database.ts';
import { HOSTILE, wholeText } from '../../../support/report-document.ts';
import { factsOf, reportOf, rowsOf, type Given } from '../../../support/reconciled.ts';

/** The reason of each text. */
const REASONS = Object.fromEntries(Object.entries(UNCHECKED).map(([reason, [text]]) => [text, reason]));

const ACKNOWLEDGED = { status: 'acknowledged', changedAt: '2026-01-05T13:00:00.000Z' };

/** The verdict, and each finding as `class status order`. */
async function judged(given: Given): Promise<{ isClean: boolean; findings: string[]; reasons: unknown[] }> {
  return await reportOf(given, (report) => ({
    isClean: report.isClean,
    findings: rowsOf(report, 'findings').map((row) => `${row['class']} ${row['status']} ${row['external_order_id']}`),
    reasons: rowsOf(report, 'unchecked').map(({ reason, orders }) => [REASONS[String(reason)], orders]),
  }));
}

describe('the report of reconciliation', () => {
  it('is clean if every order agrees, to the last digit and in any spelling', async () => {
    const orders = [
      { id: 'a', asset: '1.50', record: { input: '1.5' } },
      { id: 'b', asset: '12345678901234567.123456789012345678' },
      { id: 'c', state: 'open', asset: '1e-7', record: { input: '0.0000001' } },
    ];
    expect(await judged({ orders })).toEqual({ isClean: true, findings: [], reasons: [] });
  });

  it('adds both sides up exactly, by day and pair', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', asset: '0.1', outcome: 'succeeded' },
      { id: 'b', asset: '0.2', createdAt: '2026-01-04T23:59:59.999Z' },
      { id: 'c', asset: '0.2', outcome: 'succeeded' },
      { id: 'd', asset: '7', from: 'ETH', record: { input: '7.000000000000000001' } },
      { id: 'e', asset: '4', state: 'pending', record: null, lastLookupAt: null, sentAt: null },
      { id: 'f', asset: '2', state: 'accepted', record: null },
    ];
    const { days, pairs, isClean } = await reportOf({ orders }, (report) => ({
      isClean: report.isClean,
      days: rowsOf(report, 'days'),
      pairs: rowsOf(report, 'pairs'),
    }));
    expect(isClean).toBe(false);
    expect(
      days.map((row) => [row['day'], row['pair'], row['orders'], row['ours'], row['theirs'], row['difference']]),
    ).toEqual([
      ['2026-01-04', 'BTC/EUR', 1, '0.2', '0.2', '0'],
      ['2026-01-05', 'BTC/EUR', 2, '0.3', '0.3', '0'],
      ['2026-01-05', 'BTC/EUR', 2, '0', '0', '0'],
      ['2026-01-05', 'ETH/EUR', 1, '7', '7.000000000000000001', '0.000000000000000001'],
    ]);
    expect(pairs[0]).toMatchObject({
      pair: 'BTC/EUR',
      orders: 2,
      at_exchange: 2,
      compared: 2,
      asset: '0.3',
      ours: '0.3',
      theirs: '0.3',
      output: '200',
      fee: '0.002',
      reward: '1',
      checked: 2,
      unchecked: 0,
      nothing_to_compare: 0,
    });
    expect(pairs[2]).toMatchObject({ outcome: null, orders: 2, asset: '6', checked: 1, nothing_to_compare: 1 });
  });

  it('adds up what succeeded, failed and is open separately, and each position by itself', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', asset: '1', outcome: 'succeeded', record: { fee: '0.1' } },
      { id: 'b', asset: '2', outcome: 'failed', record: { fee: '0.2' } },
      { id: 'c', asset: '4', state: 'open', record: { fee: '0.4' } },
      { id: 'd', asset: '8', record: { fee: '0.8' } },
      { id: 'e', asset: '16', state: 'disputed', record: { fee: '1.6' } },
      { id: 'f', asset: '32', outcome: 'succeeded', position: 'OUTPUT', record: { fee: '3.2' } },
      { id: 'g', asset: '64', outcome: 'succeeded', changedAt: '2026-01-06T00:00:00.001Z', record: { fee: '6.4' } },
    ];
    const { facts, pairs } = await reportOf({ orders }, (report) => ({
      facts: factsOf(report),
      pairs: rowsOf(report, 'pairs'),
    }));
    const keys = ['outcome', 'position', 'succeeded', 'failed', 'open', 'outcome_unknown', 'fee'];
    expect(pairs.map((row) => keys.map((key) => row[key]))).toEqual([
      ['succeeded', 'INPUT', '1', '0', '0', '0', '0.1'],
      ['succeeded', 'OUTPUT', '32', '0', '0', '0', '3.2'],
      ['failed', 'INPUT', '0', '2', '0', '0', '0.2'],
      ['open', 'INPUT', '0', '0', '4', '0', '0.4'],
      // The past of an order whose row has changed since is not known.
      ['outcome_unknown', 'INPUT', '0', '0', '0', '72', '7.2'],
      ['disputed', 'INPUT', '0', '0', '0', '0', '0'],
    ]);
    expect(facts).toMatchObject({ succeeded: 2, failed: 1, open: 1, outcome_unknown: 2, disputed: 1 });
  });

  it('counts disputed orders separately and adds up nothing of their records, also when a person has given them up', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', asset: '1' },
      { id: 'b', asset: '2', state: 'disputed', record: { input: '20' } },
      { id: 'c', asset: '4', state: 'abandoned', record: { input: '40' }, changedAt: CREATED_AT },
    ];
    const acknowledged = { class: 'AMOUNT_MISMATCH', status: 'acknowledged', changedAt: LOOKED_UP_AT, expected: '2' };
    const findings = ['b', 'c'].map((id) => ({ id, ...acknowledged }));
    const { isClean, pairs } = await reportOf({ orders, findings }, (report) => ({
      isClean: report.isClean,
      pairs: rowsOf(report, 'pairs'),
    }));
    expect(isClean).toBe(false);
    const nothing = { ours: '0', theirs: '0', output: '0', fee: '0', reward: '0', at_exchange: 0, errors: 0 };
    expect(pairs).toEqual([
      expect.objectContaining({ outcome: 'outcome_unknown', checked: 1, at_exchange: 1, asset: '1', ours: '1' }),
      expect.objectContaining({ outcome: 'disputed', disputed: 1, unchecked: 0, asset: '2', ...nothing }),
      expect.objectContaining({ outcome: null, disputed: 0, unchecked: 0, asset: '4', ...nothing }),
    ]);
  });

  it('adds up nothing of the record of a disputed order that changed after the moment of the report', async () => {
    const changedAt = '2026-01-06T00:00:00.001Z';
    const orders = [
      { id: 'a', asset: '1' },
      { id: 'b', asset: '2', state: 'disputed', record: { input: '20' }, changedAt },
    ];
    const sums = { at_exchange: 1, ours: '1', theirs: '1', output: '100', fee: '0.001', unchecked: 1 };
    expect(await reportOf({ orders }, (report) => rowsOf(report, 'pairs'))).toEqual([expect.objectContaining(sums)]);
  });

  it('adds up no amount of an invalid row, as the summary does', async () => {
    const orders = [
      { id: 'a', asset: '1' },
      { id: 'b', asset: '100', state: 'invalid', record: null, sentAt: null },
    ];
    const { money, pairs } = await reportOf({ orders }, (report) => ({
      money: rowsOf(report, 'money'),
      pairs: rowsOf(report, 'pairs'),
    }));
    expect(money).toEqual([expect.objectContaining({ orders: 2, not_at_exchange: '0', unreadable: 1 })]);
    expect(pairs.map(({ asset, unreadable }) => [asset, unreadable])).toEqual([
      ['1', 0],
      ['0', 1],
    ]);
  });

  it('finds a differing amount by itself, if no finding was written', async () => {
    const orders = [{ id: 'a', asset: '1', record: { input: '1.000000000000000001' } }];
    expect(await judged({ orders })).toMatchObject({ isClean: false, findings: ['AMOUNT_MISMATCH open a'] });
    expect(await judged({ orders, tolerance: '0.000000000000000001' })).toMatchObject({ isClean: true, findings: [] });
  });

  it('compares an order of the position OUTPUT with the amount that the setting names, and not without it', async () => {
    const orders = [
      { id: 'a', asset: '45000', position: 'OUTPUT', record: { input: '1.5', output: '45000.00' } },
      { id: 'b', asset: '45000', position: 'OUTPUT', record: { input: '45000', output: '44999.99' } },
    ];
    const known = { orders, outputPosition: 'outputAsset' as const };
    expect(await judged({ orders })).toMatchObject({ isClean: false, reasons: [['otherPosition', 2]] });
    expect(await judged(known)).toMatchObject({ isClean: false, findings: ['AMOUNT_MISMATCH open b'], reasons: [] });
    const tolerance = { EUR: '0.01', default: '0' };
    expect(await judged({ ...known, tolerance })).toEqual({ isClean: true, findings: [], reasons: [] });
  });

  it('does not find again what is written down, and leaves acknowledged findings and infos out of the verdict', async () => {
    const orders = [{ id: 'a', asset: '1', record: { input: '2' } }, { id: 'b' }];
    const acknowledged = {
      id: 'a',
      class: 'AMOUNT_MISMATCH',
      status: 'acknowledged',
      changedAt: '2026-01-05T13:00:00.000Z',
    };
    const info = { id: 'b', class: 'CLOCK_SKEW', severity: 'info' };
    const report = await judged({ orders, findings: [acknowledged, info] });
    expect(report).toEqual({
      isClean: true,
      findings: ['CLOCK_SKEW open b', 'AMOUNT_MISMATCH acknowledged a'],
      reasons: [],
    });
  });

  it.each<[string, Omit<ReconciledOrder, 'id'>, string]>([
    ['a create of unknown outcome', { state: 'unknown', record: null }, 'CREATE_UNKNOWN'],
    ['an order that is held', { state: 'held', record: null }, 'CREATE_UNKNOWN'],
    [
      'a pre-order of which nothing came',
      { state: 'accepted', record: null, sentAt: '2026-01-05T00:00:00.000Z' },
      'ORDER_MISSING',
    ],
  ])('finds %s by itself, although it was just looked up and no sweep has been', async (_name, order, name) => {
    const orders = [{ id: 'a', ...order }];
    expect(await judged({ orders })).toMatchObject({ isClean: false, findings: [`${name} open a`] });
  });

  it('is clean when a person knows that nothing came of a pre-order', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', state: 'accepted', record: null, sentAt: '2026-01-05T00:00:00.000Z' },
    ];
    const findings = [{ id: 'a', class: 'ORDER_MISSING', ...ACKNOWLEDGED }];
    expect(await judged({ orders, findings })).toEqual({
      isClean: true,
      findings: ['ORDER_MISSING acknowledged a'],
      reasons: [],
    });
  });

  it.each<[string, Omit<ReconciledOrder, 'id'>]>([
    ['unknown', { state: 'unknown', record: null }],
    ['held', { state: 'held', record: null }],
    ['about to be sent again', { state: 'pending', record: null, resends: 1 }],
    ['being sent again', { state: 'sending', record: null, resends: 1 }],
  ])('does not count an order as checked whose outcome is not known: %s', async (_name, order) => {
    const reasons = [[order.state === 'pending' ? 'sentAgain' : 'outcomeUnknown', 1]];
    const orders = [{ id: 'a', ...order }];
    const findings = [{ id: 'a', class: 'CREATE_UNKNOWN', ...ACKNOWLEDGED }];
    expect(await judged({ orders })).toEqual({
      isClean: false,
      findings: ['CREATE_UNKNOWN open a'],
      reasons,
    });
    expect(await judged({ orders, findings })).toEqual({
      isClean: false,
      findings: ['CREATE_UNKNOWN acknowledged a'],
      reasons,
    });
  });

  it.each(['open', 'acknowledged'])(
    'does not count an order as checked that a fail-over left in doubt, with a finding of status %s',
    async (status) => {
      const doubt = { record: null, preOrderId: null, failOver: 7 };
      const orders: ReconciledOrder[] = [
        { id: 'a', asset: '100', state: 'unknown', ...doubt },
        { id: 'b', asset: '50', state: 'held', ...doubt },
      ];
      const findings = [{ id: null, class: 'FAIL_OVER', status, changedAt: ACKNOWLEDGED.changedAt }];
      // The finding of the fail-over covers both orders, and is no order itself.
      expect(await judged({ orders, findings })).toEqual({
        isClean: false,
        findings: [`FAIL_OVER ${status} ?`],
        reasons: [['outcomeUnknown', 2]],
      });
      expect(await reportOf({ orders, findings }, factsOf)).toMatchObject({
        checked: 0,
        unchecked: 2,
        orders_in_doubt: 2,
        in_doubt: '150 BTC',
      });
    },
  );

  it('does not count an order as checked while the exchange answers with an older record, final or not', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', staleDate: '2026-01-05T11:00:00.000Z' },
      { id: 'b', state: 'open', staleDate: '2026-01-05T11:00:00.000Z' },
    ];
    const findings = [{ id: 'a', class: 'REPLICAS_DISAGREE', severity: 'info', ...ACKNOWLEDGED }];
    expect(await judged({ orders, findings })).toEqual({
      isClean: false,
      findings: ['REPLICAS_DISAGREE open b', 'REPLICAS_DISAGREE acknowledged a'],
      reasons: [['olderRecord', 2]],
    });
  });

  it('does not take an order for given up until it was looked up after the decision', async () => {
    const decided = '2026-01-05T11:00:00.000Z';
    const abandoned = { state: 'abandoned', record: null, changedAt: decided };
    const orders: ReconciledOrder[] = [
      { id: 'a', ...abandoned, lastLookupAt: '2026-01-05T10:59:59.000Z' },
      { id: 'b', ...abandoned, lastLookupAt: null },
      { id: 'c', ...abandoned, lastLookupAt: '2026-01-05T11:00:00.001Z' },
    ];
    expect(await judged({ orders })).toEqual({
      isClean: false,
      findings: ['UNCHECKED open a', 'UNCHECKED open b'],
      reasons: [['givenUp', 2]],
    });
    const facts = await reportOf({ orders }, factsOf);
    expect(facts).toMatchObject({ given_up: 3, nothing_to_compare: 1, unchecked: 2 });
  });

  it('has both sides and their difference before the outcomes, which a narrow screen hides', async () => {
    const labels = await reportOf({ orders: [{ id: 'a' }] }, ({ document }) =>
      document.sections.find(({ name }) => name === 'money')?.columns.map(({ key }) => key),
    );
    expect(labels?.slice(2, 7)).toEqual(['orders', 'ours', 'theirs', 'difference', 'succeeded']);
  });

  it('says how many orders were sent again after an unknown outcome', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', attempts: 2, resends: 1 },
      { id: 'b', state: 'accepted', record: null, attempts: 3, resends: 2 },
      { id: 'c' },
      // A look-up found it before it was sent again.
      { id: 'd', attempts: 1, resends: 1 },
    ];
    expect(await reportOf({ orders }, factsOf)).toMatchObject({ verdict: 'clean', sent_again: 2 });
    const waiting: ReconciledOrder = { id: 'e', state: 'pending', record: null, attempts: 2, resends: 1 };
    expect(await reportOf({ orders: [waiting] }, factsOf)).toMatchObject({ sent_again: 0 });
  });

  it('tells findings of orders that a person has decided from others, and has their money in no doubt', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', state: 'abandoned', asset: '2', record: { input: '3' }, changedAt: '2026-01-05T11:00:00.000Z' },
      { id: 'b', asset: '4', record: { input: '5' } },
    ];
    const findings = ['a', 'b'].map((id) => ({ id, class: 'AMOUNT_MISMATCH', firstSeenAt: CREATED_AT }));
    const decision = { external_order_id: 'a', old_value: 'disputed', new_value: 'abandoned', source: 'operator' };
    const events = [{ ...decision, observed_at: LOOKED_UP_AT }];
    expect((await judged({ orders, findings, events })).findings).toEqual(
      expect.arrayContaining(['AMOUNT_MISMATCH open b', 'AMOUNT_MISMATCH decided a']),
    );
    expect(await reportOf({ orders, findings, events }, factsOf)).toMatchObject({
      in_doubt: '4 BTC',
      errors: 2,
      because: expect.stringContaining('open errors: 2, 1 of them decided') as string,
    });
    expect(await reportOf({ orders, findings, events }, ({ document }) => document.verdict?.reasons)).toContainEqual(
      expect.stringMatching(/^2 open errors: .*, 1 is about an order that a person has decided about/),
    );
    // A decision after the moment of the report does not count.
    const later = [{ ...decision, observed_at: '2026-02-05T12:00:00.000Z' }];
    expect((await judged({ orders, findings, events: later })).findings).toContain('AMOUNT_MISMATCH open a');
  });

  it('takes a pair in other letter case for the same pair', async () => {
    const orders = [{ id: 'a', asset: '2', from: 'btc', to: 'eur', record: { from: 'BTC', to: 'EUR' } }];
    expect(await judged({ orders })).toEqual({ isClean: true, findings: [], reasons: [] });
    const [pair] = await reportOf({ orders }, (report) => rowsOf(report, 'pairs'));
    expect(pair).toMatchObject({ ours: '2', theirs: '2', difference: '0', other_pair: 0 });
  });

  it.each([
    ['of the same pair', 'EUR', { theirs: '2', difference: '0', other_pair: 0 }],
    ['of another pair', 'USD', { theirs: '0', difference: '-2', other_pair: 1 }],
  ])('takes a record with one currency alone for one %s if that currency is %s', async (_name, to, sums) => {
    const orders = [{ id: 'a', asset: '2', record: { from: null, to } }];
    expect((await judged({ orders })).reasons).toEqual([['noPair', 1]]);
    expect((await reportOf({ orders }, (report) => rowsOf(report, 'pairs')))[0]).toMatchObject(sums);
  });

  it('shows an amount of another pair as a difference, and adds no currencies together', async () => {
    const other = { from: 'ETH', to: 'EUR', output: '7', fee: '8', reward: '9' };
    const orders = [{ id: 'a', asset: '1', record: other }, { id: 'b' }];
    const { findings, pair } = await reportOf({ orders }, (report) => ({
      findings: rowsOf(report, 'findings'),
      pair: rowsOf(report, 'pairs')[0],
    }));
    expect(findings).toEqual([
      expect.objectContaining({ class: 'PAIR_MISMATCH', expected: 'BTC/EUR', actual: 'ETH/EUR' }),
    ]);
    expect(pair).toMatchObject({ ours: '2.5', theirs: '1.5', difference: '-1', other_pair: 1 });
    expect(pair).toMatchObject({ output: '100', fee: '0.001', reward: '0.5' });
  });

  it('counts the orders whose output, fee or reward is in no sum', async () => {
    const orders: ReconciledOrder[] = [
      { id: 'a', record: { output: null } },
      { id: 'b', record: { output: 'much', fee: null } },
      { id: 'c', record: { reward: '1/2' } },
      { id: 'd', state: 'accepted', record: null },
    ];
    const [pair] = await reportOf({ orders }, (report) => rowsOf(report, 'pairs'));
    expect(pair).toMatchObject({ output: '100', no_output: 2, fee: '0.002', no_fee: 1, reward: '1', no_reward: 1 });
  });

  it.each<[string, Omit<ReconciledOrder, 'id'>, string]>([
    ['an order that is being sent', { state: 'sending', record: null, lastLookupAt: null }, 'inFlight'],
    ['one never looked up', { state: 'accepted', record: null, lastLookupAt: null }, 'neverLookedUp'],
    ['one looked up long ago', { state: 'open', lastLookupAt: '2026-01-04T23:59:59.000Z' }, 'lookedUpLongAgo'],
    ['one of another position', { position: 'OUTPUT' }, 'otherPosition'],
    ['a record without an amount', { record: { input: null } }, 'noAmount'],
    ['a record with an odd amount', { record: { input: 'one' } }, 'noAmount'],
    ['a record without a pair', { record: { from: null, to: null } }, 'noPair'],
    ['a record not compared yet', { record: { comparedAt: null } }, 'notCompared'],
    [
      'a record that came afterwards, whatever date it bears',
      { record: { receivedAt: '2026-01-07T00:00:00.000Z', comparedAt: '2026-01-07T00:00:00.000Z' } },
      'changedAfter',
    ],
    ['one that changed afterwards', { changedAt: '2026-01-06T00:00:00.001Z' }, 'changedAfter'],
  ])('counts %s as unchecked and is not clean', async (_name, order, reason) => {
    const report = await judged({ orders: [{ id: 'a', ...order }, { id: 'b' }] });
    expect(report).toEqual({ isClean: false, findings: ['UNCHECKED open a'], reasons: [[reason, 1]] });
  });

  it.each<[string, Omit<ReconciledOrder, 'id'>]>([
    ['a final order, however long ago', { state: 'final', lastLookupAt: '2025-01-01T00:00:00.000Z' }],
    ['a fresh look-up without an order', { state: 'accepted', record: null }],
    ['an order never sent', { state: 'pending', record: null, lastLookupAt: null, sentAt: null }],
    ['a refused order', { state: 'rejected', record: null, lastLookupAt: null }],
    ['a look-up just in time', { state: 'open', lastLookupAt: '2026-01-05T00:00:00.000Z' }],
    ['a record that came again unchanged', { record: { receivedAt: '2026-01-07T00:00:00.000Z' } }],
  ])('is clean with %s', async (_name, order) => {
    expect(await judged({ orders: [{ id: 'a', ...order }] })).toEqual({ isClean: true, findings: [], reasons: [] });
  });

  it('speaks for its moment: later rows, findings and decisions do not exist for it', async () => {
    const orders = [{ id: 'a' }, { id: 'late', createdAt: '2026-01-06T00:00:00.001Z' }];
    const after = '2026-01-06T08:00:00.000Z';
    const findings: WrittenFinding[] = [
      { id: 'a', class: 'ADDRESS_CHANGED', firstSeenAt: after },
      { id: 'a', class: 'TX_HASH_CHANGED', status: 'acknowledged', changedAt: after, reason: 'later' },
      { id: 'a', class: 'LEG_CONFLICT', severity: 'warning', status: 'resolved', resolvedAt: after },
      { id: 'a', class: 'STUCK', severity: 'warning', status: 'resolved', resolvedAt: '2026-01-05T20:00:00.000Z' },
      { id: 'late', class: 'ORDER_REPLACED' },
    ];
    const lines = await reportOf({ orders, findings }, (report) => ({
      facts: factsOf(report),
      findings: rowsOf(report, 'findings').map((row) => [row['class'], row['status'], row['reason']]),
    }));
    expect(lines.facts).toMatchObject({ orders: 1, errors: 1, warnings: 1, as_of: AS_OF });
    expect(lines.findings).toEqual([
      ['TX_HASH_CHANGED', 'open', null],
      ['LEG_CONFLICT', 'open', null],
    ]);
  });

  it('takes orders inserted at or after --from and before --to, and only their findings', async () => {
    const orders = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => ({
      id: day,
      createdAt: `${day}T00:00:00.000Z`,
    }));
    const findings = orders.map(({ id }) => ({ id, class: 'ORDER_REPLACED', firstSeenAt: '2026-01-03T00:00:00.000Z' }));
    const given = { orders, findings, from: '2026-01-02T00:00:00.000Z', to: '2026-01-03T00:00:00.000Z' };
    expect((await judged(given)).findings).toEqual(['ORDER_REPLACED open 2026-01-02']);
    expect(await reportOf(given, factsOf)).toMatchObject({ orders: 1, from: given.from, to: given.to });
    expect((await judged({ ...given, to: '2027-01-01T00:00:00.000Z' })).findings).toHaveLength(2);
  });

  it('leaves out findings of a class that is ignored, and names the class', async () => {
    const findings: WrittenFinding[] = [{ id: 'a', class: 'TX_HASH_REUSED' }];
    const given = { orders: [{ id: 'a' }], findings };
    expect(await judged(given)).toMatchObject({ isClean: false, findings: ['TX_HASH_REUSED open a'] });
    const ignoring = { ...given, ignore: ['TX_HASH_REUSED', 'ADDRESS_MISMATCH'] as const };
    expect(await judged(ignoring)).toEqual({ isClean: true, findings: [], reasons: [] });
    expect(await reportOf(ignoring, factsOf)).toMatchObject({ errors: 0, ignored: 'TX_HASH_REUSED, ADDRESS_MISMATCH' });
    expect(await reportOf(given, factsOf)).toMatchObject({ errors: 1, ignored: null });
  });

  it('lists what is grave first, then by class and order', async () => {
    const orders = ['b', 'a', 'c'].map((id) => ({ id }));
    const findings: WrittenFinding[] = [
      { id: 'b', class: 'CLOCK_SKEW', severity: 'info' },
      { id: 'c', class: 'STUCK', severity: 'warning' },
      { id: 'c', class: 'ORDER_REPLACED' },
      { id: 'b', class: 'ORDER_REPLACED' },
      { id: 'a', class: 'TX_HASH_REUSED' },
    ];
    expect((await judged({ orders, findings })).findings).toEqual([
      'ORDER_REPLACED open b',
      'ORDER_REPLACED open c',
      'TX_HASH_REUSED open a',
      'STUCK open c',
      'CLOCK_SKEW open b',
    ]);
  });

  it('lists the findings of an order whose row was deleted, whatever the period, and is not clean', async () => {
    const findings = [{ id: 'gone', class: 'ORDER_REPLACED' }];
    const report = await judged({ orders: [{ id: 'a' }], findings, from: '2026-01-02', to: '2026-01-03' });
    expect(report).toEqual({ isClean: false, findings: ['ORDER_REPLACED open gone'], reasons: [] });
    const classes = await reportOf({ orders: [], findings }, (one) => rowsOf(one, 'classes'));
    expect(classes).toEqual([expect.objectContaining({ day: '?', pair: '?/?', class: 'ORDER_REPLACED', open: 1 })]);
  });

  it.each(['', 'yesterday', '2026-01-05', '2026-13-05T00:00:00.000Z', '3026-01-05T00:00:00.000Z'])(
    'is not clean if it is not known when a row was inserted: %j',
    async (createdAt) => {
      const orders = [{ id: 'a', createdAt, sentAt: '2026-01-05T10:00:00.000Z' }];
      const facts = await reportOf({ orders }, factsOf);
      expect(facts).toMatchObject({ verdict: 'not clean', unknown_age: 1 });
      expect(facts['because']).toContain('rows whose created_at is no time before they were sent: 1');
    },
  );

  it('names its account, and is not clean if there are rows of others, which are never sent', async () => {
    const other = { account: 'another', state: 'pending', record: null, sentAt: null, lastLookupAt: null };
    const orders: ReconciledOrder[] = [{ id: 'a' }, { id: 'b', ...other }, { id: 'c', ...other, account: 'Default' }];
    expect(await reportOf({ orders }, factsOf)).toMatchObject({
      account: 'default',
      orders: 1,
      because: 'rows of other accounts, which are not driven: 2',
      other_accounts: 2,
    });
  });

  it('says how old its oldest look-up is', async () => {
    const orders = [
      { id: 'a', state: 'open', lastLookupAt: '2026-01-05T11:00:00.000Z' },
      { id: 'b', state: 'accepted', record: null, lastLookupAt: '2026-01-05T10:30:00.000Z' },
      { id: 'c', lastLookupAt: '2025-12-01T00:00:00.000Z' },
    ];
    const facts = await reportOf({ orders }, factsOf);
    expect(facts).toMatchObject({
      oldest_lookup: '2026-01-05T10:30:00.000Z',
      oldest_lookup_final: '2025-12-01T00:00:00.000Z',
      verdict: 'clean',
    });
  });

  it('has the same bytes in every form, in whatever order the rows were inserted', async () => {
    const orders: ReconciledOrder[] = [
      ...HOSTILE.map((id, index) => ({ id, asset: `${index}.1`, record: { input: `${index}.2` } })),
      ...HOSTILE.map((from, index) => ({ id: `o${index}`, from, state: 'open', lastLookupAt: null })),
      { id: 'later', createdAt: '2026-01-05T11:00:00.000Z', state: 'accepted', record: null },
    ];
    const forms = async (given: readonly ReconciledOrder[]) => {
      const findings = ({ sections }: ReportDocument) => csvText(sections.find(({ name }) => name === 'findings')!);
      const texts = [findings, htmlText, jsonText, tableText].map((form) =>
        reportOf({ orders: given }, ({ document }) => wholeText(form(document))),
      );
      const workbook = await reportOf({ orders: given }, ({ document }) => xlsxBytes(document));
      return [...(await Promise.all(texts)), workbook.toString('hex')];
    };
    const first = await forms(orders);
    expect(first[0]).toContain("'=HYPERLINK");
    expect(first[1]).not.toContain('<script>');
    const second = await forms(orders.toReversed());
    expect(second.map((text, index) => text === first[index])).toEqual([true, true, true, true, true]);
  });
});
