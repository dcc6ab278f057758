import { sql } from 'kysely';
import type { RestraintKind } from '../../accounts/rules/restraints.ts';
import { FOLLOWED_STATES, type OrderState } from '../../orders/rules/states.ts';
import { UNCORRECTED_TIMES } from '../tables/accounts.ts';
import { accountsWhere } from './due-times.ts';
import type { Database, Transaction } from '../port.ts';
import { literals, textToFind } from '../statement.ts';

export const CORRECTED_STATES = ['pending', ...FOLLOWED_STATES] as const;

/** The states whose orders always have a due time. A disputed order may have none if its record is final. */
const DUE_STATES: readonly OrderState[] = CORRECTED_STATES.filter((state) => state !== 'disputed');

export interface WronglyDue {
  readonly account: string;
  readonly state: OrderState;
  readonly latest: Date;
  readonly limit: number;
  readonly reason?: string;
  readonly except?: readonly string[];
  readonly only?: string;
}

export interface Correction extends WronglyDue {
  readonly to: Date;
}

function wronglyDue(tx: Transaction, query: WronglyDue, skipsLocked: boolean) {
  const { account, state, latest, limit, reason, except = [], only } = query;
  let ids = tx
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where('account', '=', textToFind(account))
    .where('state', '=', textToFind(state))
    // Ordered as in the index of due orders, because with a `reason` SQLite would otherwise read all orders by the key.
    .orderBy('next_action_at')
    .limit(limit);
  // Rows that the merchant is writing are skipped, and corrected by a later call.
  if (skipsLocked) ids = ids.forNoKeyUpdate().skipLocked();
  if (reason !== undefined) ids = ids.where('state_reason', 'like', `${reason}%`);
  if (except.length > 0) ids = ids.where('external_order_id', 'not in', except);
  if (only !== undefined) ids = ids.where('external_order_id', '=', only);
  // Two queries, because for `or` SQLite would read all orders of the account.
  const late = tx.selectFrom(ids.where('next_action_at', '>', latest.toISOString()).as('late')).selectAll();
  const never = tx.selectFrom(ids.where('next_action_at', 'is', null).as('never')).selectAll();
  return DUE_STATES.includes(state) && reason === undefined ? late.unionAll(never) : late;
}

export async function wronglyDueOrders(tx: Transaction, query: WronglyDue): Promise<string[]> {
  return (await wronglyDue(tx, query, false).execute()).map((row) => row.external_order_id);
}

/** Makes orders due at `to`: up to `limit` due after `latest`, and `limit` without a due time. Returns their number. */
export async function correctDueTimes(tx: Transaction, query: Correction): Promise<number> {
  const { numAffectedRows } = await sql`
    update merchant_orders set next_action_at = ${query.to.toISOString()}, revision = revision + 1
    where account = ${query.account} and external_order_id in ${wronglyDue(tx, query, true)}`.execute(tx);
  return Number(numAffectedRows);
}

const accountsWithWrongTimes = accountsWhere((v: { due: string; lease: string }) => {
  const orders = (states: readonly OrderState[]) =>
    sql`select 1 from merchant_orders as waiting where waiting.account = account_owners.account
      and waiting.state in (${literals(states)})`;
  const of = (table: string) =>
    sql`select 1 from ${sql.table(table)} where ${sql.ref(`${table}.account`)} = account_owners.account`;
  return [
    sql`${of('request_leases')} and requests_until > ${v.lease}`,
    sql`${of('account_facts')} and name = ${sql.lit(UNCORRECTED_TIMES)}`,
    sql`${of('account_holds')} and kind = ${sql.lit<RestraintKind>('key-refused')}`,
    sql`${orders(CORRECTED_STATES)} and waiting.next_action_at > ${v.due}`,
    sql`${orders(DUE_STATES)} and waiting.next_action_at is null`,
  ];
});

/** Reads which accounts a new owner must correct, for example for a due time after `due` or a lease after `lease`. */
export async function accountsToPutRight(
  db: Database,
  { accounts, due, lease }: { accounts: readonly string[]; due: Date; lease: Date },
) {
  return await accountsWithWrongTimes(db, accounts, { due: due.toISOString(), lease: lease.toISOString() });
}
