import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../../../store/port.ts';
import { WAKE } from '../../postgres/sharing/notices.ts';
import { utcText } from '../../postgres/sharing/workers.ts';

/** Requests of an account that wait or are worked on, and that a process takes at once, at the most. */
const MOST_OF_ACCOUNT = 100;
const MOST_TAKEN = 64;
/** Longer than a command waits for its request to be taken. */
const STALE_MS = 30_000;
/** How long an answer that no command took is kept; and a request that is worked on, for longer than any pass takes. */
const FORGOTTEN_MS = 600_000;
const LOST_MS = 25 * 60 * 60_000;

interface RequestKey {
  readonly account: string;
  readonly id: string;
}

/** The input is sealed. */
export interface NewRequest extends RequestKey {
  readonly holder: string;
  /** The key of the command. */
  readonly publicKey: string;
  readonly input: string;
}

/** The texts of the worker are sealed. */
export interface RequestStatus {
  readonly isTaken: boolean;
  readonly progress: string | null;
  readonly answer: string | null;
  readonly isWorkerAlive: boolean;
}

/** By the clock of the database: the clocks of two machines differ. */
function databaseTime(agoMs = 0): RawBuilder<string> {
  return utcText(sql`statement_timestamp() - ${agoMs}::float8 * interval '1 millisecond'`);
}

/** Returns false if the account has too many requests. */
export async function putRequest(db: Database, request: NewRequest): Promise<boolean> {
  const { account, id, holder, publicKey, input } = request;
  const { numAffectedRows } = await sql`insert into account_requests (account, id, holder, public_key, input, asked_at)
    select ${account}::text, ${id}::text, ${holder}::text, ${publicKey}::text, ${input}::text, ${databaseTime()}
    where (select count(*) from account_requests where account = ${account}) < ${MOST_OF_ACCOUNT}`.execute(db);
  return numAffectedRows === 1n;
}

/** Returns false if a worker has taken the request, or if it is not there. */
export async function withdrawRequest(db: Database, { account, id }: RequestKey): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from account_requests
    where account = ${account} and id = ${id} and taken_at is null`.execute(db);
  return numAffectedRows === 1n;
}

export async function requestStatus(db: Database, { account, id }: RequestKey): Promise<RequestStatus | undefined> {
  const { rows } = await sql<
    { taken_at: string | null; holder: string | null } & Pick<RequestStatus, 'progress' | 'answer'>
  >`
    select r.taken_at, r.progress, r.answer, w.holder
    from account_requests r left join workers w on w.holder = r.holder and w.seen_until > ${databaseTime()}
    where r.account = ${account} and r.id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    isTaken: row.taken_at !== null,
    progress: row.progress,
    answer: row.answer,
    isWorkerAlive: row.holder !== null,
  };
}

/** The worker sees that no command waits for the answer any more. */
export async function forgetRequest(db: Database, { account, id }: RequestKey): Promise<void> {
  await sql`delete from account_requests where account = ${account} and id = ${id}`.execute(db);
}

/** Takes the requests that wait for a process, by its public key: a worker that was declared over goes on as another. */
export async function takeRequests(db: Database, publicKey: string): Promise<readonly NewRequest[]> {
  const { rows } = await sql<NewRequest>`update account_requests r set taken_at = ${databaseTime()}
    from (select account, id from account_requests
      where holder in (select holder from workers where public_key = ${publicKey})
        and taken_at is null and id <> ${WAKE} and asked_at > ${databaseTime(STALE_MS)}
      order by asked_at limit ${MOST_TAKEN} for update skip locked) waiting
    where r.account = waiting.account and r.id = waiting.id
    returning r.account, r.id, r.holder, r.public_key as "publicKey", r.input`.execute(db);
  return rows;
}

/** Returns false if no command waits for the request any more. */
export async function reportProgress(db: Database, { account, id }: RequestKey, progress: string): Promise<boolean> {
  const { numAffectedRows } = await sql`update account_requests set progress = ${progress}
    where account = ${account} and id = ${id}`.execute(db);
  return numAffectedRows === 1n;
}

/** Returns false if no command waits for the answer any more. */
export async function answerRequest(db: Database, { account, id }: RequestKey, answer: string): Promise<boolean> {
  const { numAffectedRows } = await sql`update account_requests set answer = ${answer}, answered_at = ${databaseTime()}
    where account = ${account} and id = ${id}`.execute(db);
  return numAffectedRows === 1n;
}

export async function awaitedOf(db: Database, requests: readonly RequestKey[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`select r.id from account_requests r
    join unnest(${requests.map(({ account }) => account)}::text[], ${requests.map(({ id }) => id)}::text[]) as k (account, id)
    on r.account = k.account and r.id = k.id`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

export async function purgeRequests(db: Database): Promise<void> {
  await sql`delete from account_requests where asked_at < ${databaseTime(FORGOTTEN_MS)}
    and (taken_at is null or answered_at < ${databaseTime(FORGOTTEN_MS)} or asked_at < ${databaseTime(LOST_MS)} or id = ${WAKE})`.execute(
    db,
  );
}
