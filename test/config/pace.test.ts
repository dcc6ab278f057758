import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { settingsInForce } from '../../src/config/rate-groups.ts';
import { DAY, HOUR, MINUTE, SECOND, STEPS } from '../support/tracking.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'order-sync-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const EXCHANGE = { ORDER_SYNC_EXCHANGE_BASE_URL: 'https://exchange.example', ORDER_SYNC_EXCHANGE_API_KEY: 'key' };

function load(env: Readonly<Record<string, string>>, yaml?: string) {
  if (yaml !== undefined) writeFileSync(join(cwd, 'own.yaml'), yaml);
  const file = yaml === undefined ? null : 'own.yaml';
  return loadConfig({ env: { ...EXCHANGE, ...env }, cwd, file, requireExchange: true });
}

const follow = (name: string, value: string) => load({ [`ORDER_SYNC_FOLLOW_${name}`]: value }).follow;

describe('the settings of the pace', () => {
  it('have look-ups learned, in half of the rate, with steps for those who want them', () => {
    expect(load({}).follow).toMatchObject({ pace: 'learned', worth: 2 * SECOND, share: 0.5, steps: STEPS });
  });

  it('are read in a file and in the environment alike', () => {
    const steps = [
      { fromMs: 0, everyMs: 5 * SECOND },
      { fromMs: 10 * MINUTE, everyMs: MINUTE },
      { fromMs: 2 * DAY, everyMs: HOUR },
    ];
    expect(follow('STEPS', '5s, 1m after 10m,1h  after  2d').steps).toEqual(steps);
    expect(load({}, 'follow: {steps: [5s, 1m after 10m, 1h after 2d]}').follow.steps).toEqual(steps);
    expect(follow('STEPS', '1h').steps).toEqual([{ fromMs: 0, everyMs: HOUR }]);
    expect([follow('SHARE', '1').share, follow('SHARE', '0.000001').share]).toEqual([1, 0.000_001]);
    expect([follow('WORTH', '250ms').worth, follow('PACE', 'every-tick').pace]).toEqual([250, 'every-tick']);
  });

  it.each([
    ['PACE', ['fast', '']],
    ['WORTH', ['0s', '2', '2d']],
    ['SHARE', ['0', '1.1', '50%', '-0.5', '1e-3', '', 'NaN', '.5', '0.0000001']],
    [
      'STEPS',
      ['', '5s after 1m', '5s, 1m', '5s, 1m after', '5s, 1m before 10m', '5s, 1m after 10m 1h', '5s, x after 10m'],
    ],
    ['STEPS', ['5s, 1m after 10m, 2m after 10m', '5s, 1m after 10m, 2m after 5m']],
  ])('are refused where they cannot be, by their names: %s %j', (name, texts) => {
    for (const text of texts) expect(() => follow(name, text)).toThrow(`follow.${name.toLowerCase()}`);
  });

  it('may be another for an account, and two workers need not agree on them', () => {
    const yaml = `follow: {pace: spaced, share: 0.2}\naccounts:\n  a: {follow: {pace: every-tick}}\n  b: {follow: {worth: 9s}}`;
    const config = load({}, yaml);
    const of = config.accounts.map(({ follow: { pace, share, worth } }) => [pace, share, worth]);
    expect(of).toEqual([
      ['every-tick', 0.2, 2 * SECOND],
      ['spaced', 0.2, 9 * SECOND],
    ]);
    const other = load({}, yaml.replace('every-tick', 'learned'));
    expect(settingsInForce(other)('a')).toEqual(settingsInForce(config)('a'));
  });
});
