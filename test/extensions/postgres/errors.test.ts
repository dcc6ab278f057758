import pg from 'pg';
import { expect, it } from 'vitest';
import { postgresError } from '../../../src/extensions/postgres/errors.ts';

it('tells why a host with several addresses is out of reach: each of them has an error of its own', () => {
  const refused = ['::1', '127.0.0.1'].map((host) =>
    Object.assign(new Error(`connect ECONNREFUSED ${host}:5432`), { code: 'ECONNREFUSED' }),
  );
  const { problem, message } = postgresError(new AggregateError(refused), 'postgres://u@localhost/d');
  expect(problem).toBe('disk');
  expect(message).toContain('connect ECONNREFUSED ::1:5432');
});

it.each([
  ['42501', 'permission denied for table events', 'denied', 'grant select, insert, update, delete on events to "a@b"'],
  ['42501', 'permission denied for sequence events_id_seq', 'denied', 'grant select, update on sequence events_id_seq'],
  ['42501', 'permission denied for table kysely_migration', 'denied', 'order-sync db migrate'],
  ['42501', 'must be owner of table events', 'denied', 'order-sync db migrate'],
  ['25006', 'cannot execute UPDATE in a read-only transaction', 'disk', 'database.url'],
  ['53100', 'could not extend file: No space left on device', 'disk', 'the disk'],
  ['53300', 'sorry, too many clients already', 'busy', 'max_connections'],
])('names the code %s of a server that refuses "%s", and what to do', (code, said, problem, remedy) => {
  const error = Object.assign(new pg.DatabaseError(said, said.length, 'error'), { code });
  const found = postgresError(error, 'postgres://a%40b@localhost/d');
  expect(found).toMatchObject({ problem, message: expect.stringContaining(`(${code}: ${said}); `) });
  expect(found.message.split('; ').at(-1)).toContain(remedy);
});
