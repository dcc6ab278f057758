import { sql } from 'kysely';
import type { Store } from '../../src/store/port.ts';

/** A worker as others see it. */
export interface SeenWorker {
  readonly holder: string;
  readonly host?: string;
  readonly socket?: string | null;
  readonly advertise?: string | null;
  readonly instance?: string | null;
}

/** Writes that a worker lives and drives an account, as it would itself. */
export async function drivenBy(
  { db }: Pick<Store, 'db'>,
  { holder, host = 'elsewhere', socket = null, advertise = null, instance = null }: SeenWorker,
  account = 'default',
): Promise<void> {
  await sql`insert into workers (holder, seen_until, host, socket, advertise, instance, started_at)
    values (${holder}, '9999', ${host}, ${socket}, ${advertise}, ${instance}, '') on conflict (holder) do nothing`.execute(
    db,
  );
  await sql`insert into account_owners (account, generation, holder) values (${account}, 1, ${holder})
    on conflict (account) do update set generation = account_owners.generation + 1, holder = excluded.holder`.execute(
    db,
  );
}

/** Writes that the heartbeat of a worker is over. */
export async function endHeartbeat({ db }: Pick<Store, 'db'>, holder: string): Promise<void> {
  await sql`update workers set seen_until = '2000' where holder = ${holder}`.execute(db);
}
