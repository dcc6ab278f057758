import { sql } from 'kysely';
import type { FailOver } from '../../accounts/rules/fail-over.ts';
import { decideFindings, type KnownFinding } from '../../findings/rules/finding.ts';
import { setAccountFact } from './accounts.ts';
import { saveFindings } from './findings.ts';
import { findOrders } from '../find-orders.ts';
import type { Database, Store, Transaction } from '../port.ts';

export const FAIL_OVER_FACT = 'fail-over.';
const isFailOver = sql`"name" >= ${sql.lit(FAIL_OVER_FACT)} and "name" < 'fail-over/'`;

export async function readFailOvers(db: Database, account: string): Promise<readonly FailOver[]> {
  const { rows } = await sql<{ value: string }>`select value from account_facts
    where account = ${account} and ${isFailOver}`.execute(db);
  return rows.map(({ value }) => JSON.parse(value) as FailOver).toSorted((one, other) => one.id - other.id);
}

/** Reads accounts with a fail-over since a time, if the owner before it has not yet named the orders that it sent. */
export async function accountsOfFailOvers(db: Database, accounts: readonly string[], since: Date) {
  if (accounts.length === 0) return [];
  const { rows } = await sql<{ account: string }>`select distinct account from account_facts
    where account in (${sql.join(accounts)}) and ${isFailOver}
      and first_seen_at >= ${since.toISOString()} and value not like '%"reportedAt"%'`.execute(db);
  return rows.map(({ account }) => account);
}

export async function saveFailOver(tx: Transaction, account: string, failOver: FailOver, now: Date): Promise<void> {
  const value = JSON.stringify(failOver);
  await setAccountFact(tx, { account, name: `${FAIL_OVER_FACT}${failOver.id}`, value, now });
}

export async function countDoubtful(db: Database, account: string, failOver: number): Promise<number> {
  const { rows } = await sql<{ orders: number }>`select count(*) as orders from merchant_orders
    where account = ${account} and fail_over = ${failOver}`.execute(db);
  return rows[0]?.orders ?? 0;
}

export async function sentTimes(db: Database, account: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string | null>();
  const rows = await findOrders(db, { account, ids, by: 'id', limit: ids.length }, ['external_order_id', 'sent_at']);
  return new Map(rows.map((row) => [row.external_order_id, row.sent_at]));
}

const FINDING = 'FAIL_OVER';

/**
 * Changes a fail-over as it stands now, because a person and the lost owner may change it at the same time. Writes its
 * finding, which counts the orders in doubt and is open while any are left.
 */
export async function changeFailOver(
  tx: Transaction,
  account: string,
  { id }: Pick<FailOver, 'id'>,
  changes: Partial<FailOver>,
  now: Date,
): Promise<void> {
  const failOver = (await readFailOvers(tx, account)).find((one) => one.id === id);
  if (failOver === undefined) return;
  const changed = { ...failOver, ...changes };
  await saveFailOver(tx, account, changed, now);
  await saveDoubtFinding(tx, account, changed, now);
}

/** Resolves the findings of fail-overs that no longer have orders in doubt. */
export async function resolveFailOvers({ db, writer }: Store, account: string, now: Date): Promise<void> {
  const unresolved = await sql`select 1 from findings
    where account = ${account} and class = ${FINDING} and status in ('open', 'acknowledged') limit 1`.execute(db);
  if (unresolved.rows.length === 0) return;
  for (const failOver of await readFailOvers(db, account)) {
    if (failOver.markedAt === undefined || (await countDoubtful(db, account, failOver.id)) > 0) continue;
    await writer.write((tx) => saveDoubtFinding(tx, account, failOver, now));
  }
}

async function saveDoubtFinding(tx: Transaction, account: string, failOver: FailOver, now: Date): Promise<void> {
  const orders = failOver.decision === undefined ? await countDoubtful(tx, account, failOver.id) : 0;
  const expected = `every commit from before fail-over ${failOver.id}`;
  const { rows: known } = await sql<KnownFinding>`select id, class, expected, actual, status from findings
    where account = ${account} and class = ${FINDING} and expected = ${expected} and external_order_id is null`.execute(
    tx,
  );
  const actual = `orders that may have been sent without a trace: ${orders}`;
  const found = orders === 0 ? [] : [{ class: FINDING, expected, actual } as const];
  const changes = decideFindings(known, found, [FINDING]);
  await saveFindings(tx, { account, externalOrderId: null }, changes, now);
}
