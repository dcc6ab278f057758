import { describe, expect, it } from 'vitest';
import { SandboxExchange } from '../../../src/extensions/sandbox/exchange.ts';
import { decideFault } from '../../../src/extensions/sandbox/server.ts';
import { testClock } from '../../support/test-clock.ts';

const REQUESTS = '/api/v1/merchant/orders/request';

interface Shown {
  readonly status: number;
  readonly order?: {
    readonly id: string;
    readonly status: string;
    readonly exchangeOperation: { readonly currencyPair: Readonly<Record<string, string>> };
  };
  readonly currencyPair?: Readonly<Record<string, string>>;
}

function setUp(externalOrderId: string) {
  const clock = testClock();
  // Without its name, chance would have the order rejected.
  const exchange = new SandboxExchange({ apiKey: 'k', clock, random: () => 0 });
  const ask = (method: string, path: string, body = ''): Shown => {
    const headers = { 'x-api-key': 'k', 'content-type': 'application/json' };
    const answer = exchange.handle({ method, path, headers, body });
    return { ...(JSON.parse(answer.body) as Shown), status: answer.status };
  };
  const currencyPair = { fromCurrency: 'BTC', toCurrency: 'EUR' };
  const body = { externalOrderId, asset: 1.5, assetPosition: 'INPUT', orderType: 'DEPOSIT', currencyPair };
  return {
    clock,
    create: () => ask('POST', REQUESTS, JSON.stringify(body)),
    preOrder: () => ask('GET', `${REQUESTS}/pre-1`),
    order: () => ask('GET', `/api/v1/merchant/orders?externalOrderId=${externalOrderId}`),
  };
}

describe('an order that the sandbox tampers with', () => {
  it('is completed, and what is a change begins once it was shown so', () => {
    const { clock, create, order } = setUp('tamper-id-1');
    create();
    clock.advance(2_000);
    expect(order().order).toMatchObject({ id: 'order-1', status: 'REQUEST' });
    clock.advance(60_000);
    expect(order().order).toMatchObject({ id: 'order-1', status: 'COMPLETED' });
    expect(order().order).toMatchObject({ id: 'another-order', status: 'COMPLETED' });
  });

  it('has the record tampered with and not the pre-order', () => {
    const { clock, create, preOrder, order } = setUp('tamper-from-1');
    create();
    clock.advance(2_000);
    expect(order().order?.exchangeOperation.currencyPair).toEqual({ fromCurrency: 'ETH', toCurrency: 'EUR' });
    expect(preOrder().currencyPair).toEqual({ fromCurrency: 'BTC', toCurrency: 'EUR' });
  });

  it('may be there without having been sent', () => {
    const [stray, other] = [setUp('tamper-stray-1'), setUp('shop-1')];
    expect([stray.order().order?.status, other.order().status]).toEqual(['REQUEST', 404]);
  });

  it('has no fault of the plan, so that what is found is what was done', () => {
    const request = { call: 'create', isFirst: true } as const;
    const faultOf = (externalOrderId: string) => decideFault({ hang: 1 }, { ...request, externalOrderId }, () => 0);
    expect([faultOf('tamper-fee-1'), faultOf('tamper-nonsense-1'), faultOf('shop-1')]).toEqual([
      undefined,
      'hang',
      'hang',
    ]);
  });
});
