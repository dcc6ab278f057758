import { tmpdir } from 'node:os';
import { fastFolder, findPostgres, startPostgres } from '../test/support/postgres-server.ts';
import { measureClaim } from './accounts/claim.ts';
import { measureCreates } from './accounts/creates.ts';
import { measureIdleAccounts } from './accounts/idle.ts';
import { measureMany } from './accounts/many.ts';
import { measureShare } from './accounts/share.ts';
import { measureTakeOver } from './accounts/take-over.ts';
import { makeDatabase } from './accounts/server.ts';
import type { Figure } from './figures.ts';
import type { Bench } from './settings.ts';

/** Commits are synced to the disk on which the data of a server normally lies, which has room for the rows of the search. */
const SERVER = { shared_buffers: '256MB', max_wal_size: '4GB' };

/** The cost of accounts in which nothing is due, and, if there is a PostgreSQL server, how workers share accounts on it. */
export async function measureAccounts(bench: Bench): Promise<Figure[]> {
  const figures = await measureIdleAccounts(bench, 'SQLite', bench.path);
  const bin = findPostgres();
  if (bin === undefined) {
    bench.say('accounts: there is no PostgreSQL server here (no initdb was found), so only SQLite is measured');
    return figures;
  }
  await using server = await startPostgres(bin, SERVER, tmpdir());
  const place = { ...bench, server, bin };
  figures.push(...(await measureTakeOver(place)));
  figures.push(...(await measureShare(place)));
  figures.push(...(await measureCreates(place)));
  figures.push(...(await measureIdleAccounts(bench, 'PostgreSQL', await makeDatabase(place, 'idle'))));
  figures.push(...(await measureClaim(place)));
  {
    // It measures CPU, and times that no disk decides.
    await using large = await startPostgres(bin, SERVER, bench.folderOfMany ?? fastFolder());
    figures.push(...(await measureMany({ ...place, server: large })));
  }
  return figures;
}
