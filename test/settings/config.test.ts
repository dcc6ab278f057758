import { chmodSync, chownSync, mkdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../src/settings/config.ts';
import { packagePlaces } from '../../src/settings/layers.ts';
import { isOpenToOthers, merchantKey, refuseOfStranger } from '../../src/settings/settings-file.ts';
import { temporaryFolder } from '../support/folders.ts';
import { configSources } from '../../src/extensions/setup/sources.ts';

const KEY = 'k3y-that-must-stay-hidden';
const EXCHANGE = { ORDER_SYNC_EXCHANGE_BASE_URL: 'https://exchange.example', ORDER_SYNC_EXCHANGE_API_KEY: KEY };
let cwd = '';

beforeEach(() => void (cwd = temporaryFolder()));

function write(name: string, content: string | Buffer, mode = 0o600): string {
  const path = join(cwd, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const load = (env: NodeJS.ProcessEnv = {}, file: string | null = null) =>
  loadConfig({ env: { ...EXCHANGE, ...env }, cwd, file, requireExchange: true });

/** The message of the ConfigError: one line, without the key. */
function refusal(env: NodeJS.ProcessEnv, file: string | null = null): string {
  try {
    loadConfig({ env, cwd, file, requireExchange: true });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).not.toContain('\n');
    expect(message).not.toContain(KEY);
    return message;
  }
  throw new Error('was accepted');
}
const refusalOf = (env: NodeJS.ProcessEnv) => refusal({ ...EXCHANGE, ...env });
const refusalOfFile = (yaml: string) => {
  write('own.yaml', yaml);
  return refusal(EXCHANGE, 'own.yaml');
};

describe('the layers', () => {
  it('has the documented defaults, frozen, with durations in milliseconds', () => {
    const config = load();
    expect(config).toEqual({
      file: null,
      exchange: {
        baseUrl: 'https://exchange.example',
        apiKey: KEY,
        rate: { requests: 10, interval: 1_000, mode: 'proved' },
        concurrency: 8,
        timeout: 15_000,
        maxResponseBytes: 1_048_576,
        absence: [],
      },
      database: {
        kind: 'sqlite',
        path: join(cwd, 'data/order-sync.db'),
        address: join(cwd, 'data/order-sync.db'),
      },
      accounts: [
        {
          name: 'default',
          exchange: config.exchange,
          create: config.create,
          follow: config.follow,
        },
      ],
      workers: { instances: 1 },
      schedule: { cron: '*/5 * * * * *' },
      create: {
        pauseAfterUnknown: 10,
        onUnknown: 'hold',
        verifyAfter: [5, 15, 45, 120, 300, 900, 3_600, 14_400, 43_200, 86_400].map((seconds) => seconds * 1_000),
        refusedBy: 'documented',
      },
      follow: {
        finalStatuses: [],
        openStatuses: ['REQUEST'],
        succeededStatuses: [],
        disputedBy: ['merchant', 'age', 'pair', 'type', 'amount', 'id'],
        recheckFinalAfter: [3_600_000, 86_400_000, 604_800_000],
        pace: 'every-tick',
      },
      reconcile: {
        tolerance: '0',
        ignore: [],
        orderMissingAfter: 86_400_000,
        freshFor: 86_400_000,
        cron: '*/10 * * * *',
      },
      log: { level: 'info' },
    });
    expect(Object.isFrozen(config.exchange.rate) && Object.isFrozen(config.create.verifyAfter)).toBe(true);
  });

  it('lays a file over the defaults and the environment over the file', () => {
    write('own.yaml', 'exchange:\n  timeout: 20s\n  concurrency: 4\n');
    const { exchange } = load({ ORDER_SYNC_EXCHANGE_CONCURRENCY: '2' }, 'own.yaml');
    expect([exchange.timeout, exchange.concurrency, exchange.rate.requests]).toEqual([20_000, 2, 10]);
  });

  it('takes the file from ORDER_SYNC_CONFIG, and --config before it', () => {
    const env = { ...EXCHANGE, ORDER_SYNC_CONFIG: write('a.yaml', 'log: {level: warn}') };
    write('b.yaml', 'log: {level: debug}');
    expect(loadConfig({ env, cwd, requireExchange: true }).log.level).toBe('warn');
    expect(loadConfig({ env, cwd, file: 'b.yaml', requireExchange: true }).log.level).toBe('debug');
  });

  it.each([
    ['$XDG_CONFIG_HOME', { XDG_CONFIG_HOME: '/x', HOME: '/home/o' }, ['/x/order-sync/config.yaml']],
    ['the home folder', { XDG_CONFIG_HOME: 'no/path', HOME: '/home/o' }, ['/home/o/.config/order-sync/config.yaml']],
    ['no folder of a user who has none', {}, []],
  ])('looks for the file of a package in the working folder, in %s and in /etc', (_where, env, ofUser) => {
    expect(packagePlaces(env, '/work')).toEqual(['/work/order-sync.yaml', ...ofUser, '/etc/order-sync/config.yaml']);
  });

  it('refuses a file of another user that is not named, unless it is root', () => {
    const file = write('order-sync.yaml', '');
    if (process.geteuid?.() === 0) chownSync(file, 1234, 1234);
    const { uid } = statSync(file);
    expect(() => refuseOfStranger(file, uid)).not.toThrow();
    expect(() => refuseOfStranger(file, uid + 1)).toThrow(ConfigError);
    expect(() => refuseOfStranger('/etc', uid + 1)).not.toThrow();
  });

  it('says the place of each setting and hides secrets', () => {
    write('own.yaml', `exchange:\n  apiKey: ${KEY}\nlog:\n  level: warn\n`);
    const env = { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'A, B' };
    const sources = configSources({ env, cwd, file: 'own.yaml' });
    const of = (setting: string) => sources.find((source) => source.setting === setting);
    expect(of('log.level')).toEqual({ setting: 'log.level', value: 'warn', source: 'own.yaml:4' });
    expect(of('exchange.timeout')).toMatchObject({ value: '15s', source: 'default' });
    expect(of('follow.finalStatuses')).toMatchObject({ value: 'A, B', source: 'ORDER_SYNC_FOLLOW_FINAL_STATUSES' });
    expect(of('exchange.apiKey')).toMatchObject({ value: '(set, hidden)', source: 'own.yaml:2' });
    expect(of('exchange.baseUrl')).toMatchObject({ value: '(not set)' });
    expect(JSON.stringify(sources)).not.toContain(KEY);
  });

  it('takes only what can dispute an order for what disputes one, and no open status for one that paid', () => {
    const follow = (name: string, value: string) => load({ [`ORDER_SYNC_FOLLOW_${name}`]: value }).follow;
    expect(follow('DISPUTED_BY', 'amount, merchant').disputedBy).toEqual(['merchant', 'amount']);
    expect(follow('DISPUTED_BY', '').disputedBy).toEqual([]);
    expect(() => follow('DISPUTED_BY', 'amounts')).toThrow('follow.disputedBy');
    expect(() => follow('SUCCEEDED_STATUSES', 'REQUEST')).toThrow('follow.succeededStatuses');
  });

  it('ignores findings only of classes that rest on a guess, and names the nearest', () => {
    const ignoring = (value: string) => load({ ORDER_SYNC_RECONCILE_IGNORE: value }).reconcile.ignore;
    expect(ignoring('[TX_HASH_REUSED, PREORDER_TOKEN_MISMATCH]')).toEqual([
      'PREORDER_TOKEN_MISMATCH',
      'TX_HASH_REUSED',
    ]);
    for (const name of ['AMOUNT_MISMATCH', 'ADDRESS_CHANGED', 'PREORDER_ECHO_MISMATCH', 'UNCHECKED']) {
      expect(() => ignoring(name)).toThrow('reconcile.ignore');
    }
    expect(() => ignoring('TX_HASH_REUSE')).toThrow(/reconcile\.ignore.*TX_HASH_REUSED\?/);
  });

  it('keeps each digit of a key that looks like a number', () => {
    write('own.yaml', 'exchange:\n  apiKey: 00123456789012345678901234567890\n');
    const env = { ORDER_SYNC_EXCHANGE_BASE_URL: 'https://exchange.example' };
    const { exchange } = loadConfig({ env, cwd, file: 'own.yaml', requireExchange: true });
    expect(exchange.apiKey).toBe('00123456789012345678901234567890');
  });

  it('reads lists with and without brackets', () => {
    for (const text of ['1s,2m', '[1s, 2m]']) {
      expect(load({ ORDER_SYNC_CREATE_VERIFY_AFTER: text }).create.verifyAfter).toEqual([1_000, 120_000]);
    }
    expect(load({ ORDER_SYNC_FOLLOW_OPEN_STATUSES: '' }).follow.openStatuses).toEqual([]);
    expect(load({ ORDER_SYNC_FOLLOW_OPEN_STATUSES: '["A", \'B\']' }).follow.openStatuses).toEqual(['A', 'B']);
  });
});

describe('exchange.absence', () => {
  const SHAPES = [{ status: 404 }, { status: 200, pointer: '/a~1b/0', value: 'null' }, { status: 204, pointer: '' }];

  it('is a list in a file and JSON in the environment, values by their text', () => {
    write(
      'own.yaml',
      `exchange:\n  absence:\n    - {status: 404}\n    - status: 200\n      pointer: /a~1b/0\n      value: null\n    - {status: 204, pointer: ''}\n`,
    );
    expect(load({}, 'own.yaml').exchange.absence).toEqual(SHAPES);
    const json = '[{"status":404},{"status":200,"pointer":"/a~1b/0","value":null},{"status":204,"pointer":""}]';
    expect(load({ ORDER_SYNC_EXCHANGE_ABSENCE: json }).exchange.absence).toEqual(SHAPES);
    for (const empty of ['', '[]']) expect(load({ ORDER_SYNC_EXCHANGE_ABSENCE: empty }).exchange.absence).toEqual([]);
  });

  it('knows a value that is empty, a number or a word of JSON', () => {
    const values = ['[]', '{}', '17', 'true', '"NO_ORDER"'];
    const json = values.map((value) => `{"status":200,"pointer":"/a","value":${value}}`).join(',');
    const { absence } = load({ ORDER_SYNC_EXCHANGE_ABSENCE: `[${json}]` }).exchange;
    expect(absence.map(({ value }) => value)).toEqual(['[]', '{}', '17', 'true', 'NO_ORDER']);
  });

  it.each([
    ['404', ' must be a list'],
    ['{"status":404}', ' must be a list'],
    ['[null]', '[0] must have fields'],
    ['[{}]', '[0].status is missing'],
    ['[{"status":500}]', '[0].status must be a status'],
    ['[{"status":401}]', '[0].status must be a status'],
    ['[{"status":404,"value":"a"}]', '[0] needs a pointer'],
    ['[{"status":404,"pointer":"code"}]', '[0].pointer must be a JSON pointer'],
    ['[{"status":404,"pointer":"/a~2"}]', '[0].pointer must be a JSON pointer'],
    ['[{"status":404,"pointer":"/a","value":{"b":1}}]', '[0].value must be text'],
    ['[{"status":404,"path":"/a"}]', '[0] has an unknown field path'],
  ])('is refused if it is no shape of an answer: %s', (text, reason) => {
    expect(refusalOf({ ORDER_SYNC_EXCHANGE_ABSENCE: text })).toContain(`exchange.absence${reason}`);
  });
});

describe('the exchange', () => {
  it('is required if a command talks to it, and only there', () => {
    expect(refusal({ ORDER_SYNC_EXCHANGE_API_KEY: KEY })).toMatch(/^exchange\.baseUrl is not set/);
    expect(refusal({ ORDER_SYNC_EXCHANGE_BASE_URL: 'https://a.example' })).toMatch(/ORDER_SYNC_EXCHANGE_API_KEY_FILE/);
    expect(loadConfig({ env: {}, cwd, file: null, requireExchange: false }).exchange.baseUrl).toBeUndefined();
  });

  it.each([
    'https://a.example',
    'https://a.example/base',
    'http://localhost:80',
    'http://127.3.2.1:9',
    'http://[::1]:1',
  ])('may be at %s', (url) => {
    expect(load({ ORDER_SYNC_EXCHANGE_BASE_URL: `${url}/` }).exchange.baseUrl).toBe(
      new URL(url).href.replace(/\/$/, ''),
    );
  });

  it.each([
    ['http://a.example', /https:\/\//],
    ['http://127.0.0.1.a.example', /https:\/\//],
    ['http://localhost.a.example', /https:\/\//],
    ['http://0.0.0.0', /https:\/\//],
    [`https://u:${KEY}@a.example`, /user name or password/],
    ['https://@a.example', /user name or password/],
    ['https://a.example/?x=1', /query/],
    ['https://a.example/?', /query/],
    ['https://a.example/#', /fragment/],
    ['ftp://a.example', /address/],
    ['https:/a.example', /address/],
    ['https://a.exa mple', /address/],
    ['a.example', /address/],
  ])('may not be at %s', (url, reason) => {
    expect(refusalOf({ ORDER_SYNC_EXCHANGE_BASE_URL: url })).toMatch(reason);
  });

  it.each([`${KEY} `.repeat(2), `${KEY}\nx`, `${KEY}ü`, `${KEY}\0`])(
    'refuses a key that is no header value, unseen',
    (key) => {
      expect(refusalOf({ ORDER_SYNC_EXCHANGE_API_KEY: key })).toMatch(/exchange\.apiKey must be printable ASCII/);
    },
  );
});

describe('files with values', () => {
  const withKeyFile = (path: string): NodeJS.ProcessEnv => ({
    ORDER_SYNC_EXCHANGE_BASE_URL: 'https://a.example',
    ORDER_SYNC_EXCHANGE_API_KEY_FILE: path,
  });

  it('give the key without its trailing newline', () => {
    const env = withKeyFile(write('key', `${KEY}\n`));
    expect(loadConfig({ env, cwd, file: null, requireExchange: true }).exchange.apiKey).toBe(KEY);
  });

  it.each([0o640, 0o604, 0o644])('are refused for a secret when others can read them (mode %o)', (mode) => {
    expect(refusal(withKeyFile(write('key', KEY, mode)))).toMatch(/other users can read the file: run `chmod 600/);
  });

  it.each([
    { owner: 0, reader: 990, mode: 0o100440, isOpen: false },
    { owner: 0, reader: 990, mode: 0o100460, isOpen: true },
    { owner: 0, reader: 990, mode: 0o100444, isOpen: true },
    { owner: 0, reader: 0, mode: 0o100440, isOpen: true },
    { owner: 990, reader: 990, mode: 0o100440, isOpen: true },
    { owner: 990, reader: 990, mode: 0o100400, isOpen: false },
  ])('of $owner, read by $reader, with mode $mode are open to others: $isOpen', ({ owner, reader, mode, isOpen }) => {
    expect(isOpenToOthers({ uid: owner, mode }, reader)).toBe(isOpen);
  });

  it('are refused when empty, absent, a folder or not text', () => {
    expect(refusal(withKeyFile(write('key', '\n')))).toMatch(/is empty/);
    expect(refusal(withKeyFile(join(cwd, 'none')))).toMatch(
      /^ORDER_SYNC_EXCHANGE_API_KEY_FILE: the file of exchange\.apiKey cannot be read: ENOENT/,
    );
    expect(refusal(withKeyFile(cwd))).toMatch(/cannot be read: EISDIR/);
    expect(refusal(withKeyFile(write('raw', Buffer.from([0xff, 0xfe]))))).toMatch(/not UTF-8/);
  });

  it('are refused beside the variable itself', () => {
    expect(refusalOf({ ORDER_SYNC_EXCHANGE_API_KEY_FILE: write('key', KEY) })).toMatch(
      /ORDER_SYNC_EXCHANGE_API_KEY as well/,
    );
  });

  it('are named in a file of settings too, if it is the key that stands in one', () => {
    write('own.yaml', `exchange:\n  apiKeyFile: ${write('key', `${KEY}\n`)}\n`, 0o644);
    const env = { ORDER_SYNC_EXCHANGE_BASE_URL: 'https://a.example' };
    const { exchange } = loadConfig({ env, cwd, file: 'own.yaml', requireExchange: true });
    expect(exchange).toMatchObject({ apiKey: KEY, apiKeyFile: join(cwd, 'key') });
    const source = 'own.yaml:2';
    expect(configSources({ env, cwd, file: 'own.yaml' })).toEqual(
      expect.arrayContaining([
        { setting: 'exchange.apiKey', value: '(set, hidden)', source },
        { setting: 'exchange.apiKeyFile', value: join(cwd, 'key'), source },
      ]),
    );
    // One that is not in force is not read.
    chmodSync(join(cwd, 'key'), 0o644);
    expect(refusal(env, 'own.yaml')).toMatch(/^own\.yaml:2: .*chmod 600/);
    expect(load({}, 'own.yaml').exchange).toMatchObject({ apiKey: KEY });
  });

  it('keeps the earlier key, and says so, if its file can no longer be looked at', () => {
    const file = write('key', KEY);
    const errors: Error[] = [];
    const key = merchantKey({ apiKey: KEY, apiKeyFile: file }, (error) => errors.push(error));
    rmSync(file);
    // `stat` fails too, as it does in a folder that this user may not enter.
    symlinkSync(file, file);
    expect([key.reread(), key.current(), errors.length]).toEqual([false, KEY, 1]);
    rmSync(file);
    expect([key.reread(), key.current(), errors.length]).toEqual([false, KEY, 2]);
    write('key', 'new-key');
    expect([key.reread(), key.current(), errors.length]).toEqual([true, 'new-key', 2]);
  });

  it('are refused beside the key itself in one file', () => {
    for (const yaml of ['apiKey: a\n  apiKeyFile: b', 'apiKeyFile: b\n  apiKey: a']) {
      write('own.yaml', `exchange:\n  ${yaml}\n`);
      expect(() => load({}, 'own.yaml')).toThrow('own.yaml:3: exchange.apiKey');
    }
  });

  it('may be open to others when they hold no secret', () => {
    expect(load({ ORDER_SYNC_LOG_LEVEL_FILE: write('level', 'warn\n', 0o644) }).log.level).toBe('warn');
  });

  it('of settings are refused when everybody can write to them: the key could be sent elsewhere', () => {
    write('own.yaml', 'log:\n  level: warn\n', 0o646);
    expect(() => load({}, 'own.yaml')).toThrow(/^own\.yaml: .*chmod o-w own\.yaml/);
    chmodSync(join(cwd, 'own.yaml'), 0o664);
    expect(load({}, 'own.yaml').log.level).toBe('warn');
  });

  it('of settings are refused when they hold a secret that others can read', () => {
    write('own.yaml', `exchange:\n  apiKey: ${KEY}\n`, 0o644);
    expect(refusal({ ORDER_SYNC_EXCHANGE_BASE_URL: 'https://a.example' }, 'own.yaml')).toMatch(
      /own\.yaml contains exchange\.apiKey/,
    );
  });
});

describe('a slip in a file is named with its line', () => {
  it.each([
    [
      'exchange:\n  baseURL: https://a.example',
      'own.yaml:2: exchange.baseURL is not a setting; did you mean exchange.baseUrl?',
    ],
    ['exchagne:\n  timeout: 1s', 'own.yaml:1: exchagne is not a setting; did you mean exchange?'],
    ['log:\n  level:\n    deep: 1', 'own.yaml:2: log.level takes one value'],
    ['log: info', 'own.yaml:1: log must contain settings by name, not a value'],
    ['- a', 'own.yaml:1: the file must contain settings by name, not a value'],
    ['__proto__:\n  a: 1', 'own.yaml:1: __proto__ is not a setting; config/default.yaml has them all'],
    ['log:\n  level: loud', 'own.yaml:2: log.level must be one of trace, debug, info, warn, error, fatal, silent'],
    ['log:\n  level: [info]', 'own.yaml:2: log.level takes one value'],
  ])('%j', (yaml, message) => {
    expect(refusalOfFile(yaml)).toBe(message);
  });

  it('also when it is not valid YAML, without quoting it', () => {
    expect(refusalOfFile('log:\n  level: info\n  level: warn')).toMatch(/^own\.yaml:3: is not valid YAML/);
    expect(refusalOfFile(`exchange:\n  apiKey: "${KEY}\n`)).toMatch(/^own\.yaml:\d: is not valid YAML/);
    expect(refusalOfFile(`log:\n  level: &a [*a]`)).toMatch(/^own\.yaml:\d/);
  });

  it('also when an alias refers to another alias, which could make few lines a value without end', () => {
    write(
      'own.yaml',
      'exchange:\n  absence:\n    - &a {status: 404}\n    - *a\nfollow:\n  openStatuses: &b [X]\n  finalStatuses: []\n',
    );
    expect(load({}, 'own.yaml').exchange.absence).toEqual([{ status: 404 }, { status: 404 }]);
    expect(refusalOfFile('exchange:\n  absence: &a [*a]')).toMatch(/^own\.yaml:2: an alias refers to another/);
    expect(refusalOfFile('exchange: &a {}\nlog: *a')).toMatch(/^own\.yaml:2: log must contain settings by name/);
  });

  it('also inside of a value: with that of the key in the entry of a list', () => {
    const message = refusalOfFile('exchange:\n  timeout: 9s\n  absence:\n    - {status: 404}\n    - {status: 500}\n');
    expect(message).toMatch(/^own\.yaml:5: exchange\.absence\[1\]\.status must be a status/);
    const list = 'exchange:\n  absence:\n    - pointer: /code\n      status: 500\n      value: a\n';
    expect(refusalOfFile(list)).toMatch(/^own\.yaml:4: exchange\.absence\[0\]\.status must be a status/);
    expect(refusalOfFile(list.replace('500', '404\n      odd: 1'))).toMatch(/^own\.yaml:5: .*\bodd\b/);
  });

  it('also when the file is missing', () => {
    expect(refusal(EXCHANGE, 'none.yaml')).toMatch(/^none\.yaml cannot be read: ENOENT/);
  });

  it('but empty files and empty sections are fine', () => {
    write('own.yaml', '# nothing yet\n');
    write('two.yaml', 'exchange:\nlog:\n');
    expect([load({}, 'own.yaml').log.level, load({}, 'two.yaml').log.level]).toEqual(['info', 'info']);
  });
});

describe('a wrong value names the setting, what it takes and the variable', () => {
  it.each([
    ['EXCHANGE_TIMEOUT', '15', /^ORDER_SYNC_EXCHANGE_TIMEOUT: exchange\.timeout must be a duration/],
    ['EXCHANGE_TIMEOUT', '15 seconds', /250ms, 5s, 10m/],
    ['EXCHANGE_TIMEOUT', '0s', /above zero/],
    ['EXCHANGE_TIMEOUT', '2h', /at most 1h/],
    ['EXCHANGE_TIMEOUT', '', /duration/],
    ['EXCHANGE_RATE_REQUESTS', '1.5', /whole number/],
    ['EXCHANGE_RATE_REQUESTS', '007', /whole number/],
    ['EXCHANGE_RATE_REQUESTS', '0', /from 1/],
    ['EXCHANGE_CONCURRENCY', '1e2', /whole number/],
    ['EXCHANGE_MAX_RESPONSE_BYTES', '1 MiBs', /size/],
    ['CREATE_ON_UNKNOWN', 'Hold', /one of hold, resend/],
    ['CREATE_VERIFY_AFTER', '5s,5s', /grow/],
    ['CREATE_VERIFY_AFTER', '[]', /at least 1/],
    ['CREATE_VERIFY_AFTER', '5s,,6s', /empty item/],
    ['DATABASE_URL', 'postgres://a', /sqlite:PATH/],
    ['DATABASE_URL', 'postgres://u@h/o', /extension of another database is not installed/],
    ['DATABASE_URL', 'sqlite:', /sqlite:PATH/],
    ['FOLLOW_FINAL_STATUSES', 'DONE,REQUEST', /finalStatuses and follow\.openStatuses both have REQUEST/],
    ['RECONCILE_TOLERANCE', '-0.01', /decimal of at least 0/],
    ['RECONCILE_TOLERANCE', '1%', /decimal of at least 0/],
    ['RECONCILE_TOLERANCE', '', /decimal of at least 0/],
    ['RECONCILE_TOLERANCE', '{"EUR": "-1"}', /decimal of at least 0/],
    ['RECONCILE_TOLERANCE', '{EUR: 0.01}', /JSON/],
    ['EXCHANGE_OUTPUT_POSITION', 'OUTPUT', /inputAsset, outputAsset/],
    ['RECONCILE_FRESH_FOR', '0h', /above zero/],
    ['SCHEDULE_CRON', '* * * *', /cron expression of 5 or 6 fields/],
    ['SCHEDULE_CRON', '61 * * * *', /cron expression/],
    ['SCHEDULE_CRON', '0 0 31 2 *', /31 cannot be its day of month/],
    ['SCHEDULE_CRON', '61 * * * *', /61 cannot be its minute/],
    ['SCHEDULE_CRON', '* * *', /of 5 or 6 fields, such as \*\/5 \* \* \* \*$/],
    ['SCHEDULE_CRON', '0 0 31W 2 *', /never fire/],
    ['SCHEDULE_CRON', '0 0 1 * 1#5', /never fire/],
    ['SCHEDULE_CRON', '5-1 * * * *', /reversed range 5-1/],
    ['SCHEDULE_CRON', '0 0 1,22-2/2 * *', /reversed range 22-2/],
    ['SCHEDULE_CRON', '0 0 * nov-feb *', /reversed range nov-feb/],
    ['SCHEDULE_CRON', '0 0 * * fri-mon', /reversed range fri-mon/],
  ])('%s=%s', (name, value, reason) => {
    expect(refusalOf({ [`ORDER_SYNC_${name}`]: value })).toMatch(reason);
  });

  it.each([
    '*/5 * * * *',
    '0 0 29 2 *',
    '0 0 * * 5-7',
    '0 0 * * fri-sun',
    '0 0 L * *',
    '0 22-23 1 jan-feb *',
    '@daily',
  ])('takes the cron expression %s', (cron) => {
    expect(load({ ORDER_SYNC_SCHEDULE_CRON: cron }).schedule.cron).toBe(cron);
  });

  it.each([
    ['1 MiB', 1_048_576],
    ['512KiB', 524_288],
    ['2048', 2_048],
    ['1 MB', 1_000_000],
  ])('takes the size %s', (text, bytes) => {
    expect(load({ ORDER_SYNC_EXCHANGE_MAX_RESPONSE_BYTES: text }).exchange.maxResponseBytes).toBe(bytes);
  });

  it('keeps each digit of the tolerance, and takes an empty cron of reconcile as off', () => {
    const env = { ORDER_SYNC_RECONCILE_TOLERANCE: '0.000000000000000000010', ORDER_SYNC_RECONCILE_CRON: '' };
    expect(load(env).reconcile).toMatchObject({ tolerance: '0.000000000000000000010', cron: undefined });
  });

  it('takes a tolerance by currency, and keeps its digits', () => {
    const byCurrency = { BTC: '0.00000001', EUR: '0.01', default: '0' };
    const json = '{"BTC": 0.00000001, "EUR": "0.01", "default": 0}';
    expect(load({ ORDER_SYNC_RECONCILE_TOLERANCE: json }).reconcile.tolerance).toEqual(byCurrency);
    write('local.yaml', 'reconcile:\n  tolerance: {BTC: 0.00000001, EUR: 0.01, default: 0}\n');
    expect(load({}, 'local.yaml').reconcile.tolerance).toEqual(byCurrency);
  });

  it('is not read from what Kubernetes says of a Service named order-sync', () => {
    const url = 'tcp://10.0.0.1:9464';
    const ofService = {
      ORDER_SYNC_SERVICE_HOST: '10.0.0.1',
      ORDER_SYNC_SERVICE_PORT: '9464',
      ORDER_SYNC_SERVICE_PORT_OPS: '9464',
      ORDER_SYNC_PORT: url,
      ORDER_SYNC_PORT_9464_TCP: url,
      ORDER_SYNC_PORT_9464_TCP_PROTO: 'tcp',
      ORDER_SYNC_PORT_9464_TCP_PORT: '9464',
      ORDER_SYNC_PORT_9464_TCP_ADDR: '10.0.0.1',
    };
    expect(load(ofService)).toEqual(load());
    for (const name of ['ORDER_SYNC_SERVICE', 'ORDER_SYNC_PORTS', 'ORDER_SYNC_PORT_9464', 'ORDER_SYNC_SERVICE_HOST_A'])
      expect(refusalOf({ [name]: 'x' })).toContain(name);
  });

  it('names the nearest variable', () => {
    const message = refusalOf({ ORDER_SYNC_EXCHANG_BASEURL: 'x' });
    expect(message).toMatch(/^ORDER_SYNC_EXCHANG_BASEURL: .* did you mean ORDER_SYNC_EXCHANGE_BASE_URL\?/);
  });
});

describe('the path of the database', () => {
  const pathOf = (file: string) => load({ ORDER_SYNC_DATABASE_URL: `sqlite:${file}` }).database.address;

  it('is the same by whatever symbolic links it is named, made or not', () => {
    mkdirSync(join(cwd, 'data'));
    symlinkSync('data', join(cwd, 'link'));
    const made = join(realpathSync(cwd), 'data', 'orders.db');
    expect(pathOf('link/orders.db')).toBe(made);
    expect(pathOf('link/new/orders.db')).toBe(join(realpathSync(cwd), 'data', 'new', 'orders.db'));
    write('data/orders.db', '');
    symlinkSync('data/orders.db', join(cwd, 'orders.db'));
    expect(pathOf('orders.db')).toBe(made);
    expect(pathOf('link/orders.db')).toBe(made);
  });
});
