import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../support/settings.ts';
import { SCENARIOS } from '../../../../src/extensions/sandbox/scenario.ts';
import { runProgram, type ProgramOptions } from '../../../support/cli-function.ts';
import { controlSocket, scriptedControlSocket } from '../../../support/control-socket.ts';
import { testProcesses } from '../../../support/program-processes.ts';
import {
  echo,
  NOT_FOUND,
  scriptedExchange,
  type ScriptedAnswer,
  type ScriptedRequest,
} from '../../../support/scripted-exchange.ts';
import { scriptedApi, secretOf } from '../../../support/served-api.ts';
import { scriptedProgram, settingsOf, testProgram } from '../../../support/test-program.ts';

interface Printed {
  readonly rows: readonly { question: string; seen: string; isOdd: boolean; setting?: unknown }[];
  readonly settings: { exchange?: { absence?: unknown; rate?: unknown }; create?: unknown };
  readonly evidence: string;
}

/** An exchange that answers as the test says, and an empty table. */
async function setUp(answer: (request: ScriptedRequest) => ScriptedAnswer) {
  const exchange = await scriptedExchange();
  exchange.answer = answer;
  const on = await testProcesses({}, { ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url });
  const place = { cwd: dirname(on.path), environment: on.environment };
  const order = join(place.cwd, 'order.csv');
  writeFileSync(
    order,
    'external_order_id,asset,from_currency,to_currency,payment_token\nprobe-1,1.50,BTC,EUR,canary-token-1\n',
  );
  return { on, exchange, place, order };
}

async function probe(place: ProgramOptions, ...args: string[]) {
  const { code, stdout, stderr } = await runProgram(['probe', '--yes', '--json', ...args], place);
  return { code, stderr, ...(JSON.parse(stdout || '{}') as Printed) };
}

const json = (status: number, body: unknown): ScriptedAnswer => ({ status, body: JSON.stringify(body) });
const spring = ({ path }: ScriptedRequest) =>
  json(404, { timestamp: process.hrtime().join('.'), status: 404, error: 'Not Found', path: path.split('?')[0] });
/** Answers about orders; everything else that the exchange does not have is answered in another way. */
const ofOrders = (answer: ScriptedAnswer) => (request: ScriptedRequest) =>
  request.externalOrderId === '' ? { status: 404, body: 'no route' } : answer;

const SHAPES: readonly [
  name: string,
  answer: (request: ScriptedRequest) => ScriptedAnswer,
  absence: unknown,
  isOdd: boolean,
][] = [
  ['a Spring-style 404', spring, [{ status: 404, pointer: '/error', value: 'Not Found' }], true],
  ['an empty 404', () => ({ status: 404 }), [{ status: 404 }], true],
  ['an empty 204', ofOrders({ status: 204 }), [{ status: 204 }], false],
  ['null', ofOrders(json(200, null)), [{ status: 200, pointer: '', value: 'null' }], false],
  ['an empty list', ofOrders(json(200, [])), [{ status: 200, pointer: '', value: '[]' }], false],
  [
    'a record without its order',
    ofOrders(json(200, { order: null })),
    [{ status: 200, pointer: '/order', value: 'null' }],
    false,
  ],
  [
    'a code with 200',
    ofOrders(json(200, { code: 'NO_ORDER', time: 1 })),
    [{ status: 200, pointer: '/code', value: 'NO_ORDER' }],
    false,
  ],
  [
    'an error within 400',
    ofOrders(json(400, { error: { code: 7 } })),
    [{ status: 400, pointer: '/error/code', value: '7' }],
    false,
  ],
];

describe('probe', () => {
  it.each(SHAPES)(
    'names %s, and with what it names that is documented absence',
    async (_name, answer, absence, isOdd) => {
      const { exchange, place } = await setUp(answer);
      const { rows, settings } = await probe(place);
      expect([settings.exchange?.absence, rows[0]?.isOdd]).toEqual([absence, isOdd]);
      expect(exchange.count('POST')).toBe(0);
      const environment = { ORDER_SYNC_EXCHANGE_ABSENCE: JSON.stringify(absence) };
      const { program, exchange: same } = await scriptedProgram({ environment });
      same.answer = answer;
      const lookup = await program.app.exchange.lookUpOrder('shop-1');
      expect(lookup?.answer).toEqual({ kind: 'absent', evidence: 'documented' });
    },
  );

  it.each([
    ['spring', [{ status: 404, pointer: '/error', value: 'Not Found' }], 0],
    // Whatever is answered 404 has that shape, an address that does not exist, too.
    ['empty404', [{ status: 404 }], 1],
    ['nulls', [{ status: 200 }], 0],
  ] as const)('names how the sandbox answers as %s, whatever the turn', async (name, absence, exit) => {
    const scenarioOf = () => SCENARIOS[name];
    const on = await testProcesses({ scenarioOf });
    const { code, settings } = await probe({ cwd: dirname(on.path), environment: on.environment });
    expect([code, settings]).toEqual([exit, { exchange: { absence } }]);
    const environment = { ORDER_SYNC_EXCHANGE_ABSENCE: JSON.stringify(absence) };
    const { app } = await testProgram({ scenarioOf, environment });
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await app.exchange.lookUpOrder('shop-1'))?.answer).toEqual({ kind: 'absent', evidence: 'documented' });
    }
  });

  it('prints the settings as a file of settings has them, beside the shapes that are there', async () => {
    const { place } = await setUp(ofOrders(json(200, null)));
    const there = { status: 404, pointer: '/a', value: 'b' };
    const environment = { ...place.environment, ORDER_SYNC_EXCHANGE_ABSENCE: JSON.stringify([there]) };
    const { stdout } = await runProgram(['probe', '--yes'], { ...place, environment });
    const file = join(place.cwd, 'local.yaml');
    writeFileSync(file, stdout.slice(stdout.indexOf('# for')));
    const { exchange } = loadConfig({ cwd: place.cwd, env: {}, file, requireExchange: false });
    expect(exchange.absence).toEqual([there, { status: 200, pointer: '', value: 'null' }]);
  });

  it('has nothing to say of an exchange that does as the document says, and keeps no key', async () => {
    const on = await testProcesses();
    const place = { cwd: dirname(on.path), environment: on.environment };
    const { code, rows, settings, evidence } = await probe(place);
    expect([code, settings, rows.filter(({ isOdd }) => isOdd)]).toEqual([0, {}, []]);
    expect(rows.find(({ question }) => question.startsWith('a wrong key'))?.seen).toMatch(/^401 /);
    expect(statSync(evidence).mode & 0o777).toBe(0o600);
    expect(readFileSync(evidence, 'utf8')).not.toContain(on.environment['ORDER_SYNC_EXCHANGE_API_KEY']);
    expect(on.states()).toEqual({});
  });

  it('finds a limit below the one that is set, and stops there', async () => {
    let answered = 0;
    const { exchange, place } = await setUp(() => {
      answered += 1;
      return answered <= 10 ? NOT_FOUND : { status: 429, headers: { 'retry-after': '1' } };
    });
    const environment = { ...place.environment, ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' };
    const { code, settings, rows } = await probe({ ...place, environment });
    expect([code, settings]).toEqual([1, { exchange: { rate: { requests: 3 } } }]);
    expect(rows.at(-1)?.seen).toContain('Retry-After: 1');
    expect(exchange.requests).toHaveLength(11);
  });

  it('has a daemon that runs ask, whose own requests the wrong key does not hold', async () => {
    const { program } = await controlSocket();
    const place = { cwd: dirname(program.config.database.path), environment: settingsOf(program) };
    const { code, rows } = await probe(place);
    expect([code, rows.some(({ seen }) => seen.startsWith('401 '))]).toEqual([1, true]);
    const { exchange, restraints } = program.app;
    expect([exchange.breaker('create').isOpen, exchange.breaker('lookup').isOpen]).toEqual([false, false]);
    expect(restraints.all).toEqual([]);
  });

  it('prints what it has seen also if the answers cannot be kept, and ends with the code of the file', async () => {
    const { exchange, url } = await scriptedApi();
    exchange.answer = () => NOT_FOUND;
    // No user can make a file there.
    const place = { cwd: '/proc', environment: { ORDER_SYNC_API_TOKEN: secretOf('shop') } };
    const { code, rows, evidence } = await probe(place, '--url', url);
    expect(exchange.count('GET')).toBeGreaterThan(0);
    expect([code, evidence]).toEqual([74, null]);
    expect(rows.length).toBeGreaterThan(0);
  });

  it('asks nothing if no person agrees', async () => {
    const { exchange, place } = await setUp(() => NOT_FOUND);
    expect((await runProgram(['probe'], place)).code).toBe(64);
    expect(exchange.requests).toEqual([]);
  });

  it('ends at once if the key is refused, or nothing answers', async () => {
    const { exchange, place } = await setUp(() => ({ status: 401 }));
    expect((await probe(place)).code).toBe(77);
    expect(exchange.requests).toHaveLength(1);
    const nobody = { ...place.environment, ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:1' };
    expect((await probe({ ...place, environment: nobody })).code).toBe(69);
  });
});

describe('probe --order', () => {
  /** It takes the order, writes its amount otherwise, and quotes the key in an unlikely place. */
  const digits = (request: ScriptedRequest): ScriptedAnswer => {
    if (request.method === 'POST') return echo(request, { asset: 1.5, paymentToken: 'canary-token-1' });
    return request.path.includes('/request/p1') ? json(200, { id: 'p1', note: 'canary-key-77' }) : NOT_FOUND;
  };

  it('creates the order once, by the table, and shows what a pre-order proves', async () => {
    const { on, exchange, place, order } = await setUp(digits);
    on.insert(1, 'other');
    const first = await probe(place, '--order', order);
    expect(first.settings).toEqual({ create: { onUnknown: 'hold' } });
    expect(first.rows.some(({ seen }) => seen === 'asset 1.50 → 1.5')).toBe(true);
    await probe(place, '--order', order);
    expect([exchange.count('POST'), on.states()]).toEqual([1, { accepted: 1, pending: 1 }]);
    const kept = readdirSync(place.cwd).filter((name) => name.startsWith('probe-'));
    expect(kept).toHaveLength(2);
    for (const name of kept) expect(readFileSync(join(place.cwd, name), 'utf8')).not.toMatch(/canary-(key|token)/);
  });

  it('has no setting if orders show at once, and takes no missing answer for absence', async () => {
    const order = json(200, { externalOrderId: 'probe-1', order: { id: 'o', status: 'NEW' } });
    for (const [later, settings, code] of [
      [order, {}, 1],
      [{ status: 503 }, {}, 1],
    ] as const) {
      const {
        exchange,
        place,
        order: file,
      } = await setUp((request) =>
        request.method === 'POST'
          ? echo(request)
          : request.externalOrderId === 'probe-1' && exchange.count('POST') > 0
            ? later
            : NOT_FOUND,
      );
      const seen = await probe(place, '--order', file);
      expect([seen.settings, seen.code]).toEqual([settings, code]);
    }
  });

  it('shows what it has seen also if no address can carry the id of the pre-order', async () => {
    const { on, place, order } = await setUp((request) =>
      request.method === 'POST' ? echo(request, { id: '..' }) : NOT_FOUND,
    );
    const { code, rows } = await probe(place, '--order', order);
    expect([code, on.states()]).toEqual([1, { accepted: 1 }]);
    expect(rows.find(({ question }) => question === 'the pre-order by its id (§4.10)')).toMatchObject({ isOdd: true });
    expect(rows.some(({ question }) => question.includes('(§4.9)'))).toBe(true);
  });

  it('does not create one that the exchange has', async () => {
    const { on, exchange, place, order } = await setUp(({ externalOrderId }) =>
      externalOrderId === 'probe-1' ? json(200, { externalOrderId, order: { id: 'o', status: 'NEW' } }) : NOT_FOUND,
    );
    expect((await probe(place, '--order', order)).code).toBe(1);
    expect([exchange.count('POST'), on.states()]).toEqual([0, {}]);
  });

  it('names a refusal that the document does not show', async () => {
    const { on, place, order } = await setUp(({ method }) =>
      method === 'POST' ? { status: 400, body: 'bad' } : NOT_FOUND,
    );
    const { code, settings } = await probe(place, '--order', order);
    expect([code, settings, on.states()]).toEqual([1, { create: { refusedBy: 'status' } }, { unknown: 1 }]);
  });

  it('repeats the create if that is asked for, once; a second pre-order is shown and its answer kept', async () => {
    let posts = 0;
    const { on, exchange, place, order } = await setUp((request) =>
      request.method === 'POST' ? echo(request, { id: `p-${(posts += 1)}` }) : NOT_FOUND,
    );
    const { code } = await probe(place, '--order', order, '--repeat-id');
    expect([code, exchange.count('POST')]).toEqual([1, 2]);
    expect(on.merchant.prepare('select subject, json_extract(body, ?) as id from kept_answers').all('$.id')).toEqual([
      { subject: 'probe-1', id: 'p-2' },
    ]);
    expect((await probe(place, '--order', order, '--repeat-id')).code).toBe(64);
    expect(exchange.count('POST')).toBe(2);
  });

  it('has the daemon do it if one runs', async () => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = digits;
    const cwd = dirname(program.config.database.path);
    const order = join(cwd, 'order.ndjson');
    writeFileSync(order, '{"external_order_id":"a","asset":1.50,"from_currency":"BTC","to_currency":"EUR"}\n');
    const { rows } = await probe({ cwd, environment: settingsOf(program) }, '--order', order);
    expect(rows.find(({ question }) => question.startsWith('the create'))?.seen).toContain('p1');
    expect([exchange.count('POST'), program.row('a')['state']]).toEqual([1, 'accepted']);
  });
});
