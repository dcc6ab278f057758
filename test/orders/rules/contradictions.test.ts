import { describe, expect, it } from 'vitest';
import { CONTRADICTION_KINDS, contradictionsOf, isCreatedBefore } from '../../../src/orders/rules/contradictions.ts';
import { after } from '../../../src/base/instant.ts';
import { contextWith, recordWith, SENT } from '../../support/records.ts';
import { DAY, MINUTE } from '../../support/tracking.ts';

const SETTINGS = { tolerance: '0' };
const sentAt = new Date(SENT);
const dayBefore = after(sentAt, -DAY).toISOString();

describe('what contradicts the row in a record', () => {
  it('is named with both values, each kind of it', () => {
    const compared = contextWith({
      record: {
        merchantId: 'm-2',
        creationDate: dayBefore,
        toCurrency: 'USD',
        orderType: 'WITHDRAW',
        inputAsset: '1.6',
        externalOrderId: 'A',
      },
    });
    const found = contradictionsOf(compared, SETTINGS);
    expect(found).toEqual([
      { kind: 'merchant', expected: 'm-1', actual: 'm-2' },
      { kind: 'age', expected: `created after ${SENT}`, actual: dayBefore },
      { kind: 'pair', expected: 'BTC/EUR', actual: 'BTC/USD' },
      { kind: 'type', expected: 'DEPOSIT', actual: 'WITHDRAW' },
      { kind: 'amount', expected: '1.5', actual: '1.6' },
      { kind: 'id', expected: 'a', actual: 'A' },
    ]);
    expect(found.map(({ kind }) => kind)).toEqual(CONTRADICTION_KINDS);
  });

  it('is nothing if they agree, and if the record does not say', () => {
    const silent = { merchantId: null, creationDate: null, toCurrency: null, orderType: null, inputAsset: null };
    expect([{}, silent].map((record) => contradictionsOf(contextWith({ record }), SETTINGS))).toEqual([[], []]);
  });
});

describe('whether an order is older than a request', () => {
  const record = recordWith({ creationDate: dayBefore, serverDate: null });

  it.each([
    ['is told if the answer came after it', MINUTE, true],
    ['is told if the answer seems to have come 5 min before it', -5 * MINUTE, true],
    ['is not told if our clock was set back by more meanwhile', -5 * MINUTE - 1, undefined],
  ])('%s', (_what, receivedMs, isOlder) => {
    expect(isCreatedBefore(sentAt, record, after(sentAt, receivedMs))).toBe(isOlder);
  });

  it('is not told of times that cannot be read', () => {
    expect(isCreatedBefore(new Date(''), record, sentAt)).toBeUndefined();
    expect(isCreatedBefore(sentAt, { ...record, creationDate: 'soon' }, sentAt)).toBeUndefined();
  });
});
