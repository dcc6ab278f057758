import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINDING_CLASSES, GUESSED_CLASSES, type FindingClassName } from '../../../src/findings/rules/classes.ts';
import type { ReconcileSettings, RecordContext } from '../../../src/findings/rules/finding.ts';
import type { Tolerance } from '../../../src/base/decimal.ts';
import type { MerchantOrder, RecordView } from '../../../src/orders/rules/record.ts';
import { comparePreOrder, compareRecord } from '../../../src/findings/rules/compare.ts';
import { contextWith, CREATED, MODIFIED, orderWith, RECEIVED, recordWith, SENT } from '../../support/records.ts';

const SETTINGS: ReconcileSettings = { tolerance: '0', finalStatuses: [], openStatuses: ['REQUEST'], ignore: [] };
const OUTPUT: ReconcileSettings = { ...SETTINGS, outputPosition: 'outputAsset' };
const byCurrency = (tolerance: Tolerance): ReconcileSettings => ({ ...SETTINGS, tolerance });
/** An order that asks for an output of `asset`; its record has an output of 45000. */
const output = (asset: string) => contextWith({ order: { asset, assetPosition: 'OUTPUT' } });

const MAPPED: ReconcileSettings = { ...SETTINGS, finalStatuses: ['DONE'] };
const HUGE = `${'1234567890'.repeat(5)}.1234567890`;

type Case = readonly [name: string, context: RecordContext, settings?: ReconcileSettings];

const foundIn = (context: RecordContext, settings = SETTINGS) => compareRecord(context, settings).found;
const classesOf = (context: RecordContext, settings = SETTINGS) =>
  foundIn(context, settings).map((finding) => finding.class);

/** A date that is `seconds` after another. */
const later = (date: string, seconds: number) => new Date(Date.parse(date) + seconds * 1_000).toISOString();

/** Cases that raise a class and no other, and nearest neighbours that raise nothing. */
const RULES: Readonly<Partial<Record<FindingClassName, { raise: readonly Case[]; spare: readonly Case[] }>>> = {
  IDENTITY_MISMATCH: {
    raise: [
      ['another id', contextWith({ record: { externalOrderId: 'b' } })],
      ['the same id in capitals', contextWith({ record: { externalOrderId: 'A' } })],
    ],
    spare: [['the same id', contextWith()]],
  },
  MERCHANT_MISMATCH: {
    raise: [['another merchant', contextWith({ record: { merchantId: 'm-2' } })]],
    spare: [['the first record of the account', contextWith({ merchantId: null, record: { merchantId: 'm-2' } })]],
  },
  ID_COLLISION: {
    raise: [
      ['created 5 min and 1 ms before it was sent', contextWith(unlinked({ creationDate: later(SENT, -300.001) }))],
      [
        'created 1 h 5 min and 1 ms before it was sent, by a clock that is 1 h behind',
        behind(3_600, { creationDate: later(SENT, -3_900.001), modificationDate: null }),
      ],
      [
        'created a day before it was sent, by a clock that is a day behind',
        behind(86_400, { creationDate: later(SENT, -86_400), modificationDate: null }),
      ],
    ],
    spare: [
      ['created 5 min before it was sent', contextWith(unlinked({ creationDate: later(SENT, -300) }))],
      ['a creation date that cannot be read', contextWith(unlinked({ creationDate: 'yesterday' }))],
      ['no creation date', contextWith(unlinked({ creationDate: null }))],
    ],
  },
  UNEXPECTED_ORDER: {
    raise: [
      ['a cancelled row', contextWith({ stateBefore: 'cancelled' })],
      ['an abandoned row', contextWith({ stateBefore: 'abandoned' })],
      ['a rejected row', contextWith({ stateBefore: 'rejected' })],
      ['a row that was never sent', contextWith({ isExpected: false, firstSentAt: null, earlier: null })],
    ],
    spare: [
      ['one that is known already', contextWith({ isExpected: false, firstSentAt: null })],
      ['an accepted row', contextWith({ stateBefore: 'accepted' })],
      ['a held row', contextWith({ stateBefore: 'held' })],
      ['an abandoned row that stays so', contextWith({ stateBefore: 'abandoned', state: 'abandoned' })],
    ],
  },
  TERMINAL_REOPENED: {
    raise: [['a final order that is open', contextWith({ stateBefore: 'final', state: 'open' })]],
    spare: [
      ['a final order that stays final', contextWith({ stateBefore: 'final', state: 'final' })],
      ['an open order that stays open', contextWith()],
    ],
  },
  ORDER_REUSED: {
    raise: [['the order of another row', contextWith({ orderUsedBy: 'b' })]],
    spare: [['an order of its own', contextWith()]],
  },
  ORDER_REPLACED: {
    raise: [
      ['another id', contextWith({ record: { orderId: 'o-2' } })],
      ['another number', contextWith({ record: { orderNumber: '18' } })],
    ],
    spare: [['the first record', contextWith({ record: { orderId: 'o-2' }, earlier: null })]],
  },
  PAIR_MISMATCH: {
    raise: [['the pair the other way round', contextWith({ record: { fromCurrency: 'EUR', toCurrency: 'BTC' } })]],
    spare: [
      ['the pair in other letters', contextWith({ record: { fromCurrency: 'btc', toCurrency: 'Eur' } })],
      ['no pair', contextWith({ record: { fromCurrency: null, toCurrency: null } })],
    ],
  },
  AMOUNT_MISMATCH: {
    raise: [
      ['one more in the last of 60 digits', amounts(HUGE, HUGE.replace(/0$/, '1'))],
      ['a digit if there was none', amounts('1.5', '1.50000000000000000001')],
      ['twice the amount', amounts('1.5', '3')],
      ['a hostile exponent', amounts('1.5', '1e400')],
      ['more than that of the currency', amounts('1.5', '1.51'), byCurrency({ BTC: '0.001', default: '1' })],
      ['more than the other amount, if OUTPUT refers to that', output('45001'), OUTPUT],
      ['more than the tolerance', amounts('1.5', '1.5100001'), { ...SETTINGS, tolerance: '0.01' }],
      ['less than the tolerance lets through', amounts('1.5', '1.4899999'), { ...SETTINGS, tolerance: '0.01' }],
    ],
    spare: [
      ['1.50 for 1.5', amounts('1.5', '1.50')],
      ['1.5 for 1.50', amounts('1.50', '1.5')],
      ['the same in powers of ten', amounts('1500', '1.5e3')],
      ['the same 60 digits', amounts(HUGE, HUGE)],
      ['as much as the tolerance', amounts('1.5', '1.51'), { ...SETTINGS, tolerance: '0.01' }],
      ['as much as that of the currency', amounts('1.5', '1.51'), byCurrency({ BTC: '0.01', EUR: '0', default: '0' })],
      ['as much as that of others', amounts('1.5', '1.51'), byCurrency({ EUR: '0', default: '0.01' })],
      ['within the other amount, if OUTPUT refers to that', output('45000'), OUTPUT],
      ['no amount', contextWith(unlinked({ inputAsset: null }))],
      ['an amount of another position', contextWith({ order: { assetPosition: 'OUTPUT', asset: '7' } })],
    ],
  },
  RATE_INCONSISTENT: {
    raise: [['an output that the ratio does not give', contextWith(unlinked({ outputAsset: '45001' }))]],
    spare: [
      ['a ratio the other way round', contextWith(unlinked({ inputAsset: '1.5', outputAsset: '0.5', ratio: '3' }))],
      ['no ratio', contextWith(unlinked({ ratio: null }))],
      ['within the tolerance', contextWith(unlinked({ outputAsset: '45000.5' })), { ...SETTINGS, tolerance: '0.5' }],
      ['within that of its currency', contextWith(unlinked({ outputAsset: '45000.5' })), byCurrency({ EUR: '0.5' })],
    ],
  },
  TYPE_MISMATCH: {
    raise: [
      ['another order type', contextWith({ record: { orderType: 'WITHDRAW' } })],
      ['another exchange type than the pre-order', contextWith({ record: { exchangeType: 'BUY' } })],
    ],
    spare: [
      ['no order type', contextWith({ record: { orderType: null } })],
      ['no pre-order to compare with', contextWith({ record: { exchangeType: 'BUY' }, preOrderExchangeType: null })],
    ],
  },
  LEG_CURRENCY_MISMATCH: {
    raise: [['another fiat currency', contextWith({ record: { fiatCurrency: 'USD' } })]],
    spare: [
      ['crypto and fiat the other way round', contextWith({ record: { cryptoCurrency: 'EUR', fiatCurrency: 'BTC' } })],
      ['other letters', contextWith({ record: { cryptoCurrency: 'btc', fiatCurrency: 'eur' } })],
      ['no fiat transaction', contextWith({ record: { fiatCurrency: null } })],
    ],
  },
  ADDRESS_MISMATCH: {
    raise: [['another address than the row', contextWith(unlinked({ externalCryptoAddress: 'address-2' }))]],
    spare: [['no address in the row', contextWith({ order: { cryptoAddress: null } })]],
  },
  ADDRESS_CHANGED: {
    raise: [
      [
        'another address than the row and the record before',
        contextWith({ record: { externalCryptoAddress: 'address-2' } }),
        { ...SETTINGS, ignore: ['ADDRESS_MISMATCH'] },
      ],
      [
        'another address than the record before, if the row has none',
        contextWith({ order: { cryptoAddress: null }, record: { externalCryptoAddress: 'address-2' } }),
      ],
      ['another address of the exchange', contextWith({ record: { internalCryptoAddress: 'inside-2' } })],
    ],
    spare: [
      ['the address of the row again', contextWith({ earlier: { externalCryptoAddress: 'address-2' } })],
      ['a first address if the row has none', contextWith({ order: { cryptoAddress: null }, earlier: null })],
      ['no address yet', contextWith({ record: { externalCryptoAddress: null } })],
      ['a first address of the exchange', contextWith({ earlier: { internalCryptoAddress: null } })],
    ],
  },
  PAYMENT_ROUTE_MISMATCH: {
    raise: [
      ['another provider', contextWith({ record: { providerType: 'OTHER' } })],
      ['another payment token', contextWith({ record: { paymentToken: 'token-2' } })],
    ],
    spare: [
      ['a token that was not asked for', contextWith({ order: { paymentToken: null } })],
      ['no provider yet', contextWith({ record: { providerType: null } })],
    ],
  },
  TX_HASH_CHANGED: {
    raise: [
      ['another hash', contextWith({ record: { transactionHash: 'hash-2' } })],
      ['no hash any more', contextWith({ record: { transactionHash: null } })],
    ],
    spare: [['the first hash', contextWith({ earlier: { transactionHash: null } })]],
  },
  TX_HASH_REUSED: {
    raise: [['the hash of another order', contextWith({ hashUsedBy: 'b' })]],
    spare: [['a hash of its own', contextWith()]],
  },
  STATUS_UNMAPPED: {
    raise: [['a status of neither list', contextWith(unlinked({ orderStatus: 'LIMBO' })), MAPPED]],
    spare: [
      ['the documented status', contextWith(), { ...MAPPED, openStatuses: [] }],
      ['an open status', contextWith(unlinked({ orderStatus: 'LIMBO' })), { ...MAPPED, openStatuses: ['LIMBO'] }],
      ['a final status', contextWith({ ...unlinked({ orderStatus: 'DONE' }), state: 'final' }), MAPPED],
      ['any status while none is mapped', contextWith(unlinked({ orderStatus: 'LIMBO' }))],
    ],
  },
  LEG_CONFLICT: {
    raise: [
      [
        'final with a fiat transaction that is new',
        contextWith({ ...unlinked({ fiatStatus: 'NEW' }), state: 'final' }),
      ],
    ],
    spare: [
      ['open with a fiat transaction that is new', contextWith(unlinked({ fiatStatus: 'NEW' }))],
      ['final with both new', contextWith({ ...unlinked({ fiatStatus: 'NEW', cryptoStatus: 'NEW' }), state: 'final' })],
      ['final without a fiat transaction', contextWith({ ...unlinked({ fiatStatus: null }), state: 'final' })],
    ],
  },
  COMPLETION_INCONSISTENT: {
    raise: [
      [
        'completed before it was created',
        contextWith(unlinked({ orderStatus: 'DONE', completionDate: later(CREATED, -1) })),
      ],
      ['modified before it was created', contextWith(unlinked({ modificationDate: later(CREATED, -1) }))],
      [
        'created after the time of the server',
        contextWith(unlinked({ creationDate: MODIFIED, serverDate: later(MODIFIED, -60) })),
      ],
      [
        'modified after the time of the server',
        contextWith(unlinked({ modificationDate: later(RECEIVED, 1), serverDate: RECEIVED })),
      ],
      ['completed, with an open status', contextWith(unlinked({ completionDate: MODIFIED }))],
    ],
    spare: [
      ['completed as it was created', contextWith(unlinked({ orderStatus: 'DONE', completionDate: CREATED }))],
      ['modified as it was created', contextWith(unlinked({ modificationDate: CREATED }))],
      ['to be completed later, with an open status', contextWith(unlinked({ completionDate: later(RECEIVED, 60) }))],
      ['a date that cannot be read', contextWith(unlinked({ completionDate: 'soon' }))],
    ],
  },
  SILENT_CHANGE: {
    raise: [
      ['a status', contextWith({ record: { orderStatus: 'DONE' } })],
      [
        'a status under the same date written otherwise',
        contextWith({ record: { orderStatus: 'DONE', modificationDate: MODIFIED.replace('.000Z', '+00:00') } }),
      ],
      [
        'a status under a date that cannot be read',
        contextWith({ record: { orderStatus: 'DONE', modificationDate: 'now' }, earlier: { modificationDate: 'now' } }),
      ],
      ['the status of a transaction', contextWith({ record: { fiatStatus: 'PAID' } })],
      ['a completion date', contextWith({ record: { completionDate: later(RECEIVED, 60) } })],
    ],
    spare: [
      [
        'a status under another modification date',
        contextWith({ record: { orderStatus: 'DONE', modificationDate: RECEIVED } }),
      ],
      ['an amount that is written otherwise', contextWith({ record: { inputAsset: '1.50', outputAsset: '45000.0' } })],
      [
        'a status under another date that cannot be read',
        contextWith({
          record: { orderStatus: 'DONE', modificationDate: 'now' },
          earlier: { modificationDate: 'then' },
        }),
      ],
      ['the first record', contextWith({ record: { orderStatus: 'DONE' }, earlier: null })],
      [
        'no modification date',
        contextWith({ record: { orderStatus: 'DONE', modificationDate: null }, earlier: { modificationDate: null } }),
      ],
    ],
  },
  TERMS_CHANGED: {
    raise: [
      ['another fee', contextWith({ record: { fee: '0.11' } })],
      ['another percent', contextWith({ record: { percent: '2' } })],
      ['the percent turned off', contextWith({ record: { percentEnabled: 'false' } })],
      ['no reward any more', contextWith({ record: { reward: null } })],
    ],
    spare: [
      ['a fee that is written otherwise', contextWith({ record: { fee: '0.10' } })],
      ['a first fee', contextWith({ earlier: { fee: null } })],
    ],
  },
  CLOCK_SKEW: {
    raise: [
      ['a server 5 min and 1 ms ahead', contextWith(unlinked({ serverDate: later(RECEIVED, 300.001) }))],
      ['a server far behind', contextWith({ receivedAt: new Date(later(RECEIVED, 301)) })],
    ],
    spare: [
      ['a server 5 min ahead', contextWith(unlinked({ serverDate: later(RECEIVED, 300) }))],
      ['no time of the server', contextWith(unlinked({ serverDate: null }))],
    ],
  },
};

/** Two records that say the same by a clock of the exchange that is `seconds` behind, which is found by itself. */
function behind(seconds: number, changes: Partial<RecordView>): RecordContext {
  return contextWith(unlinked({ ...changes, serverDate: later(RECEIVED, -seconds) }));
}

/** The findings of a wrong clock of the exchange beside anything else. */
const BY_CLOCK: readonly FindingClassName[] = ['CLOCK_SKEW'];

/** Amounts of the row and of two records that agree with each other. */
function amounts(asset: string, inputAsset: string): RecordContext {
  return contextWith({ order: { asset }, ...unlinked({ inputAsset, outputAsset: null }) });
}

/** The same in both records, so that nothing changed. */
function unlinked(changes: Partial<RecordView>) {
  return { record: changes, earlier: changes };
}

const cases = (kind: 'raise' | 'spare') =>
  Object.entries(RULES).flatMap(([name, rule]) =>
    rule[kind].map(([what, context, settings]) => ({ name: name as FindingClassName, what, context, settings })),
  );

describe('an order record held against its order', () => {
  it('has no finding when everything agrees', () => {
    expect(foundIn(contextWith(), MAPPED)).toEqual([]);
  });

  it.each(cases('raise'))('$name is found, and nothing else: $what', ({ name, context, settings }) => {
    const others = BY_CLOCK.filter((one) => name === 'ID_COLLISION' && classesOf(context, settings).includes(one));
    expect(new Set(classesOf(context, settings))).toEqual(new Set([name, ...others]));
    for (const { expected, actual } of foundIn(context, settings)) expect([actual, '']).not.toContain(expected);
  });

  it.each(cases('spare'))('$name is not found, nor anything else: $what', ({ context, settings }) => {
    expect(foundIn(context, settings)).toEqual([]);
  });

  it.each<[FindingClassName, RecordContext]>([
    ['MERCHANT_MISMATCH', contextWith({ record: { merchantId: null } })],
    ['MERCHANT_MISMATCH', contextWith({ merchantId: null })],
    ['ID_COLLISION', contextWith(unlinked({ creationDate: 'yesterday' }))],
    ['ID_COLLISION', contextWith(unlinked({ creationDate: '2025-02-30T12:00:00Z' }))],
    ['PAIR_MISMATCH', contextWith({ record: { toCurrency: null } })],
    ['AMOUNT_MISMATCH', contextWith(unlinked({ inputAsset: null }))],
    ['AMOUNT_MISMATCH', contextWith({ order: { assetPosition: 'OUTPUT' } })],
    ['RATE_INCONSISTENT', contextWith(unlinked({ ratio: null }))],
    ['TYPE_MISMATCH', contextWith({ record: { orderType: null } })],
    ['TYPE_MISMATCH', contextWith({ record: { exchangeType: null } })],
    ['LEG_CURRENCY_MISMATCH', contextWith({ record: { fiatCurrency: null } })],
    ['LEG_CURRENCY_MISMATCH', contextWith({ record: { cryptoCurrency: null } })],
    ['ADDRESS_MISMATCH', contextWith(unlinked({ externalCryptoAddress: null }))],
    ['LEG_CONFLICT', contextWith({ ...unlinked({ cryptoStatus: null }), state: 'final' })],
    ['COMPLETION_INCONSISTENT', contextWith(unlinked({ serverDate: null }))],
    ['PAYMENT_ROUTE_MISMATCH', contextWith({ record: { providerType: null } })],
    ['PAYMENT_ROUTE_MISMATCH', contextWith({ record: { paymentToken: null } })],
    ['TX_HASH_REUSED', contextWith(unlinked({ transactionHash: null }))],
    ['LEG_CONFLICT', contextWith({ ...unlinked({ fiatStatus: null }), state: 'final' })],
    ['COMPLETION_INCONSISTENT', contextWith(unlinked({ creationDate: null }))],
    ['COMPLETION_INCONSISTENT', contextWith(unlinked({ modificationDate: null }))],
    ['COMPLETION_INCONSISTENT', contextWith(unlinked({ completionDate: 'soon' }))],
    ['COMPLETION_INCONSISTENT', contextWith(unlinked({ completionDate: '2025-02-30T12:00:00Z' }))],
    ['CLOCK_SKEW', contextWith(unlinked({ serverDate: null }))],
  ])('%s is not judged if what it needs is not given (%#)', (name, context) => {
    expect(compareRecord(contextWith(), SETTINGS).unjudged).toEqual([]);
    expect(compareRecord(context, SETTINGS)).toMatchObject({ found: [], unjudged: expect.arrayContaining([name]) });
  });

  it('is judged by its dates also when it is completed', () => {
    const completed = unlinked({ completionDate: MODIFIED, orderStatus: 'DONE' });
    expect(compareRecord(contextWith(completed), SETTINGS)).toEqual({ found: [], unjudged: [] });
  });

  it.each(GUESSED_CLASSES.filter((name) => RULES[name] !== undefined))(
    'has no finding of the class %s if that is ignored, and the class counts as judged',
    (name) => {
      for (const [, context, settings = SETTINGS] of RULES[name]?.raise ?? []) {
        const { found, unjudged } = compareRecord(context, { ...settings, ignore: [name] });
        expect([found.map((finding) => finding.class), unjudged]).toEqual([[], []]);
      }
    },
  );

  it('is judged if the order asks for nothing', () => {
    const order = { providerType: null, paymentToken: null, cryptoAddress: null };
    const record = { providerType: null, paymentToken: null, externalCryptoAddress: null, exchangeType: null };
    const { unjudged } = compareRecord(contextWith({ order, record, preOrderExchangeType: null }), SETTINGS);
    expect(unjudged).toEqual([]);
  });

  it('never shows a payment token', () => {
    const found = foundIn(contextWith({ record: { paymentToken: 'token-2' } }), SETTINGS);
    const order = orderWith({ limit: null });
    const echoed = comparePreOrder(order, { ...order, paymentToken: 'token-2' });
    expect(found).toHaveLength(1);
    expect(echoed).toHaveLength(1);
    expect(JSON.stringify([found, echoed])).not.toContain('token-');
  });

  it('is compared by the clock of the exchange, so that a wrong clock of ours finds no collision', () => {
    const [firstSentAt, receivedAt] = [later(SENT, 3_600), later(RECEIVED, 3_600)].map((date) => new Date(date));
    expect(classesOf(contextWith({ firstSentAt: firstSentAt!, receivedAt: receivedAt! }))).toEqual(['CLOCK_SKEW']);
  });

  it('is allowed as much difference between the clocks as between two time zones, and not more', () => {
    const at = (seconds: number) =>
      classesOf(behind(seconds, { creationDate: later(SENT, -seconds), modificationDate: null }));
    expect([at(14 * 3_600), at(14 * 3_600 + 0.001)]).toEqual([['CLOCK_SKEW'], ['ID_COLLISION', 'CLOCK_SKEW']]);
  });

  it('rounds the difference of the clocks, so that the finding stays the same', () => {
    const at = (seconds: number) =>
      foundIn(contextWith({ receivedAt: new Date(later(RECEIVED, -seconds)) })).at(-1)?.actual;
    expect([at(301), at(900), at(7_201), at(7_300)]).toEqual([
      'the exchange is less than an hour ahead',
      'the exchange is less than an hour ahead',
      'the exchange is about 2 h ahead',
      'the exchange is about 2 h ahead',
    ]);
    const behindBy = foundIn(contextWith({ receivedAt: new Date(later(RECEIVED, 86_400)) }))[0]?.actual;
    expect(behindBy).toBe('the exchange is about 24 h behind');
  });

  it('makes each reopening a finding of its own', () => {
    const reopenedAt = (modificationDate: string) =>
      foundIn(contextWith({ stateBefore: 'final', ...unlinked({ modificationDate }) }), SETTINGS)[0]?.actual;
    expect(reopenedAt(MODIFIED)).not.toBe(reopenedAt(RECEIVED));
  });

  it('returns an answer whatever the record holds', () => {
    const odd = fc.oneof(
      fc.string(),
      fc.constantFrom('', '\u0000', '1e999', '-0', '9'.repeat(200), 'NaN'),
      fc.constant(null),
    );
    const record = fc.record(
      Object.fromEntries(Object.keys(recordWith()).map((field) => [field, odd])),
    ) as unknown as fc.Arbitrary<RecordView>;
    fc.assert(
      fc.property(record, record, fc.constantFrom('open', 'final'), (now, before, state) => {
        const found = foundIn(contextWith({ record: now, earlier: before, state }), MAPPED);
        for (const finding of found) expect(FINDING_CLASSES).toHaveProperty(finding.class);
      }),
    );
  });
});

describe('the pre-order that came back', () => {
  const echo = orderWith();

  it.each([
    ['asset', '1.6', 'asset 1.5', 'asset 1.6'],
    ['assetPosition', 'OUTPUT', 'assetPosition INPUT', 'assetPosition OUTPUT'],
    ['fromCurrency', null, 'fromCurrency BTC', 'no fromCurrency'],
    ['toCurrency', 'USD', 'toCurrency EUR', 'toCurrency USD'],
    ['orderType', 'X', 'orderType DEPOSIT', 'orderType X'],
    ['limit', '2.01', 'limit 2', 'limit 2.01'],
    ['providerType', null, 'providerType CARDPROV', 'no providerType'],
    ['cryptoAddress', 'address-2', 'cryptoAddress address-1', 'cryptoAddress address-2'],
    ['bonus', null, 'bonus 0.5', 'no bonus'],
    ['paymentToken', 'token-2', 'paymentToken (not shown)', 'another paymentToken'],
  ])('differs in %s', (field, value, expected, actual) => {
    const name = field === 'paymentToken' ? 'PREORDER_TOKEN_MISMATCH' : 'PREORDER_ECHO_MISMATCH';
    expect(comparePreOrder(orderWith(), { ...echo, [field]: value })).toEqual([{ class: name, expected, actual }]);
  });

  it('agrees if decimals are written otherwise, and if fields that were not sent came back filled', () => {
    expect(comparePreOrder(orderWith(), { ...echo, asset: '1.50', limit: '2.0', bonus: '5e-1' })).toEqual([]);
    const bare = orderWith({ limit: null, paymentToken: null, providerType: null, cryptoAddress: null, bonus: null });
    expect(comparePreOrder(bare, echo)).toEqual([]);
  });

  it.each<[string, Partial<MerchantOrder>, string | undefined]>([
    ['an equal bonus', { bonus: '1.50' }, 'SELL'],
    ['a higher bonus', { bonus: '2' }, 'SELL'],
  ])('has a bonus that is too high if its input is crypto: %s', (_what, changes, exchangeType) => {
    const order = orderWith(changes);
    expect(comparePreOrder(order, order, exchangeType)).toEqual([
      {
        class: 'PREORDER_ECHO_MISMATCH',
        expected: 'bonus less than the crypto amount 1.5',
        actual: `bonus ${order.bonus}`,
      },
    ]);
  });

  it.each<[string, Partial<MerchantOrder>, string | undefined]>([
    ['a lower bonus', { bonus: '1.49' }, 'SELL'],
    ['no bonus', { bonus: null }, 'SELL'],
    ['crypto is bought', { bonus: '2' }, 'BUY'],
    ['what is exchanged is not known', { bonus: '2' }, undefined],
    ['the amount is that of the output', { bonus: '2', assetPosition: 'OUTPUT' }, 'SELL'],
  ])('has a bonus that may be right: %s', (_what, changes, exchangeType) => {
    const order = orderWith(changes);
    expect(comparePreOrder(order, order, exchangeType)).toEqual([]);
  });

  it('has no bonus to compare with an amount that cannot be read', () => {
    const order = orderWith({ asset: 'x', bonus: '2' });
    expect(comparePreOrder(order, { ...order, asset: '1' }, 'SELL')).toHaveLength(1);
  });
});
