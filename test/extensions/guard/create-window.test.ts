import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CreateWindow,
  GUARD_WINDOW_MS,
  type CountedCreate,
  type GuardedOrder,
  type GuardSettings,
} from '../../../src/extensions/guard/create-window.ts';

const order = (changes: Partial<GuardedOrder> = {}): GuardedOrder => ({
  externalOrderId: 'a',
  asset: '1',
  assetPosition: 'INPUT',
  fromCurrency: 'BTC',
  toCurrency: 'EUR',
  ...changes,
});
const limit = (asset: string, currency = 'BTC') => ({ from: 'BTC', to: 'EUR', currency, asset });
const at = (ms: number) => new Date(Date.UTC(2026, 0, 5) + ms);

/** The decision after these were sent and taken. */
function decideAfter(sent: readonly GuardedOrder[], settings: Partial<GuardSettings>, next = order()): string {
  const window = new CreateWindow({ assetPerHour: [], ...settings });
  for (const one of sent) window.settle(window.add(one, at(0)), true);
  return window.decide(next, at(1)).kind;
}

describe('the guard of creates', () => {
  it.each<[string, readonly GuardedOrder[], Partial<GuardSettings>, GuardedOrder, string]>([
    ['no limit', [order(), order()], {}, order(), 'free'],
    ['the last create of the limit', [order()], { createsPerHour: 2 }, order(), 'free'],
    ['one more than the limit', [order(), order()], { createsPerHour: 2 }, order(), 'guarded'],
    [
      'exactly the amount',
      [order({ asset: '1.4' })],
      { assetPerHour: [limit('1.5')] },
      order({ asset: '0.1' }),
      'free',
    ],
    [
      'the last digit more',
      [order()],
      { assetPerHour: [limit('2')] },
      order({ asset: '1.00000000000000000001' }),
      'guarded',
    ],
    ['another pair', [order()], { assetPerHour: [limit('1')] }, order({ toCurrency: 'USD' }), 'free'],
    [
      'the pair in other letters',
      [order()],
      { assetPerHour: [limit('1')] },
      order({ fromCurrency: ' btc' }),
      'guarded',
    ],
    [
      'an amount in the other currency of the pair, which has a limit',
      [order()],
      { assetPerHour: [limit('1'), limit('100', 'EUR')], outputPosition: 'outputAsset' },
      order({ assetPosition: 'OUTPUT', asset: '100' }),
      'free',
    ],
    [
      'an amount in a currency without a limit',
      [],
      { assetPerHour: [limit('1')], outputPosition: 'outputAsset' },
      order({ assetPosition: 'OUTPUT', asset: '0.1' }),
      'guarded',
    ],
    [
      'an amount whose currency is not known',
      [],
      { assetPerHour: [limit('1'), limit('100', 'EUR')] },
      order({ assetPosition: 'OUTPUT', asset: '0.1' }),
      'guarded',
    ],
  ])('decides about %s', (_what, sent, settings, next, kind) => {
    expect(decideAfter(sent, settings, next)).toBe(kind);
  });

  it('waits for what is in flight if its outcome decides, and does not count what was not taken', () => {
    const window = new CreateWindow({ createsPerHour: 1, assetPerHour: [limit('1')] });
    const first = window.add(order(), at(0));
    expect(window.decide(order(), at(1)).kind).toBe('wait');
    window.settle(first, false);
    expect(window.decide(order(), at(2)).kind).toBe('free');
  });

  it('counts an order for an hour, and creates before a person allowed more no longer', () => {
    const window = new CreateWindow({ createsPerHour: 1, assetPerHour: [] });
    window.settle(window.add(order(), at(0)), true);
    expect(window.decide(order(), at(GUARD_WINDOW_MS)).kind).toBe('guarded');
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_000)).kind).toBe('free');
    const late = window.add(order(), at(GUARD_WINDOW_MS + 10_000));
    window.clear();
    window.settle(late, false);
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_001)).kind).toBe('free');
  });

  it('waits if what is in flight of the same limit decides', () => {
    const window = new CreateWindow({ assetPerHour: [limit('2'), limit('5', 'EUR')], outputPosition: 'outputAsset' });
    const first = window.add(order({ asset: '1.5' }), at(0));
    expect(window.decide(order(), at(1))).toEqual({ kind: 'wait' });
    window.settle(first, true);
    window.add(order({ asset: '3', assetPosition: 'OUTPUT' }), at(1));
    window.add(order({ toCurrency: 'USD' }), at(1));
    expect(window.decide(order(), at(2)).kind).toBe('guarded');
    expect(window.decide(order({ asset: '3', assetPosition: 'OUTPUT' }), at(2)).kind).toBe('wait');
  });

  it('counts a create whose amount cannot be compared', () => {
    const window = new CreateWindow({ createsPerHour: 1, assetPerHour: [limit('2')] });
    window.settle(window.add(order({ assetPosition: 'OUTPUT' }), at(0)), true);
    expect(window.decide(order(), at(1)).kind).toBe('guarded');
  });

  it('counts an amount for an hour', () => {
    const window = new CreateWindow({ assetPerHour: [limit('1')] });
    window.settle(window.add(order(), at(0)), true);
    expect(window.decide(order(), at(GUARD_WINDOW_MS)).kind).toBe('guarded');
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_000)).kind).toBe('free');
  });

  it('counts nothing twice: neither allowed creates, nor creates that are older than an hour', () => {
    const window = new CreateWindow({ createsPerHour: 1, assetPerHour: [] });
    const early = window.add(order(), at(0));
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_000)).kind).toBe('free');
    window.settle(early, false);
    const cleared = window.add(order(), at(GUARD_WINDOW_MS + 10_000));
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_001)).kind).toBe('wait');
    window.clear();
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_001)).kind).toBe('free');
    window.settle(window.add(order(), at(GUARD_WINDOW_MS + 10_001)), true);
    // Nothing is in flight any more whose outcome could make room.
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_002)).kind).toBe('guarded');
    window.settle(cleared, false);
    expect(window.decide(order(), at(GUARD_WINDOW_MS + 10_002)).kind).toBe('guarded');
  });

  it.each<[string, readonly GuardedOrder[], Partial<GuardSettings>, GuardedOrder, readonly string[]]>([
    ['the limit of creates', [order()], { createsPerHour: 1 }, order(), ['guard.createsPerHour', '1 creates']],
    [
      'the limit of a pair',
      [order()],
      { assetPerHour: [limit('1.5')] },
      order(),
      ['BTC to EUR is 1.5 BTC', ' 1 were sent', '"a" is 1'],
    ],
    ['an order that alone is more', [], { assetPerHour: [limit('1.5')] }, order({ asset: '2' }), ['"a" alone is 2']],
    [
      'an order that cannot be compared',
      [],
      { assetPerHour: [limit('1')] },
      order({ assetPosition: 'OUTPUT' }),
      ['"a"', 'BTC to EUR', 'position OUTPUT', 'exchange.outputPosition'],
    ],
  ])('says of %s what was passed', (_what, sent, settings, next, parts) => {
    const window = new CreateWindow({ assetPerHour: [], ...settings });
    for (const one of sent) window.settle(window.add(one, at(0)), true);
    const decision = window.decide(next, at(1));
    for (const part of parts) expect(decision.kind === 'guarded' && decision.reason).toContain(part);
  });

  it('lets no hour pass a limit, whatever is taken and when', () => {
    const step = fc.record({
      afterMs: fc.nat(900_000),
      tenths: fc.integer({ min: 1, max: 30 }),
      isTaken: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const window = new CreateWindow({ createsPerHour: 4, assetPerHour: [limit('3.5')] });
        const taken: { ms: number; tenths: number }[] = [];
        let ms = 0;
        let pending: CountedCreate | undefined;
        for (const { afterMs, tenths, isTaken } of steps) {
          ms += afterMs;
          if (pending !== undefined) window.settle(pending, isTaken);
          if (pending !== undefined && !isTaken) taken.pop();
          pending = undefined;
          const next = order({ asset: String(tenths / 10) });
          if (window.decide(next, at(ms)).kind !== 'free') continue;
          pending = window.add(next, at(ms));
          taken.push({ ms, tenths });
        }
        for (const { ms: end } of taken) {
          const hour = taken.filter((one) => one.ms <= end && one.ms > end - GUARD_WINDOW_MS);
          expect(hour.length).toBeLessThanOrEqual(4);
          expect(hour.reduce((sum, one) => sum + one.tenths, 0)).toBeLessThanOrEqual(35);
        }
      }),
    );
  });
});
