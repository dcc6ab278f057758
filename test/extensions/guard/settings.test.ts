import { describe, expect, it } from 'vitest';
import { guardSettings } from '../../../src/extensions/guard/settings.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { loadConfig } from '../../support/settings.ts';

const load = (json: string) =>
  loadConfig({
    env: { ORDER_SYNC_GUARD_ASSET_PER_HOUR: json },
    cwd: temporaryFolder(),
    file: null,
    requireExchange: false,
  });

describe('guard.assetPerHour', () => {
  const limitsOf = (json: string) => guardSettings.of(load(json)).guard.assetPerHour;

  it('keeps amounts exact, in the first currency of the pair unless it says otherwise', () => {
    const json =
      '[{"from":"BTC","to":"EUR","asset":2.00000000000000000001},{"from":"BTC","to":"EUR","currency":"EUR","asset":"9"}]';
    const pair = { from: 'BTC', to: 'EUR' };
    expect(limitsOf(json)).toEqual([
      { ...pair, currency: 'BTC', asset: '2.00000000000000000001' },
      { ...pair, currency: 'EUR', asset: '9' },
    ]);
  });

  it.each([
    ['{}', 'must be a list'],
    ['[{"from":"BTC","asset":1}]', '[0].to is missing'],
    ['[{"from":"BTC","to":"EUR","asset":0}]', '[0].asset must be a decimal above 0'],
    ['[{"from":"BTC","to":"EUR","asset":1,"currency":"USD"}]', '[0].currency must be a currency of the pair'],
    ['[{"from":"BTC","to":"EUR","asset":1,"amount":1}]', '[0] has an unknown field amount'],
    ['[{"from":"BTC","to":"EUR","asset":1},{"from":"btc","to":"EUR","asset":2}]', 'two limits'],
  ])('refuses %s', (json, why) => {
    expect(() => load(json)).toThrow(why);
  });
});
