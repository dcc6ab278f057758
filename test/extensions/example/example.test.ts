import { expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { partsOf, settingsOf } from '../../../src/cli/shared/extensions.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { loadConfig } from '../../../src/settings/config.ts';
import { example } from '../../../src/extensions/example/index.ts';
import { seenStatuses } from '../../../src/extensions/example/tables/statuses.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { echo, record } from '../../support/scripted-exchange.ts';
import { scriptedProgram } from '../../support/test-program.ts';

const { signal } = new AbortController();

it('the example knows statuses, from the table and as they are seen', async () => {
  const { listeners = [] } = await partsOf([example]);
  const { program, exchange } = await scriptedProgram({ overrides: { listeners } });
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId));
  program.insert({ external_order_id: 'a' });
  await createPass(program.app, signal);
  await followPass(program.app, 'all', signal);
  const { app, log } = program;
  expect(await seenStatuses(app.store.db, { account: 'default', limit: 5 })).toEqual([
    expect.objectContaining({ value: 'REQUEST' }),
  ]);
  await app[Symbol.asyncDispose]();
  expect(log.with('statuses that were not seen before')).toMatchObject([{ account: 'default' }]);
});

it('the example brings a command and a setting', async () => {
  const { commands } = await createProgram(['statuses', '--help'], [example]);
  expect(commands.map((command) => command.name())).toContain('statuses');
  const env = { ORDER_SYNC_LOG_STATUSES: '3' };
  const options = { env, cwd: temporaryFolder(), file: null, requireExchange: false };
  expect(loadConfig({ ...options, parts: await settingsOf([example]) })).toMatchObject({ log: { statuses: 3 } });
  expect(() => loadConfig(options)).toThrow(/is not a variable/);
});
