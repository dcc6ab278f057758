import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { openAsOwner, openStore } from '../../src/store/open.ts';

it('a database of another kind needs the driver of an extension, and says which', async () => {
  const env = { ORDER_SYNC_DATABASE_URL: 'postgres://shop@db.example/orders' };
  const { database } = loadConfig({ requireExchange: false, cwd: '/', env });
  const error = { name: 'ConfigError', message: expect.stringContaining('the extension postgres') as string };
  await expect(openStore(database, systemClock(), { expect: 'current' })).rejects.toMatchObject(error);
  await expect(openAsOwner(database, systemClock(), { drivers: [] })).rejects.toMatchObject(error);
});
