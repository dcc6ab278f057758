import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { problemsOf } from '../../src/extensions/health/status/problems.ts';
import { isSqlite } from '../support/database.ts';
import { liveStatus, readingOf } from '../support/reading.ts';
import { echo, record } from '../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { MINUTE } from '../support/tracking.ts';

const NEVER = new AbortController().signal;

/** A trigger of the shop's that does this after each update of the order `a`, or of any order. */
function afterUpdate({ merchant }: TestProgram, body: string, ofAll = false): () => void {
  const when = ofAll ? '' : `when (new.external_order_id = 'a')`;
  if (isSqlite()) {
    merchant.exec(`create trigger of_the_shop after update on merchant_orders ${when} begin ${body}; end`);
    return () => void merchant.exec('drop trigger of_the_shop');
  }
  merchant.exec(
    `create function of_the_shop() returns trigger language plpgsql as $$ begin ${body}; return null; end $$`,
  );
  merchant.exec(
    `create trigger of_the_shop after update on merchant_orders for each row ${when} execute function of_the_shop()`,
  );
  return () => void merchant.exec('drop function of_the_shop cascade');
}

const BODIES: Readonly<Record<string, string>> = {
  'writes a table that is gone': `insert into shop_log values (new.external_order_id)`,
  ...(isSqlite()
    ? { 'calls a function that only the shop has': `select shop_knows(new.external_order_id)` }
    : {
        'raises what no statement supports': `raise exception using errcode = '0A000'`,
        'raises as a server does that shuts down': `raise exception using errcode = '57P01'`,
        'raises an unknown code': `raise exception using errcode = 'ABCDE'`,
        'divides by zero': `perform 1 / 0`,
      }),
};

/** Three orders and an exchange that takes them. */
async function waiting() {
  const { program, exchange } = await scriptedProgram();
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId));
  program.insert(...['a', 'b', 'c'].map((id) => ({ external_order_id: id })));
  const states = () => ['a', 'b', 'c'].map((id) => program.row(id)['state']);
  const pass = async (minutes = 0) => {
    program.clock.advance(minutes * MINUTE);
    await createPass(program.app, NEVER);
    await followPass(program.app, 'all', NEVER);
  };
  const named = () => program.log.with(/cannot be written, so it is skipped for now/);
  /** The problem by which `status` names the order `a`. */
  const keptBack = () => {
    const live = liveStatus({ keptBack: program.activity.keptBack(program.clock.now()) });
    const problems = problemsOf(readingOf({ daemon: { unwritten: null, opsFailure: null, accounts: [live] } }));
    return problems.find(({ about }) => about.externalOrderId === 'a');
  };
  return { program, exchange, states, pass, named, keptBack };
}

describe.each(Object.entries(BODIES))('a trigger of the shop that %s', (_name, body) => {
  // SQLite prepares a trigger for the statement: whatever row it is about.
  const ofOne = isSqlite() ? { states: ['pending', 'pending', 'pending'] } : { states: ['pending', 'open', 'open'] };

  it('keeps the orders that meet it, each named with the trigger, and no other', async () => {
    const { program, exchange, states, pass, named, keptBack } = await waiting();
    const drop = afterUpdate(program, body);
    for (const minutes of [0, 6, 6]) await pass(minutes);
    expect(states()).toEqual(ofOne.states);
    expect(named()).toContainEqual(
      expect.objectContaining({ externalOrderId: 'a', cause: expect.stringContaining('of_the_shop') }),
    );
    expect(keptBack()).toMatchObject({
      about: { account: 'default', externalOrderId: 'a' },
      text: expect.stringContaining('of_the_shop'),
    });
    drop();
    await pass(6);
    expect(states()).toEqual(['open', 'open', 'open']);
    expect(exchange.count('POST')).toBe(3);
    expect(keptBack()).toBeUndefined();
  });

  it('has nothing sent twice if it comes while requests are under way', async () => {
    const { program, exchange, states, pass } = await waiting();
    let drop = () => {};
    exchange.answer = (request) => {
      if (request.method !== 'POST') return record(request.externalOrderId);
      if (exchange.count('POST') === 1) drop = afterUpdate(program, body, true);
      return echo(request);
    };
    for (const minutes of [0, 6, 6]) await pass(minutes);
    const sent = exchange.count('POST');
    drop();
    for (const minutes of [6, 6]) await pass(minutes);
    expect(states()).toEqual(['open', 'open', 'open']);
    expect([sent <= 3, exchange.count('POST')]).toEqual([true, 3]);
  });
});
