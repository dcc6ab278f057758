import { describe, expect, it } from 'vitest';
import { after } from '../../src/base/instant.ts';
import { acceptedOrders, type TestProgram } from '../support/test-program.ts';
import { HOUR, MINUTE, SECOND } from '../support/tracking.ts';

/** A trigger of the merchant that refuses every write of some orders. */
const refuse = ({ merchant }: TestProgram, which = 'true') =>
  merchant.exec(`create trigger of_the_merchant before update on merchant_orders
    when ${which} begin select raise(abort, 'not now'); end`);
const allow = ({ merchant }: TestProgram) => merchant.exec('drop trigger of_the_merchant');

/** How long an order waits, in ms. */
const waitMs = (program: TestProgram, id: string) =>
  Date.parse(String(program.row(id)['next_action_at'])) - program.clock.now().getTime();

/** Orders that wait for an hour, by a clock that goes wrong. */
async function waiting(ids: readonly string[]) {
  const { program } = await acceptedOrders(ids);
  const until = after(program.clock.now(), HOUR).toISOString();
  program.merchant.prepare('update merchant_orders set revision = revision + 1, next_action_at = ?').run(until);
  return program;
}

const goOn = async (program: TestProgram, ms: number) => {
  program.clock.advance(ms);
  await program.app.wrongTimes.correctLeft();
};
const facts = ({ merchant }: TestProgram) =>
  merchant.prepare(`select value from account_facts where name = 'times.uncorrected'`).pluck().all();

describe('the due time of an order that a trigger refuses when the clock was set back', () => {
  it('is corrected once the trigger lets it be written, and that of no other order again', async () => {
    const program = await waiting(['a', 'b']);
    refuse(program, `new.external_order_id = 'a'`);
    await program.app.wrongTimes.correct(true);
    expect([waitMs(program, 'a'), waitMs(program, 'b')]).toEqual([HOUR, 0]);
    const { revision } = program.row('b');
    await goOn(program, 5 * MINUTE);
    allow(program);
    await goOn(program, 5 * MINUTE - 1);
    expect(waitMs(program, 'a')).toBe(50 * MINUTE + 1);
    await goOn(program, 1);
    expect(waitMs(program, 'a')).toBe(0);
    expect(program.row('b')['revision']).toBe(revision);
    expect([program.app.wrongTimes.isAny, facts(program)]).toEqual([false, []]);
  });

  it('is corrected at once by the next owner, which sees nothing wrong with the clock', async () => {
    const program = await waiting(['a']);
    refuse(program);
    await program.app.wrongTimes.correct(true);
    await program.restart();
    allow(program);
    await goOn(program, SECOND);
    expect(waitMs(program, 'a')).toBe(0);
  });

  it('is tried again, as it was, by the next owner too', async () => {
    const program = await waiting(['a']);
    refuse(program);
    await program.app.wrongTimes.correct(true);
    await program.restart();
    await goOn(program, 0);
    await program.restart();
    allow(program);
    await goOn(program, 0);
    expect(waitMs(program, 'a')).toBe(0);
  });

  it('is corrected also if there are more than can be remembered', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `o${index}`);
    const program = await waiting(ids);
    refuse(program);
    await program.app.wrongTimes.correct(true);
    allow(program);
    refuse(program, `new.external_order_id = 'o7'`);
    await goOn(program, 5 * MINUTE);
    expect(ids.filter((id) => waitMs(program, id) > 0)).toEqual(['o7']);
    allow(program);
    await goOn(program, 5 * MINUTE);
    expect(waitMs(program, 'o7')).toBe(0);
    expect(facts(program)).toEqual([]);
  });

  it('is left alone if the order has ended since', async () => {
    const program = await waiting(['a']);
    refuse(program);
    await program.app.wrongTimes.correct(true);
    allow(program);
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, state = 'abandoned', next_action_at = null`,
    );
    await goOn(program, 5 * MINUTE);
    expect(program.row('a')['next_action_at']).toBeNull();
    expect(facts(program)).toEqual([]);
  });
});

it('all waiting orders are due once the clock was set back, however many and however long their pages take', async () => {
  const { program } = await acceptedOrders(['a']);
  const insert = program.merchant.prepare(
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, '1', 'BTC', 'EUR')`,
  );
  for (let number = 0; number < 450; number += 1) insert.run(`o${number}`);
  const until = after(program.clock.now(), HOUR).toISOString();
  program.merchant.prepare('update merchant_orders set revision = revision + 1, next_action_at = ?').run(until);
  const { writer } = program.app.store;
  const write = writer.write.bind(writer);
  writer.write = (work) => {
    program.clock.advance(1);
    return write(work);
  };
  await program.app.wrongTimes.correct(true);
  const late = program.merchant.prepare('select count(*) from merchant_orders where next_action_at = ?').pluck();
  expect([late.get(until), program.row('o449')['revision']]).toEqual([0, 2]);
});
