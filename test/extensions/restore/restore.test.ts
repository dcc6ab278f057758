import { copyFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createApp } from '../../../src/app.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { acceptRestore } from '../../../src/extensions/restore/restore.ts';
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
  const deps = { accounts: ['default'], store, clock, settings: config.create };
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

it('another older copy, put in place after one was accepted, is noticed too', async () => {
  const { program } = await scriptedProgram();
  const { clock, config, log, merchant } = program;
  const { path } = config.database;
  const copy = async (name: string) => {
    await program.app[Symbol.asyncDispose]();
    merchant.exec('pragma wal_checkpoint(truncate)');
    copyFileSync(path, `${path}.${name}`);
  };
  const putBack = (name: string) => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    copyFileSync(`${path}.${name}`, path);
  };
  const send = async (id: string) => {
    program.insert({ external_order_id: id });
    await createPass(program.app, NEVER);
  };
  await send('shop-1');
  await copy('first');
  program.app = await createApp(config, { clock, log: log.logger });
  await send('shop-2');
  await copy('second');
  program.app = await createApp(config, { clock, log: log.logger });
  await send('shop-3');
  await copy('third');
  merchant.close();
  putBack('first');
  const store = await openStore(path, clock, { expect: 'current', isRestored: true });
  const deps = { accounts: ['default'], store, clock, settings: config.create };
  await acceptRestore(deps, { actor: 'ann', reason: 'a drill', isNothingSent: false });
  await store.close();
  putBack('second');
  await expect(createApp(config, { clock, log: log.logger })).rejects.toMatchObject({ problem: 'unusable' });
});
