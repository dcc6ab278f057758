import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { groupOf, groupsOf, ConfigError, configOf, loadConfig, requireExchange } from '../../src/settings/config.ts';
import { temporaryFolder } from '../support/folders.ts';
import { configSources } from '../../src/extensions/setup/sources.ts';

const KEY = 'k3y-that-must-stay-hidden';
let cwd = '';

beforeEach(() => void (cwd = temporaryFolder()));

function write(name: string, content: string, mode = 0o600): string {
  const path = join(cwd, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function load(yaml: string, env: NodeJS.ProcessEnv = {}) {
  write('own.yaml', yaml);
  return loadConfig({ env, cwd, file: 'own.yaml', requireExchange: true });
}

/** The settings and the places of what is wrong. */
function problemsOf(yaml: string, env: NodeJS.ProcessEnv = {}) {
  try {
    load(yaml, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toContain(KEY);
    return error.problems;
  }
  throw new Error('was accepted');
}

const TWO = `
exchange: {baseUrl: https://a.example, apiKey: general, timeout: 9s}
accounts:
  shop-1:
    rateGroup: shops
    exchange: {apiKey: ${KEY}, concurrency: 2}
  Shop.2: {rateGroup: shops, create: {onUnknown: resend}, follow: {finalStatuses: [DONE]}}
  '007':
`;

describe('accounts', () => {
  it.each(['..', '.', '-shop', 'all', 'a/b', ''])('have no such name: %j', (name) => {
    expect(problemsOf(`accounts: {'${name}': }`)[0]).toMatchObject({ setting: 'accounts' });
  });

  it('are each complete: their own settings, then the general ones, then the defaults', () => {
    const { accounts } = load(TWO);
    expect(accounts.map(({ name, rateGroup }) => [name, rateGroup])).toEqual([
      ['shop-1', 'shops'],
      ['Shop.2', 'shops'],
      ['007', undefined],
    ]);
    const [one, two] = accounts;
    expect(one).toMatchObject({ exchange: { apiKey: KEY, concurrency: 2, timeout: 9_000, rate: { requests: 10 } } });
    expect(two).toMatchObject({
      exchange: { apiKey: 'general', concurrency: 8 },
      create: { onUnknown: 'resend', pauseAfterUnknown: 10 },
      follow: { finalStatuses: ['DONE'] },
    });
    expect(Object.isFrozen(one?.exchange)).toBe(true);
  });

  it('give the settings of one of them, and name the nearest if there is none of that name', () => {
    const config = load(TWO);
    expect(configOf(config, 'Shop.2')).toMatchObject({ create: { onUnknown: 'resend' }, log: config.log });
    expect(() => configOf(config, 'SHOP-1')).toThrow('did you mean shop-1?');
    expect(() => configOf(config, 'default')).toThrow('shop-1');
  });

  it('leave one another alone: a key in a file is read when its account is started', () => {
    const config = load(
      `exchange: {baseUrl: https://a.example}\naccounts:\n  a: {exchange: {apiKeyFile: a.key}}\n  b: {exchange: {apiKeyFile: none.key}}`,
    );
    write('a.key', `${KEY}\n`);
    const [a, b] = config.accounts;
    expect(requireExchange(a!).exchange).toMatchObject({ apiKey: KEY, apiKeyFile: join(cwd, 'a.key') });
    expect(() => requireExchange(b!)).toThrow(ConfigError);
    write('none.key', 'two words');
    expect(() => requireExchange(b!)).toThrow(/none\.key must be printable ASCII/);
  });

  it('take variables if they stand in the file, files with a value too', () => {
    write('key', `${KEY}\n`);
    const { accounts } = load(TWO, {
      ORDER_SYNC_ACCOUNTS_SHOP_1_EXCHANGE_API_KEY_FILE: 'key',
      ORDER_SYNC_ACCOUNTS_SHOP_2_EXCHANGE_RATE_INTERVAL_FILE: write('interval', '1s\n', 0o644),
      ORDER_SYNC_ACCOUNTS_007_RATE_GROUP: 'others',
    });
    expect(requireExchange(accounts[0]!).exchange.apiKey).toBe(KEY);
    expect(accounts[1]!.exchange.rate.interval).toBe(1_000);
    expect(accounts[2]!.rateGroup).toBe('others');
  });

  it.each([
    ['ACCOUNTS_SHOP_3_EXCHANGE_TIMEOUT', /the settings file does not name.*ORDER_SYNC_ACCOUNTS_SHOP_/],
    ['ACCOUNTS_SHOP_1_LOG_LEVEL', /not a variable/],
    ['ACCOUNTS_SHOP_1', /not a variable/],
  ])('have no variable ORDER_SYNC_%s', (name, reason) => {
    const [{ source, problem } = { problem: '' }] = problemsOf(TWO, { [`ORDER_SYNC_${name}`]: '1s' });
    expect(source).toBe(`ORDER_SYNC_${name}`);
    expect(problem).toMatch(reason);
  });

  it('have no variable that may mean two of them', () => {
    const yaml = `exchange: {baseUrl: https://a.example, apiKey: k}\naccounts: {a-b: , a.b: }`;
    const [one] = problemsOf(yaml, { ORDER_SYNC_ACCOUNTS_A_B_RATE_GROUP: 'x' });
    expect(one?.problem).toContain('a-b as well as a.b');
    expect(load(yaml).accounts).toHaveLength(2);
  });

  it.each([
    ['accounts: [a]', 'accounts', 'own.yaml:1'],
    ['accounts:\n  all:', 'accounts', 'own.yaml:2'],
    ['accounts:\n  "a b":', 'accounts', 'own.yaml:2'],
    ['accounts:\n  a:\n    exchagne: {}', 'accounts.a.exchagne', 'own.yaml:3'],
    ['accounts:\n  a:\n    exchange:\n      timeot: 1s', 'accounts.a.exchange.timeot', 'own.yaml:4'],
    ['accounts:\n  a:\n    log: {level: info}', 'accounts.a.log', 'own.yaml:3'],
    ['accounts:\n  a: 1', 'accounts.a', 'own.yaml:2'],
    ['accounts:\n  a:\n    exchange:\n      timeout: 15', 'accounts.a.exchange.timeout', 'own.yaml:4'],
    ['accounts:\n  a:\n    rateGroup: x y', 'accounts.a.rateGroup', 'own.yaml:3'],
    ['accounts:\n  a:\n    follow:\n      finalStatuses: [REQUEST]', 'accounts.a.follow.finalStatuses', 'own.yaml:4'],
    ['accounts:\n  a:\n  a:', undefined, 'own.yaml:3'],
  ])('are refused with the line if they are wrong: %j', (yaml, setting, source) => {
    const env = { ORDER_SYNC_EXCHANGE_BASE_URL: 'https://a.example', ORDER_SYNC_EXCHANGE_API_KEY: 'k' };
    expect(problemsOf(yaml, env)).toMatchObject([{ ...(setting !== undefined && { setting }), source }]);
  });

  it('name the setting of theirs that was meant', () => {
    expect(problemsOf('accounts:\n  a:\n    exchange: {timeot: 1s}')[0]?.problem).toMatch(
      /did you mean accounts\.a\.exchange\.timeout\?/,
    );
  });

  it('each need an exchange and a key, said once if none has one', () => {
    const yaml = 'accounts:\n  a: {exchange: {baseUrl: https://a.example}}\n  b:';
    expect(problemsOf(yaml).map(({ setting }) => setting)).toEqual(['accounts.b.exchange.baseUrl', 'exchange.apiKey']);
  });

  it('of one rateGroup have one rate', () => {
    const of = (rate: string) =>
      `exchange: {baseUrl: https://a.example, apiKey: k}\naccounts:\n  a: {rateGroup: g}\n  b: {rateGroup: g, exchange: {rate: ${rate}}}`;
    expect(load(of('{requests: 10}')).accounts).toHaveLength(2);
    for (const other of ['{requests: 9}', '{mode: paced}']) {
      expect(problemsOf(of(other))).toMatchObject([{ setting: 'accounts.b.exchange.rate', source: 'own.yaml:4' }]);
    }
  });

  it('are shown with their own settings alone, without their keys', () => {
    write('own.yaml', TWO);
    const sources = configSources({ env: {}, cwd, file: 'own.yaml' });
    expect(sources.filter(({ setting }) => setting.startsWith('accounts.shop-1.'))).toEqual([
      { setting: 'accounts.shop-1.rateGroup', value: 'shops', source: 'own.yaml:5' },
      { setting: 'accounts.shop-1.exchange.apiKey', value: '(set, hidden)', source: 'own.yaml:6' },
      { setting: 'accounts.shop-1.exchange.concurrency', value: '2', source: 'own.yaml:6' },
    ]);
    expect(JSON.stringify(sources)).not.toContain(KEY);
  });

  it('keep their keys in a file that others cannot read', () => {
    write('own.yaml', TWO, 0o644);
    expect(() => loadConfig({ env: {}, cwd, file: 'own.yaml', requireExchange: true })).toThrow('chmod 600');
  });

  it('share what is equal, however many they are', () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `  a${at}: {rateGroup: g, create: {onUnknown: resend}}`);
    const { accounts, create } = load(
      `exchange: {baseUrl: https://a.example, apiKey: k}\naccounts:\n${lines.join('\n')}\n`,
    );
    expect(accounts).toHaveLength(2_000);
    expect(new Set(accounts.map((account) => account.create)).size).toBe(1);
    expect(accounts[0]!.create).not.toBe(create);
    expect(new Set(accounts.map((account) => account.exchange)).size).toBe(1);
  });
});

describe('several processes', () => {
  it('drive no accounts of a SQLite file', () => {
    const yaml = 'exchange: {baseUrl: https://a.example, apiKey: k}\nworkers: {instances: 2}';
    expect(problemsOf(yaml)).toMatchObject([{ setting: 'workers.instances', source: 'own.yaml:2' }]);
  });
});

describe('accounts that one process drives together', () => {
  it('are those of a rateGroup; each other is alone', () => {
    const config = load(`${TWO}
  shop-9: {rateGroup: shops}
  shop-10: {}
`);
    expect(groupOf(config, 'shop-9').toSorted()).toEqual(
      groupsOf(config)
        .find((group) => group.includes('shop-1'))
        ?.toSorted(),
    );
    expect([groupOf(config, 'shop-10'), groupOf(config, 'unknown')]).toEqual([['shop-10'], ['unknown']]);
  });
});
