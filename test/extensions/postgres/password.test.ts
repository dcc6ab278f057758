import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Store } from '../../../src/store/port.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { roleWithPassword } from '../../support/postgres-role.ts';
import { findPostgres } from '../../support/postgres-server.ts';
import { placeOf } from '../../support/postgres-store.ts';

/** A store whose password stands in a file. */
async function opened() {
  const role = roleWithPassword(await newPostgresDatabase());
  const place = placeOf(role.url, { ORDER_SYNC_DATABASE_PASSWORD_FILE: role.file });
  const open = async () => await openStore(place, systemClock(), { expect: 'current' });
  const store = await open();
  onTestFinished(() => store.close());
  return { ...role, store, open };
}

const ask = async ({ db }: Store) => await sql`select 1`.execute(db);
/** The result of asking once the lost connections were noticed. */
const answer = async (store: Store) => {
  await ask(store).catch(() => undefined);
  return await ask(store).then(
    () => 'answered',
    (error: unknown) => error,
  );
};
const DENIED = expect.objectContaining({ problem: 'denied' });

describe.skipIf(findPostgres() === undefined)('a password that is changed', () => {
  it('is read from its file again for each new connection, and connections that are there continue', async () => {
    const { store, write, alter, endConnections } = await opened();
    write('second');
    alter('second');
    expect(await answer(store)).toBe('answered');
    endConnections();
    expect(await answer(store)).toBe('answered');
  });

  it.each(['the file', 'the server'])('refuses for a while if it is changed in %s first', async (first) => {
    const { store, write, alter, endConnections } = await opened();
    const changes = [() => write('second'), () => alter('second')];
    if (first === 'the server') changes.reverse();
    for (const [index, change] of changes.entries()) {
      change();
      endConnections();
      expect(await answer(store)).toEqual(index === 0 ? DENIED : 'answered');
    }
    await store.writer.write(async () => {});
  });

  it('stays the one that it was while its file cannot be read', async () => {
    const { store, write, endConnections } = await opened();
    for (const unreadable of ['', undefined]) {
      write(unreadable);
      endConnections();
      expect(await answer(store)).toBe('answered');
    }
  });

  it('is refused at the start', async () => {
    const { alter, open } = await opened();
    alter('second');
    await expect(open()).rejects.toMatchObject({ problem: 'denied' });
  });
});
