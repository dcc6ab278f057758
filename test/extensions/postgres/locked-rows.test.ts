import { expect, it } from 'vitest';
import { Readable } from 'node:stream';
import { assumeOrderSent } from '../../../src/extensions/operate/decide-orders.ts';
import { after } from '../../../src/base/instant.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { importOrders } from '../../../src/extensions/intake/import.ts';
import { addOrder } from '../../../src/extensions/intake/add.ts';
import { RowLockedError } from '../../../src/store/errors.ts';
import { correctDueTimes } from '../../../src/store/orders/wrong-due-times.ts';
import { echo, record } from '../../support/scripted-exchange.ts';
import { hastyClock } from '../../support/test-clock.ts';
import { scriptedProgram } from '../../support/test-program.ts';
import { DAY, MINUTE } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;

/** Three orders, and a transaction of the merchant's that is open. */
async function begun() {
  const { program, exchange } = await scriptedProgram({ clock: hastyClock() });
  const merchant = program.database.connect();
  program.insert({ external_order_id: 'a' }, { external_order_id: 'b' }, { external_order_id: 'c' });
  const states = () => ['a', 'b', 'c'].map((id) => program.row(id)['state']);
  return { program, exchange, merchant, states, create: () => createPass(program.app, NEVER) };
}

it('an order that the merchant is changing is sent once that is done, as it is then, and no other waits for it', async () => {
  const { program, exchange, merchant, states, create } = await begun();
  merchant.exec(`begin; update merchant_orders set asset = '2' where external_order_id = 'a'`);
  await create();
  expect(states()).toEqual(['pending', 'accepted', 'accepted']);
  merchant.exec('commit');
  await create();
  expect(states()).toEqual(['accepted', 'accepted', 'accepted']);
  const sent = exchange.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  expect(sent.map(({ externalOrderId, asset }) => [externalOrderId, asset])).toEqual([
    ['b', 1.5],
    ['c', 1.5],
    ['a', 2],
  ]);
  expect(program.app.observers.counters.failed).toBe(0);
});

it('an order that the merchant is deleting is never sent', async () => {
  const { exchange, merchant, create } = await begun();
  merchant.exec(`begin; delete from merchant_orders where external_order_id = 'a'`);
  await create();
  merchant.exec('commit');
  await create();
  expect(exchange.requests.map(({ externalOrderId }) => externalOrderId)).toEqual(['b', 'c']);
});

it('what came of a create waits until the merchant lets go of the row, and those of others do not', async () => {
  const { program, exchange, merchant, states, create } = await begun();
  exchange.answer = (request) => {
    if (request.externalOrderId === 'a')
      merchant.exec(`begin; select 1 from merchant_orders where external_order_id = 'a' for update`);
    return echo(request);
  };
  const pass = create();
  while (states().join() !== 'sending,accepted,accepted') await program.clock.turn();
  expect(program.app.store.writer.failure).toBeUndefined();
  merchant.exec('commit');
  await pass;
  expect(states()).toEqual(['accepted', 'accepted', 'accepted']);
  expect(program.row('a')).toMatchObject({ pre_order_id: 'p1', attempts: 1 });
  expect(exchange.count('POST')).toBe(3);
});

it('a look-up of an order whose row is locked is made again, and those of others are recorded', async () => {
  const { program, exchange, merchant, states, create } = await begun();
  await create();
  exchange.answer = ({ externalOrderId }) => record(externalOrderId);
  merchant.exec(`begin; select 1 from merchant_orders where external_order_id = 'a' for update`);
  program.clock.advance(DAY);
  await followPass(program.app, 'all', NEVER);
  expect(states()).toEqual(['accepted', 'open', 'open']);
  merchant.exec('rollback');
  await followPass(program.app, 'all', NEVER);
  expect(states()).toEqual(['open', 'open', 'open']);
});

it('a program starts although the merchant has rows locked that the last one left in the middle', async () => {
  const { program, merchant, states, create } = await begun();
  await create();
  program.merchant.exec(`alter table merchant_orders disable trigger zz_guard_update;
    update merchant_orders set state = 'sending', next_action_at = null, revision = revision + 1;
    alter table merchant_orders enable trigger zz_guard_update`);
  merchant.exec(`begin; select 1 from merchant_orders where external_order_id = 'a' for update`);
  await program.restart();
  expect(states()).toEqual(['sending', 'unknown', 'unknown']);
  merchant.exec('rollback');
  await create();
  expect(states()).toEqual(['unknown', 'unknown', 'unknown']);
});

it('an order whose row is locked when the clock was set back is due at the right time later', async () => {
  const { program, merchant } = await begun();
  const { app, clock } = program;
  const set = 'update merchant_orders set revision = revision + 1, next_action_at = ?';
  program.merchant.prepare(set).run(after(clock.now(), DAY).toISOString());
  const isDue = () =>
    ['a', 'b', 'c'].map((id) => String(program.row(id)['next_action_at']) <= clock.now().toISOString());
  merchant.exec(`begin; select 1 from merchant_orders where external_order_id = 'a' for update`);
  await app.wrongTimes.correct(true);
  expect(isDue()).toEqual([false, true, true]);
  clock.advance(5 * MINUTE);
  await app.wrongTimes.correctLeft();
  merchant.exec('rollback');
  clock.advance(5 * MINUTE);
  await app.wrongTimes.correctLeft();
  expect(isDue()).toEqual([true, true, true]);
});

it('due times that are corrected together are those of all orders whose rows are free', async () => {
  const { program, merchant } = await begun();
  merchant.exec(`begin; select 1 from merchant_orders where external_order_id = 'a' for update`);
  const store = await program.database.open();
  const wrong = { account: 'default', state: 'pending', latest: new Date(0), limit: 9 } as const;
  expect(await store.writer.write((tx) => correctDueTimes(tx, { ...wrong, to: program.clock.now() }))).toBe(2);
  merchant.exec('rollback');
});

it('a decision of a person says that the row is locked, and changes nothing', async () => {
  const { program, merchant, states } = await begun();
  merchant.exec(`begin; update merchant_orders set asset = '2' where external_order_id = 'a'`);
  const store = await program.database.open();
  const how = { source: 'operator', reason: 'a restore', actor: 'ann' } as const;
  const deps = { clock: program.clock, settings: program.config.create };
  const decided = store.writer.write((tx) => assumeOrderSent(tx, { account: 'default', id: 'a', how }, deps));
  await expect(decided).rejects.toThrow(RowLockedError);
  merchant.exec('commit');
  expect(states()).toEqual(['pending', 'pending', 'pending']);
});

it.each([
  ['the same', '1.50', { inserted: 1, problemCount: 0 }, 'present'],
  ['another', '2', { inserted: 0, problemCount: 1 }, 'differs'],
])(
  'an order that the merchant is inserting with %s amount is there for an import and for adding it',
  async (_name, asset, imported, added) => {
    const { program, merchant } = await begun();
    const columns = 'external_order_id, asset, from_currency, to_currency';
    const store = await program.database.open();
    const isWaiting = program.merchant.prepare('select count(*) from pg_locks where not granted').pluck();
    /** Lets the merchant commit once the program waits for that. */
    const meanwhile = async <Result>(id: string, work: () => Promise<Result>): Promise<Result> => {
      merchant.exec(`begin; insert into merchant_orders (${columns}) values ('${id}', '1.5', 'BTC', 'EUR')`);
      let isOpen = true;
      const commit = () => {
        if (isOpen) merchant.exec('commit');
        isOpen = false;
      };
      const done = work().catch((error: unknown) => {
        // It was not seen in time that the program waits.
        if (!(error instanceof RowLockedError)) throw error;
        commit();
        return work();
      });
      while (isOpen && isWaiting.get() === 0) await program.clock.turn();
      commit();
      return await done;
    };
    const file = `${columns.replaceAll(' ', '')}\nd,${asset},BTC,EUR\ne,1,BTC,EUR\n`;
    const result = await meanwhile('d', () =>
      importOrders(store, 'default', Readable.from([Buffer.from(file)]), { format: 'csv' }),
    );
    expect(result).toMatchObject(imported);
    const order = { external_order_id: 'f', asset, from_currency: 'BTC', to_currency: 'EUR' };
    const addition = await meanwhile('f', () => addOrder({ store, account: 'default' }, order));
    expect(addition).toMatchObject({ kind: added });
  },
);
