import { sql } from 'kysely';
import type { Transaction } from '../../../store/port.ts';

/** A request with an `Idempotency-Key`. If `answer` is null, the request is under way or its outcome is unknown. */
export interface IdempotentRequest {
  readonly account: string;
  readonly key_hash: string;
  readonly body_hash: string;
  readonly http_status: number | null;
  readonly answer: string | null;
  readonly made_at: string;
}

export type RequestKey = Pick<IdempotentRequest, 'account' | 'key_hash'>;

/** Each new request deletes up to this many old requests. A limit above 1 lets the number of old requests shrink. */
const MOST_FORGOTTEN = 5;

export async function readRequest(tx: Transaction, { account, key_hash }: RequestKey, since: string) {
  const request = sql<IdempotentRequest>`select * from idempotent_requests
    where account = ${account} and key_hash = ${key_hash} and made_at >= ${since}`;
  return (await request.execute(tx)).rows[0];
}

/** Replaces a stored request with the same key. */
export async function writeRequest(tx: Transaction, request: IdempotentRequest): Promise<void> {
  const { account: _account, key_hash: _key, ...values } = request;
  await tx
    .withTables<{ idempotent_requests: IdempotentRequest }>()
    .insertInto('idempotent_requests')
    .values(request)
    .onConflict((conflict) => conflict.columns(['account', 'key_hash']).doUpdateSet(values))
    .execute();
}

export async function forgetRequest(tx: Transaction, { account, key_hash }: RequestKey): Promise<void> {
  await sql`delete from idempotent_requests where account = ${account} and key_hash = ${key_hash}`.execute(tx);
}

/** Deletes up to `MOST_FORGOTTEN` requests that were made before `since`, the oldest first. */
export async function forgetOldRequests(tx: Transaction, account: string, since: string): Promise<void> {
  const old = sql<RequestKey>`select account, key_hash from idempotent_requests
    where account = ${account} and made_at < ${since} order by made_at limit ${MOST_FORGOTTEN}`;
  // One statement a request, because the cached plan for a list of keys would read all requests of the account.
  for (const request of (await old.execute(tx)).rows) await forgetRequest(tx, request);
}
