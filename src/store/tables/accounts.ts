import { OwnedError } from '../errors.ts';
import type { Database, Transaction } from '../port.ts';
import type { SeenStatusesTable } from '../schema.ts';
import { queries, rowsStatement, statement } from '../statement.ts';

/** Grants the next generation, above `known`. If the lock has failed, the last owner finds out by the generation. */
export async function nextGeneration(tx: Transaction, account: string, known = 0): Promise<number> {
  const { rows } = await generationStatement(tx, { account });
  const generation = Math.max(rows[0]?.generation ?? 0, known) + 1;
  await tx
    .insertInto('account_owners')
    .values({ account, generation })
    .onConflict((conflict) => conflict.column('account').doUpdateSet({ generation }))
    .execute();
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

const generationStatement = statement((v: { account: string }) =>
  queries.selectFrom('account_owners').select('generation').where('account', '=', v.account),
);

/** The fact that tells to which merchant the orders of the account belong (merchant.id, §2.7). */
export const MERCHANT_ID = 'merchant.id';

/** The fact that says which due times were written under another clock and could not be corrected. */
export const UNCORRECTED_TIMES = 'times.uncorrected';

const factStatement = statement((v: { account: string; name: string }) =>
  queries.selectFrom('account_facts').select('value').where('account', '=', v.account).where('name', '=', v.name),
);

interface AccountFact {
  readonly account: string;
  readonly name: string;
  readonly value: string;
  readonly now: Date;
}

/** Reads a fact of the account; stores the given value if the fact is not known. */
export async function accountFact(tx: Transaction, fact: AccountFact): Promise<string> {
  const known = await readAccountFact(tx, fact);
  if (known === undefined) await setAccountFact(tx, fact);
  return known ?? fact.value;
}

export async function readAccountFact(db: Database, fact: Pick<AccountFact, 'account' | 'name'>) {
  return (await factStatement(db, fact)).rows[0]?.value;
}

export async function setAccountFact(tx: Transaction, { account, name, value, now }: AccountFact): Promise<void> {
  const known = { value, first_seen_at: now.toISOString() };
  await tx
    .insertInto('account_facts')
    .values({ account, name, ...known })
    .onConflict((conflict) => conflict.columns(['account', 'name']).doUpdateSet(known))
    .execute();
}

export async function forgetAccountFact(tx: Transaction, { account, name }: Pick<AccountFact, 'account' | 'name'>) {
  await tx.deleteFrom('account_facts').where('account', '=', account).where('name', '=', name).execute();
}

export type SeenStatus = SeenStatusesTable;

/** Returns the statuses that were never seen before. */
export const rememberStatuses = rowsStatement(
  ['account', 'field', 'value', 'first_seen_at'],
  (seen: readonly SeenStatus[]) =>
    queries
      .insertInto('seen_statuses')
      .values(seen)
      .onConflict((conflict) => conflict.doNothing())
      .returning(['field', 'value']),
);

const seenBeforeStatement = statement((v: { account: string; limit: number }) =>
  queries.selectFrom('seen_statuses').select(['field', 'value']).where('account', '=', v.account).limit(v.limit),
);

export async function seenStatuses(db: Database, query: { readonly account: string; readonly limit: number }) {
  return (await seenBeforeStatement(db, query)).rows;
}

/** Requests that an owner may send until a time, or has sent. They count against the rate of the next owner. */
export interface Lease {
  readonly until: Date;
  /** `until` by the machine's monotonic clock, in milliseconds since its start `boot`; null if that is not known. */
  readonly boot: string | null;
  readonly bootMs: number | null;
  /** Requests that were granted, or in flight at that time. */
  readonly requests: number;
  /** The rate limit's window, in milliseconds; `spent` are the requests that ended in it. */
  readonly intervalMs: number;
  readonly spent: readonly { readonly at: Date; readonly requests: number }[];
  /** The most requests in flight, and the longest time that each takes, in milliseconds. */
  readonly concurrency: number;
  readonly timeoutMs: number;
}

export async function readLease(db: Database, account: string): Promise<Lease | undefined> {
  const row = await db
    .selectFrom('request_leases')
    .select(['requests_until as until', 'boot', 'boot_ms as bootMs', 'requests', 'interval_ms as intervalMs'])
    .select(['spent', 'concurrency', 'timeout_ms as timeoutMs'])
    .where('account', '=', account)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const spent = JSON.parse(row.spent) as readonly (readonly [string, number])[];
  return {
    ...row,
    until: new Date(row.until),
    spent: spent.map(([at, requests]) => ({ at: new Date(at), requests })),
  };
}

const leaseStatement = statement(
  (v: Omit<Lease, 'until' | 'spent'> & Record<'account' | 'until' | 'spent', string>) => {
    const values = {
      requests_until: v.until,
      boot: v.boot,
      boot_ms: v.bootMs,
      requests: v.requests,
      interval_ms: v.intervalMs,
      spent: v.spent,
      concurrency: v.concurrency,
      timeout_ms: v.timeoutMs,
    };
    return queries
      .insertInto('request_leases')
      .values({ account: v.account, ...values })
      .onConflict((conflict) => conflict.column('account').doUpdateSet(values));
  },
);

export async function leaseRequests(tx: Transaction, account: string, lease: Lease): Promise<void> {
  const spent = JSON.stringify(lease.spent.map(({ at, requests }) => [at, requests]));
  await leaseStatement(tx, { ...lease, account, until: lease.until.toISOString(), spent });
}
