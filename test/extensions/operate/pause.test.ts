import { describe, expect, it } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { runProgram } from '../../support/cli-function.ts';
import { scriptedProgram, settingsOf } from '../../support/test-program.ts';

const NEVER = new AbortController().signal;

async function paused() {
  const { program, exchange } = await scriptedProgram();
  const run = async (...args: string[]) => {
    const result = await runProgram(args, { environment: settingsOf(program) });
    await program.app.restraints.read();
    return result;
  };
  const pass = async () => {
    program.clock.advance(60_000);
    await createPass(program.app, NEVER);
    await followPass(program.app, 'all', NEVER);
  };
  const events = () =>
    program.merchant
      .prepare(`select field, old_value, new_value, reason, actor from events where type = 'account'`)
      .all();
  return { program, exchange, run, pass, events };
}

describe('a pause', () => {
  it('of creates lets look-ups go, stands over a restart, and ends with resume', async () => {
    const { program, exchange, run, pass } = await paused();
    program.insert({ external_order_id: 'a' });
    await pass();
    await run('pause', '--reason', 'maintenance');
    await program.restart();
    program.insert({ external_order_id: 'b' });
    const lookups = exchange.count('GET');
    await pass();
    expect(exchange.count('POST')).toBe(1);
    expect(exchange.count('GET')).toBe(lookups + 1);
    expect(await run('resume', '--reason', 'over')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('maintenance') as string,
    });
    await pass();
    expect(program.row('b')['state']).toBe('accepted');
  });

  it('of all lets nothing go but what a person asks for', async () => {
    const { program, exchange, run, pass } = await paused();
    program.insert({ external_order_id: 'a' });
    await pass();
    await run('pause', '--all', '--reason', 'maintenance');
    const before = exchange.requests.length;
    await pass();
    expect(exchange.requests).toHaveLength(before);
    await program.app.exchange.showOrder('a');
    expect(exchange.requests).toHaveLength(before + 1);
  });

  it('is recorded with its reason and who did it, and so is its end', async () => {
    const { run, events } = await paused();
    await run('pause', '--reason', 'maintenance', '--actor', 'ann');
    await run('resume', '--reason', 'over', '--actor', 'ben');
    const field = 'hold';
    expect(events()).toEqual([
      { field, old_value: null, new_value: 'creates-paused', reason: 'maintenance', actor: 'ann' },
      { field, old_value: 'creates-paused', new_value: null, reason: 'over', actor: 'ben' },
    ]);
    expect((await run('resume', '--reason', 'again')).code).toBe(2);
  });
});
