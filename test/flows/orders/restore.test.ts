import { expect, it } from 'vitest';
import { createApp } from '../../../src/app.ts';
import { followPass } from '../../../src/flows/orders/follow.ts';
import { acceptRestore } from '../../../src/flows/orders/restore.ts';
import { openStore } from '../../../src/store/sqlite/store.ts';
import { record } from '../../support/scripted-exchange.ts';
import { scriptedProgram } from '../../support/test-program.ts';
import { DAY } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;

it('an order of a restored database that is found is ours, although it is older than the acceptance', async () => {
  const { program, exchange } = await scriptedProgram();
  const { clock, config, log } = program;
  program.insert({ external_order_id: 'shop-1' });
  const creationDate = clock.now().toISOString();
  clock.advance(2 * DAY);
  await program.app[Symbol.asyncDispose]();
  const store = await openStore(config.database.path, clock, { expect: 'current', isRestored: true });
  const deps = { account: 'default', store, clock, settings: config.create };
  await acceptRestore(deps, { actor: 'ann', reason: 'a drill', isNothingSent: false });
  await store.close();
  program.app = await createApp(config, { clock, log: log.logger });
  const serverDate = clock.now().toISOString();
  exchange.answer = () => record('shop-1', { creationDate, modificationDate: creationDate, serverDate });
  await followPass(program.app, 'all', NEVER);
  expect(program.row('shop-1')).toMatchObject({ state: 'open', attempts: 1 });
  expect(program.merchant.prepare(`select class from findings where status = 'open'`).pluck().all()).toEqual([]);
  expect(exchange.count('POST')).toBe(0);
});
