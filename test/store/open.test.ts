import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openAsOwner, openStore, type OtherPlace } from '../../src/store/open.ts';

it('a database of another kind needs the driver of an extension, and says which', async () => {
  const database = { kind: 'postgres', address: 'postgres://shop@db.example/orders' } as OtherPlace;
  const error = { name: 'ConfigError', message: expect.stringContaining('the extension postgres') as string };
  await expect(openStore(database, systemClock(), { expect: 'current' })).rejects.toMatchObject(error);
  await expect(openAsOwner(database, systemClock(), { drivers: [] })).rejects.toMatchObject(error);
});
