import { sql } from 'kysely';
import { OwnedError } from '../errors.ts';
import type { Database, Transaction } from '../port.ts';
import type { SeenStatusesTable } from '../schema.ts';
import { queries, reading, rowsStatement, statement, upsert } from '../statement.ts';

/** Raises the account's generation, also above `known`. A former owner that still runs can then send no create. */
export async function nextGeneration(tx: Transaction, account: string, known = 0): Promise<number> {
  const { rows } = await generationStatement(tx, { account });
  const generation = Math.max(rows[0]?.generation ?? 0, known) + 1;
  await upsert('account_owners', { account, generation }, 'account').execute(tx);
  tx.generations?.delete(account);
  return generation;
}

export async function grantNext(tx: Transaction, accounts: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const generations = new Map<string, number>();
  for (const account of accounts) generations.set(account, await nextGeneration(tx, account));
  return generations;
}

export async function assertNewestOwner(tx: Transaction, account: string, generation: number): Promise<void> {
  const answer = tx.generations?.get(account) ?? generationStatement(tx, { account });
  tx.generations?.set(account, answer);
  const newest = (await answer).rows[0]?.generation;
  if (newest !== generation) {
    throw new OwnedError('another order-sync process has taken over the database; stop one of the two');
  }
}

const generationStatement = statement(
  (v: { account: string }) =>
    sql<{ generation: number }>`select generation from account_owners where account = ${v.account}`,
);

/** The fact with the id of the merchant to whom the account's orders belong (merchant.id, §2.7). */
export const MERCHANT_ID = 'merchant.id';

/** The fact with the ids of orders whose due times a wrong clock wrote and no pass could correct yet. */
export const UNCORRECTED_TIMES = 'times.uncorrected';

interface AccountFact {
  readonly account: string;
  readonly name: string;
  readonly value: string;
  readonly now: Date;
}

/** Returns the stored value of a fact. Without a stored value, stores and returns the given value. */
export async function accountFact(tx: Transaction, fact: AccountFact): Promise<string> {
  const known = await readAccountFact(tx, fact);
  if (known === undefined) await setAccountFact(tx, fact);
  return known ?? fact.value;
}

export const readAccountFact = reading(
  (v: Pick<AccountFact, 'account' | 'name'>) =>
    sql<{ value: string }>`select value from account_facts where account = ${v.account} and name = ${v.name}`,
  ([row]) => row?.value,
);

export async function setAccountFact(tx: Transaction, { account, name, value, now }: AccountFact): Promise<void> {
  const fact = { account, name, value, first_seen_at: now.toISOString() };
  await upsert('account_facts', fact, 'account', 'name').execute(tx);
}

export async function forgetAccountFact(tx: Transaction, { account, name }: Pick<AccountFact, 'account' | 'name'>) {
  await sql`delete from account_facts where account = ${account} and name = ${name}`.execute(tx);
}

/** Stores statuses. Returns the statuses that were not stored before. */
export const rememberStatuses = rowsStatement(
  ['account', 'field', 'value', 'first_seen_at'],
  (seen: readonly SeenStatusesTable[]) =>
    queries
      .insertInto('seen_statuses')
      .values(seen)
      .onConflict((conflict) => conflict.doNothing())
      .returning(['field', 'value']),
);

export const seenStatuses = reading(
  (v: { account: string; limit: number }) => sql<Pick<SeenStatusesTable, 'field' | 'value'>>`
    select field, value from seen_statuses where account = ${v.account} limit 0 + ${v.limit}`,
  (rows) => rows,
);

/** Requests that an owner has sent, or may send until `until`. They count against the rate limit of the next owner. */
export interface Lease {
  readonly until: Date;
  /** The id of the machine's last start; null if unknown. `bootMs` is `until` in milliseconds since that start. */
  readonly boot: string | null;
  readonly bootMs: number | null;
  /** Requests that were in flight when the lease was written, plus the requests that the lease grants. */
  readonly requests: number;
  /** The rate limit's window, in milliseconds. `spent` has the requests that ended within the window. */
  readonly intervalMs: number;
  readonly spent: readonly { readonly at: Date; readonly requests: number }[];
  /** The most requests in flight. `timeoutMs` is the longest time that a request takes. */
  readonly concurrency: number;
  readonly timeoutMs: number;
}

export async function readLease(db: Database, account: string): Promise<Lease | undefined> {
  const { rows } = await sql<LeaseRow>`select requests_until as until, boot, boot_ms as "bootMs", requests, spent,
    interval_ms as "intervalMs", concurrency, timeout_ms as "timeoutMs" from request_leases
    where account = ${account}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const spent = JSON.parse(row.spent) as readonly (readonly [string, number])[];
  return {
    ...row,
    until: new Date(row.until),
    spent: spent.map(([at, requests]) => ({ at: new Date(at), requests })),
  };
}

type LeaseRow = Omit<Lease, 'until' | 'spent'> & Readonly<Record<'until' | 'spent', string>>;

const leaseStatement = statement((v: LeaseRow & { readonly account: string }) => {
  const { account, boot, requests, spent, concurrency } = v;
  const times = { requests_until: v.until, boot_ms: v.bootMs, interval_ms: v.intervalMs, timeout_ms: v.timeoutMs };
  return upsert('request_leases', { account, boot, requests, spent, concurrency, ...times }, 'account');
});

export async function leaseRequests(tx: Transaction, account: string, lease: Lease): Promise<void> {
  const spent = JSON.stringify(lease.spent.map(({ at, requests }) => [at, requests]));
  await leaseStatement(tx, { ...lease, account, until: lease.until.toISOString(), spent });
}
