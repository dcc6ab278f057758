import { userInfo } from 'node:os';
import { PassThrough } from 'node:stream';
import Database from 'better-sqlite3';
import { unguarded } from '../../support/unguarded.ts';
import { describe, expect, it } from 'vitest';
import { agrees } from '../../../src/extensions/operate/decision-options.ts';
import { runProgram } from '../../support/cli-function.ts';
import { commandFolder } from '../../support/folders.ts';

const REASON = ['--reason', 'the exchange said so'];

const at = commandFolder();
const orders = (...args: readonly string[]) => runProgram(['orders', ...args], at.options);

/** Orders in a state, sent long ago and looked up since: there is none. */
function put(state: string, ...ids: readonly string[]): void {
  const merchant = new Database(at.path);
  const insert = merchant.prepare(`insert into merchant_orders (external_order_id, asset, created_at)
    values (?, '1', '2026-01-02T00:00:00.000Z')`);
  const move = merchant.prepare(
    `update merchant_orders set revision = revision + 1, state = ?, sent_at = '2026-01-02T00:00:00.000Z',
      last_lookup_at = '2026-01-03T00:00:00.000Z', absent_at = '2026-01-03T00:00:00.000Z' where account = 'default' and external_order_id = ?`,
  );
  unguarded(merchant, () => {
    for (const id of ids) {
      insert.run(id);
      move.run(state, id);
    }
  });
  merchant.close();
}

function query<Row>(sql: string): Row[] {
  const merchant = new Database(at.path);
  try {
    return merchant.prepare(sql).all() as Row[];
  } finally {
    merchant.close();
  }
}
const states = () =>
  query<{ id: string; state: string }>(
    'select external_order_id as id, state from merchant_orders order by external_order_id',
  ).map(({ id, state }) => `${id} ${state}`);

describe('orders resolve, retry and cancel', () => {
  it('move the orders that are named, say so, and record who and why', async () => {
    put('held', 'a', 'b');
    put('rejected', 'c');
    put('pending', 'd');
    const told = [
      await orders('resolve', 'a', '--as', 'exists', '--pre-order-id', 'p1', ...REASON, '--actor', ' Anna '),
      await orders('resolve', 'b', '--as', 'abandoned', ...REASON),
      await orders('retry', 'c', 'c', ...REASON),
      await orders('cancel', 'd', '--yes', ...REASON),
    ];
    expect(told.map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
      [0, 'a: held → accepted\n', expect.stringContaining('pre-order show p1')],
      [0, 'b: held → abandoned\n', ''],
      [0, 'c: rejected → pending\n', ''],
      [0, 'd: pending → cancelled\n', ''],
    ]);
    const events = query('select external_order_id as id, source, reason, actor from order_events order by id');
    const me = userInfo().username;
    expect(events).toEqual(
      [
        ['a', 'Anna'],
        ['b', me],
        ['c', me],
        ['d', me],
      ].map(([id, actor]) => ({ id, source: 'operator', reason: 'the exchange said so', actor })),
    );
  });

  it('pass over what is not allowed, say why and what is, do the rest, and end with 1', async () => {
    put('held', 'a');
    put('open', 'b\u009b31m');
    const ids = ['a', 'b\u009b31m', 'nowhere'];
    const { code, stdout, stderr } = await orders('resolve', ...ids, '--as', 'not-created', ...REASON);
    expect([code, stdout]).toEqual([1, 'a: held → pending\n']);
    expect(stderr.split('\n')).toEqual([
      expect.stringContaining(String.raw`b\u009b31m: not changed, it is open`),
      'nowhere: not changed, there is no order "nowhere" in the table',
      '',
    ]);
    expect(states()).toEqual(['a pending', 'b\u009b31m open']);
  });

  it('do not send an order again that may have been taken, unless told that it may become two', async () => {
    put('held', 'a');
    const careless = await orders('retry', 'a', ...REASON);
    expect([careless.code, careless.stdout, states()]).toEqual([1, '', ['a held']]);
    expect(careless.stderr).toContain('--i-know-it-may-duplicate');
    const knowing = await orders('retry', 'a', ...REASON, '--i-know-it-may-duplicate');
    expect([knowing.code, knowing.stdout]).toEqual([0, 'a: held → pending\n']);
  });

  it('believe that it was not created only after a documented absence, unless told that it may become two', async () => {
    put('held', 'a');
    const merchant = new Database(at.path);
    const forget = 'update merchant_orders set revision = revision + 1, absent_at = null';
    unguarded(merchant, () => merchant.exec(forget));
    merchant.close();
    const notCreated = ['resolve', 'a', '--as', 'not-created', ...REASON];
    const careless = await orders(...notCreated);
    expect([careless.code, careless.stdout]).toEqual([1, '']);
    expect(careless.stderr).toContain('--i-know-it-may-duplicate');
    const knowing = await orders(...notCreated, '--i-know-it-may-duplicate');
    expect([knowing.code, knowing.stdout]).toEqual([0, 'a: held → pending\n']);
  });

  it('tell programs everything in one answer', async () => {
    put('held', 'a');
    const { code, stdout, stderr } = await orders('resolve', 'a', 'b', '--as', 'abandoned', ...REASON, '--json');
    expect([code, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toEqual([
      { kind: 'done', externalOrderId: 'a', from: 'held', to: 'abandoned' },
      { kind: 'passed-over', externalOrderId: 'b', state: null, why: 'there is no order "b" in the table' },
    ]);
  });

  it('of orders that are not there end with 2', async () => {
    const { code, stdout, stderr } = await orders('resolve', 'b', '--as', 'abandoned', ...REASON);
    expect([code, stdout, stderr]).toEqual([2, '', 'b: not changed, there is no order "b" in the table\n']);
  });

  it('name the account that has the order, if the settings do not', async () => {
    put('pending', 'a');
    const merchant = new Database(at.path);
    merchant.exec("update merchant_orders set account = 'defualt'");
    merchant.close();
    const { code, stderr } = await orders('cancel', 'a', ...REASON);
    expect([code, stderr, states()]).toEqual([2, expect.stringContaining('"defualt"'), ['a pending']]);
  });

  it('ask for an id in place of a placeholder that was pasted, unless an order has that id', async () => {
    put('held', 'ID');
    const { code, stderr } = await orders('resolve', 'ID', 'ORDER', '--as', 'abandoned', ...REASON);
    expect([code, stderr, states()]).toEqual([1, expect.stringContaining('in place of ORDER'), ['ID abandoned']]);
  });

  it('are wrong usage if they contradict themselves: exit 64, and nothing is changed', async () => {
    put('held', 'a');
    const wrong = [
      [['resolve', '--as', 'abandoned', ...REASON], 'name an order, or use --state'],
      [['cancel', 'a', '--state', 'pending', ...REASON], 'either ids or --state'],
      [['cancel', 'a', '--from', '2026-01-03', ...REASON], '--from and --to only with --state'],
      [['cancel', 'a'], "required option '--reason <text>' not specified"],
      [['cancel', 'a', '--reason', ' '], '--reason'],
      [['cancel', 'a', ...REASON, '--actor', ''], '--actor'],
      [['cancel', '--state', 'open', ...REASON], 'Allowed choices are pending.'],
      [['retry', '--state', 'accepted', ...REASON], 'Allowed choices are unknown, held, rejected, invalid.'],
      [['resolve', 'a', '--as', 'done', ...REASON], 'Allowed choices are exists, not-created, ours, abandoned.'],
      [['resolve', 'a', '--as', 'exists', ...REASON], '--as exists needs --pre-order-id'],
      [['resolve', 'a', 'b', '--as', 'exists', '--pre-order-id', 'p', ...REASON], '--as exists is for one order'],
      [['resolve', 'a', '--as', 'exists', '--pre-order-id', '..', ...REASON], '".." cannot be an id'],
      // As a command is printed: what a person must write stands in it as a word.
      [['resolve', 'a', '--as', 'exists', '--pre-order-id', 'PRE_ORDER_ID', ...REASON], 'in place of PRE_ORDER_ID'],
      [['resolve', 'a', '--as', 'exists', '--pre-order-id', 'PID', ...REASON], 'in place of PID'],
      [['resolve', 'a', '--as', 'abandoned', '--reason', 'TEXT'], 'in place of TEXT'],
      [['resolve', 'a', '--as', 'abandoned', '--pre-order-id', 'p', ...REASON], '--pre-order-id only with --as exists'],
      [
        ['resolve', 'a', '--as', 'abandoned', '--i-know-it-may-duplicate', ...REASON],
        '--i-know-it-may-duplicate only with --as not-created',
      ],
      [['cancel', '--state', 'pending', '--from', '2026-02-30', ...REASON], '--from'],
    ] as const;
    const told = await Promise.all(wrong.map(([args]) => orders(...args)));
    for (const [index, { code, stdout, stderr }] of told.entries()) {
      expect([code, stdout]).toEqual([64, '']);
      expect(stderr).toContain(wrong[index]?.[1]);
    }
    expect(states()).toEqual(['a held']);
  });
});

describe('orders of one state together', () => {
  const all = ['resolve', '--state', 'held', '--as', 'abandoned', ...REASON] as const;

  it('are shown, and not changed if no person can be asked: exit 64', async () => {
    put('held', ...Array.from({ length: 120 }, (_, index) => `order-${index}`));
    const { code, stdout, stderr } = await orders(...all);
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr.match(/^order-\d+ +held → abandoned$/gm)).toHaveLength(100);
    expect(stderr).toContain('\n… and 20 more\n');
    expect(stderr).toMatch(/nothing was changed: .*--yes\n/);
    expect(query("select 1 from merchant_orders where state <> 'held'")).toEqual([]);
  });

  it('are changed without a question with --yes, those of the period alone', async () => {
    put('held', 'a', 'b');
    put('unknown', 'c');
    const later = await orders(...all, '--yes', '--from', '2026-01-03');
    expect([later.code, later.stdout, later.stderr]).toEqual([0, '', 'there is no such order\n']);
    const { code, stdout, stderr } = await orders(...all, '--yes', '--to', '2026-01-03');
    expect([code, stdout, stderr]).toEqual([0, 'a: held → abandoned\nb: held → abandoned\n', '']);
    expect(states()).toEqual(['a abandoned', 'b abandoned', 'c unknown']);
  });

  it('are changed to the end, also behind 10,000 that do not change', { timeout: 60_000 }, async () => {
    put('held', ...Array.from({ length: 10_001 }, (_, index) => `order-${index}`));
    const merchant = new Database(at.path);
    unguarded(merchant, () => {
      merchant.exec("update merchant_orders set absent_at = null where external_order_id <> 'order-9999'");
    });
    merchant.close();
    const notCreated = ['resolve', '--state', 'held', '--as', 'not-created', ...REASON, '--yes', '--json'];
    const { code, stdout, stderr } = await orders(...notCreated);
    const results = JSON.parse(stdout) as { externalOrderId: string; kind: string }[];
    expect([code, stderr, results.length]).toEqual([1, '', 10_001]);
    expect(results.filter(({ kind }) => kind === 'done').map((one) => one.externalOrderId)).toEqual(['order-9999']);
  });

  it('that none of would change are told why, without a question', async () => {
    put('held', 'a');
    const { code, stdout, stderr } = await orders('retry', '--state', 'held', ...REASON);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^a: not changed, it is not known /);
  });
});

describe('the question', () => {
  it.each([
    ['y\n', true],
    ['Yes \n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
    ['', false],
  ])('is answered by %j: %s', async (typed, answer) => {
    const input = new PassThrough();
    const output = new PassThrough();
    input.end(typed);
    expect(await agrees('Continue? [y/N] ', input, output)).toBe(answer);
    expect(String(output.read())).toContain('Continue? [y/N] ');
  });

  it.each([
    ['\n', true],
    ['n\n', false],
    ['', false],
  ])('that says (Y/n) is answered by %j: %s', async (typed, answer) => {
    const input = new PassThrough();
    input.end(typed);
    expect(await agrees('Continue? (Y/n) ', input, new PassThrough())).toBe(answer);
  });
});
