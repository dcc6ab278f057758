import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { echo, NOT_FOUND, record, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { MINUTE, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const DOWN: ScriptedAnswer = { status: 502, body: '' };

async function live({ app, clock }: TestProgram, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND) {
    await createPass(app, NEVER);
    await followPass(app, 'due', NEVER);
    clock.advance(SECOND);
  }
}

/** A row that has waited for minutes since its last create never left, as after many attempts. */
function waiting({ merchant, clock }: TestProgram, id: string, reason: string): void {
  const now = clock.now().getTime();
  merchant
    .prepare(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, created_at, next_action_at)
       values (?, '1.5', 'BTC', 'EUR', ?, ?)`,
    )
    .run(id, new Date(now).toISOString(), new Date(now + 10 * MINUTE).toISOString());
  merchant
    .prepare('update merchant_orders set revision = revision + 1, state_reason = ? where external_order_id = ?')
    .run(reason, id);
}

describe('the end of an outage', () => {
  it('makes due at once what waits for it alone, and nothing that waits for something else', async () => {
    const { program, exchange } = await scriptedProgram();
    waiting(program, 'unsent', 'not sent: connect ECONNREFUSED');
    waiting(program, 'limited', 'not taken: the exchange limits the rate (429)');
    program.insert(...['a', 'b', 'c', 'd'].map((external_order_id) => ({ external_order_id })));
    exchange.answer = () => DOWN;
    await live(program, 30 * SECOND);
    expect(['unsent', 'limited'].map((id) => program.row(id)['attempts'])).toEqual([0, 0]);
    exchange.answer = (request) => (request.method === 'POST' ? echo(request) : NOT_FOUND);
    await live(program, 15 * SECOND);
    expect(['unsent', 'limited'].map((id) => program.row(id)['state'])).toEqual(['accepted', 'pending']);
  });

  it('is not what a look-up shows that is answered while one order alone cannot be sent', async () => {
    const { program, exchange } = await scriptedProgram();
    waiting(program, 'unsent', 'not sent: connect ECONNREFUSED');
    program.insert(...['a', 'b', 'c', 'd'].map((external_order_id) => ({ external_order_id })));
    exchange.answer = (request) => (request.method === 'POST' ? DOWN : NOT_FOUND);
    await live(program, 30 * SECOND);
    expect(program.row('unsent')['attempts']).toBe(0);
  });

  it('does not wait for an owner to have seen it: a new one makes due at once what the last one left', async () => {
    const { program } = await scriptedProgram();
    waiting(program, 'unsent', 'not sent: connect ECONNREFUSED');
    waiting(program, 'limited', 'not taken: the exchange limits the rate (429)');
    await program.restart();
    await live(program, SECOND);
    expect(['unsent', 'limited'].map((id) => program.row(id)['state'])).toEqual(['accepted', 'pending']);
  });

  it('finds look-ups due again that it has kept without an answer for long', async () => {
    const { program, exchange } = await scriptedProgram();
    program.insert(...Array.from({ length: 6 }, (_, index) => ({ external_order_id: `o${index}` })));
    await createPass(program.app, NEVER);
    exchange.answer = () => DOWN;
    program.clock.advance(MINUTE);
    await live(program, 60 * MINUTE);
    const asked = exchange.requests.length;
    exchange.answer = ({ externalOrderId }) => record(externalOrderId);
    await live(program, 40 * SECOND);
    expect(new Set(exchange.requests.slice(asked).map(({ externalOrderId }) => externalOrderId)).size).toBe(6);
  });
});

describe('a create of unknown outcome whose order a look-up finds', () => {
  it('was taken: creates are slowed no longer', async () => {
    const { program, exchange } = await scriptedProgram();
    let isFound = false;
    exchange.answer = ({ method, externalOrderId }) => {
      if (method === 'POST') return DOWN;
      return isFound && externalOrderId === 'a' ? record(externalOrderId) : NOT_FOUND;
    };
    program.insert(...['a', 'b', 'c', 'd', 'e', 'f'].map((external_order_id) => ({ external_order_id })));
    await live(program, 10 * SECOND);
    expect(program.app.restraints.all.map(({ kind }) => kind)).toEqual(['slowed']);
    isFound = true;
    for (let passed = 0; passed < 60 && program.row('a')['state'] !== 'open'; passed += 1) await live(program, SECOND);
    expect(program.row('a')['state']).toBe('open');
    expect(program.app.restraints.all).toEqual([]);
  });
});
