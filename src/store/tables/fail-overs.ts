import { sql } from 'kysely';
import type { FailOver } from '../../accounts/rules/fail-over.ts';
import { decideFindings, type KnownFinding } from '../../findings/rules/finding.ts';
import { setAccountFact } from './accounts.ts';
import { saveFindings } from './findings.ts';
import { findOrders } from '../find-orders.ts';
import type { Database, Store, Transaction } from '../port.ts';

export const FAIL_OVER_FACT = 'fail-over.';

export async function readFailOvers(db: Database, account: string): Promise<readonly FailOver[]> {
  const rows = await db
    .selectFrom('account_facts')
    .select('value')
    .where('account', '=', account)
    .where('name', '>=', sql.lit(FAIL_OVER_FACT))
    .where('name', '<', 'fail-over/')
    .execute();
  return rows.map(({ value }) => JSON.parse(value) as FailOver).toSorted((one, other) => one.id - other.id);
}

/** Reads which of these accounts had a fail-over since a time whose lost owner has not reported. */
export async function accountsOfFailOvers(db: Database, accounts: readonly string[], since: Date) {
  if (accounts.length === 0) return [];
  const rows = await db
    .selectFrom('account_facts')
    .select('account')
    .distinct()
    .where('account', 'in', accounts)
    .where('name', '>=', FAIL_OVER_FACT)
    .where('name', '<', 'fail-over/')
    .where('first_seen_at', '>=', since.toISOString())
    .where('value', 'not like', '%"reportedAt"%')
    .execute();
  return rows.map(({ account }) => account);
}

export async function saveFailOver(tx: Transaction, account: string, failOver: FailOver, now: Date): Promise<void> {
  const value = JSON.stringify(failOver);
  await setAccountFact(tx, { account, name: `${FAIL_OVER_FACT}${failOver.id}`, value, now });
}

export async function countDoubtful(db: Database, account: string, failOver: number): Promise<number> {
  const { orders } = await db
    .selectFrom('merchant_orders')
    .select((select) => select.fn.countAll<number>().as('orders'))
    .where((order) => order.and({ account, fail_over: failOver }))
    .executeTakeFirstOrThrow();
  return orders;
}

export async function sentTimes(db: Database, account: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string | null>();
  const rows = await findOrders(db, { account, ids, by: 'id', limit: ids.length }, ['external_order_id', 'sent_at']);
  return new Map(rows.map((row) => [row.external_order_id, row.sent_at]));
}

const FINDING = 'FAIL_OVER';

/** Writes a fail-over, and its finding, which counts the orders in doubt and is open while there are any. */
export async function tellFailOver(tx: Transaction, account: string, failOver: FailOver, now: Date): Promise<void> {
  await saveFailOver(tx, account, failOver, now);
  await tellDoubts(tx, account, failOver, now);
}

/** Resolves the findings of fail-overs whose orders in doubt have all been settled by look-ups. */
export async function resolveFailOvers({ db, writer }: Store, account: string, now: Date): Promise<void> {
  const told = await db
    .selectFrom('findings')
    .select('id')
    .where((finding) => finding.and({ account, class: FINDING }))
    .where('status', 'in', ['open', 'acknowledged'])
    .limit(1)
    .execute();
  if (told.length === 0) return;
  for (const failOver of await readFailOvers(db, account)) {
    if (failOver.markedAt === undefined || (await countDoubtful(db, account, failOver.id)) > 0) continue;
    await writer.write((tx) => tellDoubts(tx, account, failOver, now));
  }
}

async function tellDoubts(tx: Transaction, account: string, failOver: FailOver, now: Date): Promise<void> {
  const orders = failOver.decision === undefined ? await countDoubtful(tx, account, failOver.id) : 0;
  const expected = `every commit from before fail-over ${failOver.id}`;
  const known = await tx
    .selectFrom('findings')
    .select(['id', 'class', 'expected', 'actual', 'status'])
    .where((finding) => finding.and({ account, class: FINDING, expected }))
    .where('external_order_id', 'is', null)
    .execute();
  const actual = `orders that may have been sent without a trace: ${orders}`;
  const found = orders === 0 ? [] : [{ class: FINDING, expected, actual } as const];
  const changes = decideFindings(known as readonly KnownFinding[], found, [FINDING]);
  await saveFindings(tx, { account, externalOrderId: null }, changes, now);
}
