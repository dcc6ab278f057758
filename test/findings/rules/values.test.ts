import { describe, expect, it } from 'vitest';
import type { FindingClassName } from '../../../src/findings/rules/classes.ts';
import { compareRecord } from '../../../src/findings/rules/compare.ts';
import type { ReconcileSettings, RecordContext } from '../../../src/findings/rules/finding.ts';
import type { RecordView } from '../../../src/orders/rules/record.ts';
import { contextWith, CREATED, MODIFIED, RECEIVED, SENT } from '../../support/records.ts';

const SETTINGS: ReconcileSettings = { tolerance: '0', finalStatuses: [], openStatuses: ['REQUEST'], ignore: [] };
const MAPPED: ReconcileSettings = { ...SETTINGS, finalStatuses: ['DONE'] };

const foundIn = (context: RecordContext, settings = SETTINGS) => compareRecord(context, settings).found;
const later = (date: string, seconds: number) => new Date(Date.parse(date) + seconds * 1_000).toISOString();
/** The same in both records, so that nothing changed. */
const unlinked = (changes: Partial<RecordView>) => ({ record: changes, earlier: changes });
const amounts = (asset: string, inputAsset: string) =>
  contextWith({ order: { asset }, ...unlinked({ inputAsset, outputAsset: null }) });

describe('a finding', () => {
  it.each<[FindingClassName, RecordContext, string | null, string | null, ReconcileSettings?]>([
    ['IDENTITY_MISMATCH', contextWith({ record: { externalOrderId: 'b' } }), 'a', 'b'],
    ['MERCHANT_MISMATCH', contextWith({ record: { merchantId: 'm-2' } }), 'm-1', 'm-2'],
    [
      'ID_COLLISION',
      contextWith(unlinked({ creationDate: later(SENT, -301) })),
      `created after ${SENT}`,
      later(SENT, -301),
    ],
    ['UNEXPECTED_ORDER', contextWith({ stateBefore: 'cancelled' }), 'no order: cancelled', 'o-1'],
    ['UNEXPECTED_ORDER', contextWith({ isExpected: false, earlier: null }), 'no order: never sent', 'o-1'],
    [
      'TERMINAL_REOPENED',
      contextWith({ stateBefore: 'final', earlier: { orderStatus: 'DONE', modificationDate: null } }),
      'final as DONE',
      `open as REQUEST, modified ${MODIFIED}`,
    ],
    [
      'TERMINAL_REOPENED',
      contextWith({ stateBefore: 'final', earlier: null, record: { modificationDate: null } }),
      'final as before',
      'open as REQUEST, modified at no time',
    ],
    ['ORDER_REPLACED', contextWith({ record: { orderId: 'o-2' } }), 'id o-1, number 17', 'id o-2, number 17'],
    ['ORDER_REPLACED', contextWith({ record: { orderNumber: null } }), 'id o-1, number 17', 'id o-1, number none'],
    ['ORDER_REUSED', contextWith({ orderUsedBy: 'b' }), 'o-1 for this order only', 'o-1 for b too'],
    ['PAIR_MISMATCH', contextWith({ record: { toCurrency: 'USD' } }), 'BTC/EUR', 'BTC/USD'],
    ['AMOUNT_MISMATCH', amounts('1.5', '1.6'), '1.5', '1.6'],
    ['RATE_INCONSISTENT', contextWith(unlinked({ outputAsset: '45001' })), '1.5 at 30000', '45001'],
    ['TYPE_MISMATCH', contextWith({ record: { orderType: 'WITHDRAW' } }), 'DEPOSIT', 'WITHDRAW'],
    ['TYPE_MISMATCH', contextWith({ record: { exchangeType: 'BUY' } }), 'SELL', 'BUY'],
    ['LEG_CURRENCY_MISMATCH', contextWith({ record: { fiatCurrency: 'ABC' } }), 'BTC, EUR', 'ABC, BTC'],
    ['ADDRESS_MISMATCH', contextWith(unlinked({ externalCryptoAddress: 'x' })), 'address-1', 'x'],
    ['ADDRESS_CHANGED', contextWith({ record: { internalCryptoAddress: null } }), 'inside-1', null],
    ['PAYMENT_ROUTE_MISMATCH', contextWith({ record: { providerType: 'OTHER' } }), 'CARDPROV', 'OTHER'],
    [
      'PAYMENT_ROUTE_MISMATCH',
      contextWith({ record: { paymentToken: 'token-2' } }),
      'paymentToken (not shown)',
      'another paymentToken',
    ],
    ['TX_HASH_CHANGED', contextWith({ record: { transactionHash: 'hash-2' } }), 'hash-1', 'hash-2'],
    ['TX_HASH_REUSED', contextWith({ hashUsedBy: 'b' }), 'hash-1 for this order only', 'hash-1 for b too'],
    ['STATUS_UNMAPPED', contextWith(unlinked({ orderStatus: 'LIMBO' })), 'a status of the settings', 'LIMBO', MAPPED],
    [
      'LEG_CONFLICT',
      contextWith({ ...unlinked({ fiatStatus: 'NEW' }), state: 'final' }),
      'both transactions begun, or none',
      'crypto PENDING, fiat NEW',
    ],
    ['SILENT_CHANGE', contextWith({ record: { orderStatus: 'DONE' } }), 'orderStatus REQUEST', 'orderStatus DONE'],
    ['SILENT_CHANGE', contextWith({ record: { creationDate: null } }), `creationDate ${CREATED}`, 'creationDate null'],
    ['SILENT_CHANGE', contextWith({ record: { cryptoStatus: 'DONE' } }), 'cryptoStatus PENDING', 'cryptoStatus DONE'],
    ['SILENT_CHANGE', contextWith({ record: { inputAsset: null } }), 'inputAsset 1.5', 'inputAsset null'],
    ['SILENT_CHANGE', contextWith({ record: { outputAsset: null } }), 'outputAsset 45000', 'outputAsset null'],
    ['SILENT_CHANGE', contextWith({ record: { ratio: null } }), 'ratio 30000', 'ratio null'],
    ['TERMS_CHANGED', contextWith({ record: { percentEnabled: null } }), 'percentEnabled true', 'percentEnabled null'],
    ['TERMS_CHANGED', contextWith({ record: { fee: '0.11' } }), 'fee 0.1', 'fee 0.11'],
  ])('of class %s names both values (%#)', (name, context, expected, actual, settings) => {
    expect(foundIn(context, settings)).toEqual([{ class: name, expected, actual }]);
  });

  it.each([
    [{ completionDate: '2026-01-05T09:00:00Z' }, ['2026-01-05T09:00:00Z', CREATED]],
    [{ modificationDate: '2026-01-05T09:00:00Z' }, ['2026-01-05T09:00:00Z', CREATED]],
    [{ modificationDate: '2026-01-05T10:07:00Z' }, ['2026-01-05T10:07:00Z', RECEIVED]],
    [{ creationDate: '2026-01-05T10:07:00Z', modificationDate: null }, ['2026-01-05T10:07:00Z', RECEIVED]],
    [{ completionDate: MODIFIED }, [MODIFIED, 'REQUEST']],
    [{ completionDate: SENT, serverDate: null }, [SENT, CREATED]],
  ])('of dates that contradict each other names both: %o', (dates, values) => {
    const [found] = foundIn(contextWith(unlinked(dates)));
    expect([found?.class, found?.expected]).toEqual(['COMPLETION_INCONSISTENT', 'dates that agree']);
    for (const value of values) expect(found?.actual).toContain(value);
  });
});
