import { sql } from 'kysely';
import type { Database } from '../../../store/port.ts';

/** Selects the sorted names of accounts with rows in a table, by one index search a name. */
export function accountNames(table: string) {
  const rows = sql.table(table);
  return sql<{ account: string }>`with recursive named as (select min(account) as account from ${rows}
      union all select (select min(account) from ${rows} where account > named.account) from named where account is not null)
    select account from named where account is not null`;
}

const MOST_OTHERS = 100;

/** Returns accounts with orders, without an owner and not in `named`: `named.length + MOST_OTHERS` at most. */
export async function otherAccounts(db: Database, named: readonly string[]): Promise<readonly string[]> {
  const most = sql.lit(named.length + MOST_OTHERS);
  const found = sql`${accountNames('merchant_orders')} limit ${most}`;
  const { rows } = await sql<{ account: string }>`select account from (${found}) as found
    where not exists (select 1 from account_owners
      where account_owners.account = found.account and holder is not null)`.execute(db);
  const known = new Set(named);
  return rows.map(({ account }) => account).filter((account) => !known.has(account));
}

export async function accountsIn(db: Database, table: string): Promise<string[]> {
  const { rows } = await accountNames(table).execute(db);
  return rows.map(({ account }) => account);
}

export async function isKnownAccount(db: Database, account: string): Promise<boolean> {
  const { rows } = await sql`select 1 from account_owners where account = ${account}
    union all select 1 from (select 1 from merchant_orders where account = ${account} limit 1) as first`.execute(db);
  return rows.length > 0;
}

export async function accountWithOrder(db: Database, accounts: readonly string[], externalOrderId: string) {
  if (accounts.length === 0) return undefined;
  const { rows } = await sql<{ account: string }>`select account from merchant_orders
    where account in (${sql.join(accounts)}) and external_order_id = ${externalOrderId}
    order by account limit 1`.execute(db);
  return rows[0]?.account;
}
