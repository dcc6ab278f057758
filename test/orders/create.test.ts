import { beforeEach, describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import {
  keptRecord,
  scriptedProgram,
  testProgram,
  type SandboxProgram,
  type SandboxProgramOptions,
} from '../support/test-program.ts';
import { echo } from '../support/scripted-exchange.ts';
import { isSqlite, ofSqlite } from '../support/database.ts';

const NEVER = new AbortController().signal;
let program: SandboxProgram;

async function setUp(options: SandboxProgramOptions = {}): Promise<void> {
  program = await testProgram(options);
}

beforeEach(() => setUp());

const create = () => createPass(program.app, NEVER);
const follow = () => followPass(program.app, 'due', NEVER);

describe('the create pass', () => {
  it('turns a pending row into one pre-order, with the intent recorded first', async () => {
    program.insert({ external_order_id: 'a' });
    await create();
    await create();
    expect(program.states('a')).toEqual(['sending', 'accepted']);
    expect(program.row('a')).toMatchObject({
      state: 'accepted',
      pre_order_id: 'pre-1',
      exchange_type: 'SELL',
      attempts: 1,
    });
    expect(program.sandbox.exchange.preOrdersOf('a')).toHaveLength(1);
  });

  it('writes out an amount with an exponent, as SQLite writes large and small reals', async () => {
    program.insert({ external_order_id: 'a', asset: '1e5' }, { external_order_id: 'b', asset: '1.5E-3' });
    await create();
    const sent = ['a', 'b'].map((id) => program.sandbox.exchange.preOrdersOf(id)[0]?.asset);
    expect(sent).toEqual(['100000', '0.0015']);
  });

  it('sends an amount and an id exactly as they stand', async () => {
    const asset = '12345678901234567.123456789012345678';
    const id = `"it's"  <ü> A`;
    program.insert({ external_order_id: id, asset }, { external_order_id: id.toLowerCase(), asset: '1.50' });
    await create();
    expect(program.sandbox.exchange.preOrdersOf(id)[0]?.asset).toBe(asset);
    expect(program.sandbox.exchange.preOrdersOf(id.toLowerCase())[0]?.asset).toBe('1.50');
    expect(
      program.merchant.prepare('select body from pre_orders where external_order_id = ?').pluck().get(id),
    ).toContain(`"asset":${asset}`);
    program.clock.advance(5_000);
    await follow();
    expect(keptRecord(program, id)).toContain(`"inputAsset":${asset}`);
  });

  it.each([
    ['zero', { asset: '0' }, /positive/],
    ['negative', { asset: '-1' }, /positive/],
    ['words', { asset: 'one' }, /not a decimal/],
    ['NaN', { asset: 'NaN' }, /not a decimal/],
    ['1e400', { asset: '1e400' }, /digits/],
    ['65 digits', { asset: '1'.repeat(65) }, /digits/],
    ['missing', { asset: null }, /missing/],
    // PostgreSQL takes them for text.
    ['bytes', { asset: isSqlite() ? Buffer.from('1') : 'x' }, /not a decimal/],
    ['an empty currency', { from_currency: '' }, /from_currency is empty/],
    ['a negative bonus', { bonus: '-1' }, /bonus must not be negative/],
  ])('refuses a row before it is sent: %s', async (_name, columns, reason) => {
    program.insert({ external_order_id: 'bad', ...columns });
    await create();
    expect(program.row('bad')).toMatchObject({
      state: 'invalid',
      state_reason: expect.stringMatching(reason) as string,
    });
    expect(program.sandbox.requests).toHaveLength(0);
  });

  it('refuses an id that the exchange may read as another, and keeps the row', async () => {
    const ofOneDialect = isSqlite() ? ['x'.repeat(10_000), 'a\0', 'a\0b'] : [];
    const ids = [...ofOneDialect, ' a', 'a\u00a0', 'a\nb'];
    program.insert(...ids.map((id) => ({ external_order_id: id })));
    await create();
    expect(ids.map((id) => program.row(id)['state'])).toEqual(ids.map(() => 'invalid'));
    expect(program.sandbox.requests).toHaveLength(0);
  });

  it(
    'sends nothing of a row whose id is no text, says so, and is not held up by any number of them',
    ofSqlite('text that is none'),
    async () => {
      const { log } = program;
      const insert = program.merchant.prepare(
        `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, next_action_at)
       values (cast(? as text), '1', 'BTC', 'EUR', ?)`,
      );
      const latin1 = (text: string) => Buffer.from(text, 'latin1');
      program.merchant.transaction(() => {
        for (let row = 0; row < 250; row += 1) insert.run(latin1(`für-${row}`), '2026-01-05T11:59:59.000Z');
        insert.run(latin1('fur'), '2026-01-05T12:00:00.000Z');
      })();
      await create();
      expect(program.sandbox.requests.map(({ externalOrderId }) => externalOrderId)).toEqual(['fur']);
      expect(log.with(/not valid Unicode text/).length).toBeGreaterThan(0);
      const pending = program.merchant
        .prepare(`select count(*) from merchant_orders where state = 'pending'`)
        .pluck()
        .get();
      expect(pending).toBe(250);
      expect(program.app.observers.counters.failed).toBeGreaterThan(0);
    },
  );

  it('passes over an order that the database does not let it write, and sends the others', async () => {
    const { log } = program;
    program.insert(...['a', 'bad', 'c'].map((external_order_id) => ({ external_order_id })));
    program.merchant.exec(`create trigger of_the_merchant before update of state on merchant_orders
      when new.external_order_id = 'bad' begin select raise(abort, 'not now'); end`);
    await create();
    await create();
    expect(['a', 'bad', 'c'].map((id) => program.row(id)['state'])).toEqual(['accepted', 'pending', 'accepted']);
    expect(log.with(/cannot be written/)).toMatchObject([
      { externalOrderId: 'bad', cause: expect.stringMatching(/^not now/) as string },
    ]);
    expect(program.app.observers.counters.failed).toBe(1);
    program.merchant.exec('drop trigger of_the_merchant');
    program.clock.advance(5 * 60_000);
    await create();
    expect(program.states('bad')).toEqual(['sending', 'accepted']);
  });

  it('takes what was accepted for accepted if another program has moved the order meanwhile', async () => {
    const { program: own, exchange } = await scriptedProgram();
    own.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    exchange.answer = (request) => {
      const move = `update merchant_orders set revision = revision + 1, state = 'unknown' where external_order_id = 'a'`;
      if (request.externalOrderId === 'a') own.merchant.exec(move);
      return echo(request);
    };
    await createPass(own.app, NEVER);
    expect(own.log.with(/after the state of its order had changed/)).toMatchObject([
      { stateBefore: 'unknown', state: 'accepted' },
    ]);
    expect(own.states('a')).toEqual(['sending', 'held', 'accepted']);
    expect([own.row('a')['state'], own.row('b')['state']]).toEqual(['accepted', 'accepted']);
  });

  it('checks an invalid row again once it is corrected', async () => {
    program.insert({ external_order_id: 'a', asset: '0' });
    await create();
    program.merchant.prepare(`update merchant_orders set asset = '2' where external_order_id = 'a'`).run();
    program.merchant
      .prepare(`update merchant_orders set revision = revision + 1, next_action_at = ? where external_order_id = 'a'`)
      .run(program.clock.now().toISOString());
    await create();
    expect(program.states('a')).toEqual(['invalid', 'pending', 'sending', 'accepted']);
  });

  it.each([
    'reset-after',
    'reset-before',
    'error-taken',
    'error-not-taken',
    'truncated',
    'wrong-json',
    'html',
    'redirect',
  ])('does not know the outcome after %s, and never sends it again', async (fault) => {
    const id = `fault-${fault}-1`;
    program.insert({ external_order_id: id });
    await create();
    expect(program.row(id)['state']).toBe('unknown');
    for (let day = 0; day < 3; day += 1) {
      program.clock.advance(24 * 3_600_000);
      await create();
      await follow();
    }
    expect(program.sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('goes back to pending after 429, for as long as the exchange says', async () => {
    program.insert({ external_order_id: 'fault-rate-limited-1' });
    await create();
    expect(program.row('fault-rate-limited-1')).toMatchObject({
      state: 'pending',
      next_action_at: '2026-01-05T12:00:01.000Z',
    });
    program.clock.advance(1_000);
    await create();
    expect(program.states('fault-rate-limited-1')).toEqual(['sending', 'pending', 'sending', 'accepted']);
  });

  it('goes back to pending and sends nothing more when the key is refused', async () => {
    await setUp({ apiKey: 'wrong' });
    program.insert(...Array.from({ length: 50 }, (_, index) => ({ external_order_id: `a${index}` })));
    await create();
    expect(program.row('a0')).toMatchObject({ state: 'pending', state_reason: expect.stringMatching(/key/) as string });
    expect(program.sandbox.requests).toHaveLength(1);
    expect(program.app.restraints.isKeyWrong).toBe(true);
  });

  it('goes back to pending when nothing listens, and does not run through the backlog', async () => {
    program.insert(...Array.from({ length: 50 }, (_, index) => ({ external_order_id: `a${index}` })));
    await program.sandbox.close();
    await create();
    const touched = program.merchant.prepare('select count(*) from merchant_orders where attempts > 0').pluck().get();
    expect(touched).toBeLessThanOrEqual(program.config.exchange.concurrency);
    expect(program.row('a0')).toMatchObject({
      state: 'pending',
      state_reason: expect.stringMatching(/not sent/) as string,
    });
  });

  it('does not turn a backlog into unknown outcomes while the exchange fails', async () => {
    await setUp({ faults: { 'error-taken': 1 } });
    program.insert(...Array.from({ length: 100 }, (_, index) => ({ external_order_id: `a${index}` })));
    await create();
    const unknown = program.merchant
      .prepare(`select count(*) from merchant_orders where state = 'unknown'`)
      .pluck()
      .get();
    expect(unknown).toBeLessThanOrEqual(program.config.exchange.concurrency + 2);
  });

  it('rejects an order that the exchange refuses with its documented error, with the message', async () => {
    program.insert({ external_order_id: 'a', bonus: '5' });
    program.merchant.prepare(`update merchant_orders set order_type = 'OTHER' where external_order_id = 'a'`).run();
    await create();
    expect(program.row('a')).toMatchObject({
      state: 'rejected',
      state_reason: expect.stringMatching(/BAD_REQUEST: bonus/) as string,
    });
  });

  it('takes what it finds sending at start for unknown', async () => {
    program.insert({ external_order_id: 'a' });
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1, next_action_at = null`,
    );
    await program.restart();
    await create();
    expect(program.row('a')).toMatchObject({
      state: 'unknown',
      state_reason: expect.stringMatching(/process ended/) as string,
    });
    expect(program.sandbox.requests).toHaveLength(0);
  });
});
