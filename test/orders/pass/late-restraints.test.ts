import { expect, it, vi } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { echo, NOT_FOUND } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { SECOND } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;

/** A program whose next request is answered with Retry-After; the one after that is ready to leave only then. */
async function limitedMeanwhile() {
  const { program, exchange } = await scriptedProgram();
  // The key has worked, so that several requests go at a time.
  program.insert({ external_order_id: 'first' });
  await createPass(program.app, NEVER);
  exchange.answer = () => ({ status: 429, headers: { 'retry-after': '600' } });
  const asked = exchange.requests.length;
  secondWaits(program);
  return { program, exchange, arrived: () => exchange.requests.length - asked };
}

function secondWaits({
  app: {
    creates: { lease },
    restraints,
  },
  clock,
}: TestProgram): void {
  const ensure = lease.ensure.bind(lease);
  let requests = 0;
  vi.spyOn(lease, 'ensure').mockImplementation(async () => {
    requests += 1;
    if (requests > 1) while (restraints.timesHeld === 0) await clock.turn();
    await ensure();
  });
}

it('a create whose intent is durable only after a Retry-After was read waits for its end, and was never sent', async () => {
  const { program, exchange, arrived } = await limitedMeanwhile();
  program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
  await createPass(program.app, NEVER);
  expect([arrived(), program.states('a'), program.states('b')]).toEqual([
    1,
    ...Array.from({ length: 2 }, () => ['sending', 'pending']),
  ]);
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : NOT_FOUND);
  program.clock.advance(599 * SECOND);
  await createPass(program.app, NEVER);
  expect(arrived()).toBe(1);
  for (let second = 0; second < 5; second += 1) {
    program.clock.advance(SECOND);
    await createPass(program.app, NEVER);
  }
  expect([program.row('a')['state'], program.row('b')['state']]).toEqual(['accepted', 'accepted']);
});

it('a look-up that waited for its lease while a Retry-After was read does not leave', async () => {
  const { program, arrived } = await limitedMeanwhile();
  const { exchange } = program.app;
  const [, second] = await Promise.all([exchange.lookUpOrder('a'), exchange.lookUpOrder('b')]);
  expect([arrived(), second]).toEqual([1, undefined]);
});

it('a request of a person that waited for its lease while a Retry-After was read does not leave', async () => {
  const { program, arrived } = await limitedMeanwhile();
  const { exchange } = program.app;
  const [, second] = await Promise.all([exchange.showOrder('a'), exchange.showOrder('b')]);
  expect([arrived(), second]).toEqual([1, { kind: 'rate-limited', retryAfterMs: 600 * SECOND }]);
});
