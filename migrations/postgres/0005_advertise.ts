import { sql, type Kysely } from 'kysely';

/**
 * Commands elsewhere ask the API of the worker, whose URL is `advertise`: no request waits in the database any more. A person's
 * decision leaves a row in `account_wakes`, which the owner takes; `instance` is a random id of the process, whatever its holder
 * is called.
 */
const STATEMENTS = [
  'drop table account_requests',
  'create table account_wakes (account text collate "C" primary key not null, holder text collate "C" not null)',
  'create index account_wakes_of_holder on account_wakes (holder)',
  'alter table workers drop column public_key',
  'alter table workers add column advertise text collate "C", add column instance text collate "C"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
