import type { Command } from 'commander';
import { slowProgress } from '../../commands/progress.ts';
import { placeOf } from '../../commands/place.ts';
import { systemClock } from '../../../base/clock.ts';
import { moveDatabase } from './copy.ts';
import { openConnections } from '../connection.ts';
import { Primary } from '../hosts/primary.ts';
import type { PostgresDatabase } from '../place/settings.ts';
import { openStore } from '../store.ts';
import { lockFile } from '../../../store/sqlite/owner.ts';
import { openStore as openSqlite } from '../../../store/sqlite/store.ts';
import type { Store } from '../../../store/port.ts';
import { print } from '../../commands/print.ts';
import { counted } from '../../documents/words.ts';

const HELP = `
Moves all orders from a SQLite file to an empty database of PostgreSQL: every
row is copied as it is, and then read again on both sides and compared. The old
database is marked as moved: it can be read, and nothing is sent from it any
more. First stop the daemon and the programs that insert orders, because no
program can write during the copy. If the copy is interrupted, run the same
command again.

The other settings of database.* are used to reach the new database: name the
file of its password in database.passwordFile.

Example:
  order-sync db copy sqlite:data/order-sync.db postgres://shop@db.example/orders`;

export function define(command: Command): void {
  command
    .argument('<from>', 'the database that is left: sqlite:PATH')
    .argument('<to>', 'an empty database: postgres://USER@HOST/DATABASE')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (from: string, to: string, { json }: { json?: boolean }) => {
      const clock = systemClock();
      const old = await placeOf(command, 'sqlite', from, '<from>');
      const place = (await placeOf(command, 'postgres', to, '<to>')) as PostgresDatabase;
      const startedAt = clock.monotonic();
      await using resources = new AsyncDisposableStack();
      const lock = await lockFile(old.path, clock, 0);
      resources.defer(() => lock.release());
      const adopt = (store: Store) => resources.adopt(store, (opened) => opened.close());
      const source = adopt(await openSqlite(old.path, clock, { expect: 'current' }));
      const primary = new Primary(place);
      const target = adopt(await openStore(place, clock, { expect: 'migrate', primary }));
      const connections = resources.use(openConnections(place, { max: 1, primary }));
      const session = resources.adopt(await connections.lend(), (lent) => lent.release(true));
      using progress = await slowProgress(clock);
      const copied = await moveDatabase({ source, target, session, clock }, (text) => progress.show(text));
      progress.clear();
      const found = { source: old.address, target: place.address, ...copied };
      const durationMs = Math.round(clock.monotonic() - startedAt);
      const done =
        copied === undefined
          ? 'the move that was broken off is complete'
          : `${counted(copied.rows, 'row')} copied and compared in ${Math.ceil(durationMs / 1_000)} s`;
      const next = 'Set database.url to the new database. The old database can only be read.';
      print(json, { ...found, durationMs }, () => `${old.address} was moved to ${place.address}: ${done}\n${next}\n`);
      for (const table of copied?.others ?? []) {
        process.stderr.write(`not copied, because it is not part of order-sync: ${table}\n`);
      }
    });
}
