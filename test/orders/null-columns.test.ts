import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { echo } from '../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';

const NEVER = new AbortController().signal;
/** Inserts a row as an ORM does: with null for each column that its object has not set. */
function insertNulls(
  { merchant }: Pick<TestProgram, 'merchant'>,
  id: string,
  more: Readonly<Record<string, unknown>> = {},
): void {
  merchant
    .prepare(`insert into merchant_orders (account, external_order_id, asset, asset_position, from_currency, to_currency,
        order_type, order_limit, created_at, updated_at, next_action_at)
      values (:account, :id, '1.5', :asset_position, 'BTC', 'EUR', :order_type, null, null, null, null)`)
    .run({ account: null, asset_position: null, order_type: null, ...more, id });
}

/** Starts the program; with several accounts it drives the default one of two. */
async function started(isSeveral = false) {
  const { program, exchange } = await scriptedProgram();
  const [only] = program.config.accounts;
  if (isSeveral && only !== undefined) {
    await program.app[Symbol.asyncDispose]();
    program.app = await program.start({}, { ...program.config, accounts: [only, { ...only, name: 'shop-2' }] });
  }
  exchange.answer = (request) => echo(request);
  const pass = async () => {
    program.clock.advance(Math.max(0, Date.now() + 60_000 - program.clock.now().getTime()));
    await createPass(program.app, NEVER);
  };
  return { program, exchange, pass };
}

describe('null in a column that has a default', () => {
  it('counts as left out', async () => {
    const { program, exchange, pass } = await started();
    insertNulls(program, 'a');
    expect(program.row('a')).toMatchObject({ account: 'default', asset_position: 'INPUT', order_type: 'DEPOSIT' });
    const times = ['created_at', 'updated_at', 'next_action_at'].map((column) => program.row('a')[column]);
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    await pass();
    expect([program.row('a')['state'], exchange.count('POST')]).toEqual(['accepted', 1]);
  });

  it('counts as the default too in a save of the whole row, which is refused if the row was sent otherwise', async () => {
    const { program, pass } = await started();
    insertNulls(program, 'a');
    insertNulls(program, 'b', { order_type: 'WITHDRAW' });
    const save = (id: string) =>
      program.merchant
        .prepare(
          'update merchant_orders set account = null, asset_position = null, order_type = null where external_order_id = ?',
        )
        .run(id);
    await pass();
    save('a');
    expect(program.row('a')).toMatchObject({ account: 'default', order_type: 'DEPOSIT', state: 'accepted' });
    expect(() => save('b')).toThrow('this order was sent');
    expect(program.row('b')).toMatchObject({ order_type: 'WITHDRAW', state: 'accepted' });
  });

  it('moves no order of another account', async () => {
    const { program } = await started();
    insertNulls(program, 'a', { account: 'shop-2' });
    expect(() => program.merchant.exec('update merchant_orders set account = null')).toThrow(
      'account cannot become null',
    );
    expect(program.row('a')['account']).toBe('shop-2');
  });
});

describe('null for the account if several are configured', () => {
  it('makes the row invalid, and nothing is sent before the account is set or a person says that it is default', async () => {
    const { program, exchange, pass } = await started(true);
    insertNulls(program, 'a');
    insertNulls(program, 'b', { account: 'default' });
    await pass();
    expect(program.row('a')).toMatchObject({
      state: 'invalid',
      state_reason: expect.stringContaining('account is null'),
    });
    expect([program.row('b')['state'], exchange.count('POST')]).toEqual(['accepted', 1]);
    program.merchant.exec(`update merchant_orders set asset = '2' where external_order_id = 'a'`);
    await pass();
    expect([program.row('a')['state'], exchange.count('POST')]).toEqual(['invalid', 1]);
    program.merchant.exec(`update merchant_orders set account = 'shop-2' where external_order_id = 'a'`);
    expect(program.row('a')).toMatchObject({ account: 'shop-2', state: 'invalid' });
  });

  it('is noted of that row alone', async () => {
    const { program } = await started(true);
    insertNulls(program, 'a');
    program.insert({ external_order_id: 'b' });
    insertNulls(program, 'c');
    const reasons = program.merchant
      .prepare('select external_order_id, state_reason from merchant_orders order by 1')
      .raw();
    expect(reasons.all()).toEqual([
      ['a', 'account is null'],
      ['b', null],
      ['c', 'account is null'],
    ]);
    expect(program.merchant.prepare(`select * from account_facts where name like 'account%'`).all()).toEqual([]);
  });
});
