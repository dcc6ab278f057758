import { sql } from 'kysely';
import type { OrderState } from '../../domain/orders/states.ts';
import type { AccountCounts } from '../../reports/status/status.ts';
import { countsOf } from '../counts.ts';
import { indexedBy } from '../dialect.ts';
import type { Database } from '../port.ts';

/** Orders that a merchant may take away are counted in their index, no further than this in all accounts. */
const MOST_COUNTED = 100_000;
/** No more accounts are named in a statement. */
export const MOST_ACCOUNTS = 1_000;

/** What accounts have, in the order of their names. */
export interface CountedAccounts {
  readonly accounts: readonly AccountCounts[];
  /** The states of which there are more orders than were counted. */
  readonly more: readonly OrderState[];
}

/**
 * Reads what the account has, or what each account has where none is named. Most is counted as events are recorded. Merchants
 * insert and delete orders of the states `pending` and `invalid`, so these are counted now.
 */
export async function readCounts(db: Database, account: string | undefined): Promise<CountedAccounts> {
  const heads = await readHeads(db, account);
  const pending = await countPending(db, account);
  // An order becomes invalid by an event, so that no other account has any.
  const withInvalid = heads.filter(({ orders }) => (orders['invalid'] ?? 0) > 0).map((head) => head.account);
  const invalid = await countInvalid(db, withInvalid);
  const known = new Map(heads.map((head) => [head.account, head]));
  const names = new Set([...known.keys(), ...pending.keys()]);
  const accounts = [...names].toSorted().map((name): AccountCounts => {
    const { orders = {}, findings = {} } = known.get(name) ?? {};
    const all = { ...orders, pending: pending.get(name) ?? 0, invalid: invalid.get(name) ?? 0 };
    return { account: name, orders: positive(all), findings: positive(findings) };
  });
  const more = [...(isFull(pending) ? (['pending'] as const) : []), ...(isFull(invalid) ? (['invalid'] as const) : [])];
  return { accounts, more };
}

/** Adds up what accounts have. */
export function sumOf(
  accounts: readonly AccountCounts[],
  what: 'orders' | 'findings',
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const counts of accounts)
    for (const [name, count] of Object.entries(counts[what])) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

async function readHeads(db: Database, account: string | undefined) {
  const heads = db.selectFrom('event_heads').select(['account', 'counts']);
  const rows = await (account === undefined ? heads : heads.where('account', '=', account)).execute();
  return rows.map((row) => ({ account: row.account, ...countsOf(row.counts) }));
}

type Counted = ReadonlyMap<string, number>;

async function countPending(db: Database, account: string | undefined): Promise<Counted> {
  const ofAccount = account === undefined ? sql`` : sql`and account = ${account}`;
  // In the order of the index of pending orders, so that no other one is taken.
  return await counted(
    db,
    sql`select account from merchant_orders ${indexedBy('merchant_orders_pending')}
      where state = 'pending' ${ofAccount} order by account, next_action_at, external_order_id limit ${MOST_COUNTED}`,
  );
}

async function countInvalid(db: Database, accounts: readonly string[]): Promise<Counted> {
  if (accounts.length === 0) return new Map();
  return await counted(
    db,
    sql`select account from merchant_orders ${indexedBy('merchant_orders_due')}
      where account in (${sql.join(accounts.slice(0, MOST_ACCOUNTS))}) and state = 'invalid' limit ${MOST_COUNTED}`,
  );
}

async function counted(db: Database, rows: ReturnType<typeof sql>): Promise<Counted> {
  const found = await sql<{ account: string; orders: number | bigint }>`
    select account, count(*) as orders from (${rows}) as found group by account`.execute(db);
  return new Map(found.rows.map((row) => [row.account, Number(row.orders)]));
}

function isFull(found: Counted): boolean {
  return [...found.values()].reduce((all, one) => all + one, 0) >= MOST_COUNTED;
}

/** A state that another program has written by hand is in no event: what left it is not less than none. */
function positive(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
