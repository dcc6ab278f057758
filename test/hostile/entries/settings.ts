import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { explainError } from '../../../src/cli/shared/exit.ts';
import { ConfigError } from '../../../src/settings/config.ts';
import { configSources, loadConfig, SETTINGS_PARTS } from '../../support/settings.ts';
import { schemaOf } from '../../../src/settings/schema.ts';
import { broken, type Entry } from '../entry.ts';
import { folderIn, SECRET } from '../ground.ts';
import { bytesOf, oddBytes, ODD_NUMBERS, ODD_TIMES, oddJson, oddPlace, oddText } from '../odd.ts';

/** A file and variables of the environment. */
interface OddSettings {
  /** Its bytes; null if there is none. */
  readonly file: string | null;
  readonly environment: Readonly<Record<string, string>>;
}

const { general, secrets } = schemaOf({ cwd: '/', parts: SETTINGS_PARTS });
const variableOf = (path: string) => `ORDER_SYNC_${path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`;
const secretValue = fc.constantFrom(
  SECRET,
  `whsec_${SECRET}`,
  `https://${SECRET}@h`,
  `[{"url":"https://h/?${SECRET}","secrets":["${SECRET}"]}]`,
);
const anyValue = fc
  .oneof(
    oddText,
    oddJson,
    fc.constantFrom<string>(...ODD_NUMBERS, ...ODD_TIMES),
    fc.constantFrom(
      '1 MiB',
      '0 B',
      '1e9 GiB',
      '5s,5s',
      '*/5 * * * * *',
      '60 * * * *',
      '0-59/0 * * * *',
      'http://127.0.0.1',
      'https://[::1',
      'sqlite:',
      'sqlite::memory:',
      'postgres://',
      'postgres://u:p@h:99999/d',
      '127.0.0.1:99999',
      '[::]:0',
      'off',
    ),
  )
  // Who writes the settings means no harm: a file of 200 kB of brackets takes the parser half a second.
  .map((value) => value.slice(0, 20_000));
/** The place of a secret has a secret; any other place has anything. */
const setting = fc
  .constantFrom(...general.paths)
  .chain((path) => (secrets.includes(path) ? secretValue : anyValue).map((value) => [path, value] as const));

const YAML = `exchange:
  baseUrl: https://exchange.example
  apiKey: ${SECRET}
  rate: {requests: 10, interval: 1s}
  absence: [{status: 404}, {status: 200, pointer: /code, value: NO_ORDER}]
database:
  url: sqlite:data/a.db
create:
  verifyAfter: [5s, 15s]
follow:
  finalStatuses: [COMPLETED, "NO"]
  steps: [{until: 1h, every: 10s}]
accounts:
  shop-1:
    exchange: {apiKeyFile: /none/key}
    rateGroup: one
webhooks:
  endpoints: [{url: "https://shop.test/?k=${SECRET}", secrets: ["whsec_${SECRET}"], events: [order.*]}]
ops: {token: ${SECRET}, listen: 127.0.0.1:9464}
reconcile: {tolerance: {BTC: "0.1"}, cron: "0 * * * *"}
`;
const LINES = YAML.split('\n');
const plain = LINES.map((line) => (line.includes(SECRET) ? '' : line)).join('\n');

const yaml = fc.oneof(
  { weight: 1, arbitrary: fc.constant(YAML) },
  // A line in place of another, so that no secret becomes part of something else.
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.nat(LINES.length - 1),
        fc.oneof(
          anyValue,
          oddText.map((text) => `${text}: 1`),
        ),
        fc.nat(6),
      )
      .map(([at, value, indent]) => LINES.with(at, ' '.repeat(indent) + value).join('\n')),
  },
  {
    weight: 4,
    arbitrary: setting.map(([path, value]) => {
      const names = path.split('.');
      return names
        .map((name, depth) => `${'  '.repeat(depth)}${name}:`)
        .join('\n')
        .concat(' ', value);
    }),
  },
  { weight: 3, arbitrary: oddPlace(plain) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nexchange: *c',
      `a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\nc: &c [${'*b,'.repeat(50)}]\nfollow: {finalStatuses: *c}`,
      'exchange: &e\n  rate: *e',
      'exchange: *none',
      '<<: {exchange: {timeout: 1s}}',
      '%YAML 9.9\n---\nexchange:',
      '---\nexchange:\n---\nexchange:',
      '!!binary aGVsbG8=',
      'exchange: !!js/function "x"',
      '? {a: 1}\n: b',
      '? [exchange]\n: b',
      '[1, 2]',
      'null',
      '__proto__: {exchange: {timeout: 1s}}',
      'constructor: {prototype: {x: 1}}',
      'exchange: {__proto__: {timeout: 1s}}',
      'accounts: {__proto__: {exchange: {timeout: 1s}}, constructor: {}, toString: {}}',
      'accounts: [a]',
      'accounts: {"": {}, " ": {}, all: {}, "a b": {}, a/b: {}}',
      `accounts: {${'x'.repeat(5_000)}: {}}`,
      `accounts:\n${Array.from({ length: 200 }, (_, index) => `  s${index}: {exchange: {timeout: x}}`).join('\n')}`,
      `exchange: ${'['.repeat(2_000)}`,
      `exchange: ${'{a: '.repeat(2_000)}`,
      '\t- x',
      'exchange:\n\tbaseUrl: x',
      'exchange: {timeout: 1s, timeout: 2s}',
      'log: {level: info}\nlog: {level: debug}',
    ),
  },
);
const environment = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: setting.map(([path, value]) => ({ [variableOf(path)]: value })) },
  {
    weight: 1,
    arbitrary: setting.map(([path, value]) => ({
      [`${variableOf(path)}_FILE`]: value.includes(SECRET) ? '/none' : value.slice(0, 200),
    })),
  },
  { weight: 1, arbitrary: anyValue.map((value) => ({ [`ORDER_SYNC_${value.slice(0, 60)}`]: '1' })) },
  { weight: 1, arbitrary: anyValue.map((value) => ({ ORDER_SYNC_ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT: value })) },
);

/** Settings: they are taken, or each thing that is wrong is said in a line that names its place and no secret. */
export const settings: Entry<OddSettings> = {
  name: 'settings',
  inputs: fc.record({ file: fc.option(oddBytes(yaml), { freq: 3 }), environment }),
  async open() {
    const undo = new AsyncDisposableStack();
    const cwd = folderIn(undo);
    const path = join(cwd, 'own.yaml');
    return {
      async give({ file, environment: own }) {
        if (file !== null) writeFileSync(path, bytesOf(file), { mode: 0o600 });
        const env = { ORDER_SYNC_EXCHANGE_API_KEY: SECRET, ORDER_SYNC_EXCHANGE_BASE_URL: 'https://h', ...own };
        const from = { cwd, env, file: file === null ? null : 'own.yaml' };
        check(() => loadConfig({ ...from, requireExchange: true }));
        check(() => JSON.stringify(configSources(from)));
      },
      [Symbol.asyncDispose]: () => undo.disposeAsync(),
    };
  },
};

function check(read: () => unknown): void {
  try {
    const shown = read();
    if (typeof shown === 'string' && shown.includes(SECRET)) broken(`the settings show a secret: ${shown}`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { code, message } = explainError(error);
    if (code !== 78) broken(`the exit code is ${code}`);
    if (message.includes(SECRET)) broken(`an error shows a secret: ${message}`);
    if (/\n {4}at /.test(message)) broken(`an error has a stack: ${message}`);
    const lines = message.split('\n').length;
    const { length } = error.problems;
    if (length <= 50 && lines !== (length === 1 ? 1 : length + 1))
      broken(`${length} problems in ${lines} lines: ${message}`);
    if (/\p{Cc}/u.test(message.replaceAll('\n', '')))
      broken(`an error has control characters: ${JSON.stringify(message)}`);
    for (const { problem, setting: named, source } of error.problems) {
      const isUnset = source === undefined && problem.includes('is not set');
      const hasPlace = (named ?? source) !== undefined || problem.startsWith('own.yaml');
      if (!isUnset && !hasPlace) broken(`a problem names no place: ${problem}`);
      if (source?.includes('own.yaml') === true && !/own\.yaml:\d+$/.test(source)) broken(`no line: ${source}`);
    }
  }
}
