import { sql } from 'kysely';
import type { RestraintKind } from '../../accounts/rules/restraints.ts';
import { FOLLOWED_STATES, type OrderState } from '../../orders/rules/states.ts';
import { UNCORRECTED_TIMES } from '../tables/accounts.ts';
import { isOneOf } from '../dialect.ts';
import { ofOwner } from './due-times.ts';
import type { Database, Transaction } from '../port.ts';
import { queries, statement, textToFind } from '../statement.ts';

/** States whose due times are corrected if they are wrong. */
export const CORRECTED_STATES = ['pending', ...FOLLOWED_STATES] as const;

/** A disputed order may be due never: its record may be final. */
const DUE_STATES: readonly OrderState[] = CORRECTED_STATES.filter((state) => state !== 'disputed');

/** Orders of one state that are due only after `latest`, or never. */
export interface WronglyDue {
  readonly account: string;
  readonly state: OrderState;
  readonly latest: Date;
  readonly limit: number;
  /** The reason of their state begins so; then none that is due never. */
  readonly reason?: string;
  /** Ids of orders that are left out, and of the only one that is meant. */
  readonly except?: readonly string[];
  readonly only?: string;
}

export interface Correction extends WronglyDue {
  readonly to: Date;
}

function wronglyDue(tx: Transaction, query: WronglyDue, isFree: boolean) {
  const { account, state, latest, limit, reason, except = [], only } = query;
  let ids = tx
    .selectFrom('merchant_orders')
    .select('external_order_id')
    .where('account', '=', textToFind(account))
    .where('state', '=', textToFind(state))
    // This is the order of the index of due orders; with a reason SQLite would else read all orders by the key.
    .orderBy('next_action_at')
    .limit(limit);
  // A row that the merchant is writing is left for another time.
  if (isFree) ids = ids.forNoKeyUpdate().skipLocked();
  if (reason !== undefined) ids = ids.where('state_reason', 'like', `${reason}%`);
  if (except.length > 0) ids = ids.where('external_order_id', 'not in', except);
  if (only !== undefined) ids = ids.where('external_order_id', '=', only);
  // Two searches of the index of due orders; with `or` SQLite would read all orders of the account.
  const late = tx.selectFrom(ids.where('next_action_at', '>', latest.toISOString()).as('late')).selectAll();
  const never = tx.selectFrom(ids.where('next_action_at', 'is', null).as('never')).selectAll();
  return DUE_STATES.includes(state) && reason === undefined ? late.unionAll(never) : late;
}

export async function wronglyDueOrders(tx: Transaction, query: WronglyDue): Promise<string[]> {
  return (await wronglyDue(tx, query, false).execute()).map((row) => row.external_order_id);
}

/** Makes `limit` wrongly due orders, or more, due at `to`, except locked ones. Returns their number. */
export async function correctDueTimes(tx: Transaction, query: Correction): Promise<number> {
  const result = await tx
    .updateTable('merchant_orders')
    .set((row) => ({ next_action_at: query.to.toISOString(), revision: row('revision', '+', 1) }))
    .where('account', '=', query.account)
    .where('external_order_id', 'in', wronglyDue(tx, query, true))
    .executeTakeFirstOrThrow();
  return Number(result.numUpdatedRows);
}

/** No schedule plans a time after `due`, and no lease ends after `lease`. */
const wrongTimesStatement = statement<Record<'accounts' | 'due' | 'lease', string>, { account: string }>((v) =>
  queries
    .selectFrom('account_owners')
    .select('account')
    .where(isOneOf('account_owners.account', v.accounts))
    .where((where) => {
      const orders = (states: readonly OrderState[]) =>
        where
          .selectFrom('merchant_orders as waiting')
          .select('waiting.account')
          .where('waiting.account', '=', ofOwner)
          .where(
            'waiting.state',
            'in',
            states.map((state) => sql.lit(state)),
          );
      const late = orders(CORRECTED_STATES).where('waiting.next_action_at', '>', v.due);
      const never = orders(DUE_STATES).where('waiting.next_action_at', 'is', null);
      const lease = where
        .selectFrom('request_leases')
        .select('request_leases.account')
        .where('request_leases.account', '=', ofOwner)
        .where('requests_until', '>', v.lease);
      const uncorrected = where
        .selectFrom('account_facts')
        .select('account_facts.account')
        .where('account_facts.account', '=', ofOwner)
        .where('name', '=', sql.lit(UNCORRECTED_TIMES));
      const refused = where
        .selectFrom('account_holds')
        .select('account_holds.account')
        .where('account_holds.account', '=', ofOwner)
        .where('kind', '=', sql.lit<RestraintKind>('key-refused'));
      return where.or(
        [lease, uncorrected, refused, late, never].map((rows) =>
          where(sql`(select 1 from ${rows} as found limit 1)`, 'is not', null),
        ),
      );
    }),
);

/**
 * Reads which of these accounts a new owner puts right although nothing may be due in them: their due times or lease
 * were written under another clock, or their key was refused.
 */
export async function accountsToPutRight(
  db: Database,
  { accounts, due, lease }: { accounts: readonly string[]; due: Date; lease: Date },
): Promise<readonly string[]> {
  const latest = { accounts: JSON.stringify(accounts), due: due.toISOString(), lease: lease.toISOString() };
  return (await wrongTimesStatement(db, latest)).rows.map(({ account }) => account);
}
