import { expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { echo } from '../support/scripted-exchange.ts';
import { scriptedProgram } from '../support/test-program.ts';

it('of two orders that are given the same pre-order at the same time the second is the finding', async () => {
  const { program, exchange } = await scriptedProgram();
  const pass = async () => await createPass(program.app, new AbortController().signal);
  // The first create of a process goes alone: it shows that the key is taken.
  program.insert({ external_order_id: 'first' });
  exchange.answer = (request) => echo(request, { id: 'first' });
  await pass();
  const bothAsked = Promise.withResolvers<void>();
  exchange.answer = async (request) => {
    if (exchange.count('POST') === 3) bothAsked.resolve();
    await bothAsked.promise;
    return echo(request, { id: 'same' });
  };
  program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
  await pass();
  const findings = program.merchant.prepare('select class from findings').all();
  expect(findings).toEqual([{ class: 'PREORDER_REUSED' }]);
});
