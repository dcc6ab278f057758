import { sql } from 'kysely';
import type { OrderState } from '../../domain/orders/states.ts';
import type { AccountCounts } from '../../reports/status/status.ts';
import { countsOf, type Counts } from '../counts.ts';
import { indexedBy } from '../dialect.ts';
import { recount } from '../events.ts';
import type { Database, Store } from '../port.ts';
import { rowsAtOnce } from '../snapshot.ts';
import { MOST_ACCOUNTS } from '../waiting-orders.ts';

/** Orders that a merchant may take away are counted in their index, no further than this in all accounts. */
const MOST_COUNTED = 100_000;

interface CountedAccounts {
  readonly accounts: readonly AccountCounts[];
  readonly more: readonly OrderState[];
}

/**
 * Reads what the account has, or what each account has if none is named. Most is counted as events are recorded. Merchants
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
  return await countByAccount(
    db,
    sql`select account from merchant_orders ${indexedBy('merchant_orders_pending')}
      where state = 'pending' ${ofAccount} order by account, next_action_at, external_order_id limit ${MOST_COUNTED}`,
  );
}

async function countInvalid(db: Database, accounts: readonly string[]): Promise<Counted> {
  if (accounts.length === 0) return new Map();
  return await countByAccount(
    db,
    sql`select account from merchant_orders ${indexedBy('merchant_orders_due')}
      where account in (${sql.join(accounts.slice(0, MOST_ACCOUNTS))}) and state = 'invalid' limit ${MOST_COUNTED}`,
  );
}

async function countByAccount(db: Database, rows: ReturnType<typeof sql>): Promise<Counted> {
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

/** A count of rows; of the kind `kept` the name is the text of the counts. */
interface CountRow {
  readonly account: string;
  readonly kind: 'kept' | 'orders' | 'findings';
  readonly name: string;
  readonly rows: number | bigint;
}

/** Merchants insert and delete orders of these states: they are counted when they are asked for. */
const UNKEPT = ['pending', 'invalid'];

/**
 * Compares the counts that are kept with the rows, all of which it reads, and corrects them if they are wrong. Returns the
 * accounts in which they were.
 */
export async function correctCounts(store: Store): Promise<readonly string[]> {
  const byAccount = Map.groupBy(await rowsAtOnce<CountRow>(store, countsQuery()), ({ account }) => account);
  const wrong = [...byAccount].filter(([, rows]) => isWrong(rows)).map(([account]) => account);
  for (const account of wrong) {
    await store.forAccount(account).writer.write(async (tx) => {
      // Counted anew: a daemon may have gone on since.
      const { rows } = await countsQuery(account).execute(tx);
      await recount(tx, account, countedIn(rows));
    });
  }
  return wrong;
}

/** In one statement, so that all of it is of one moment. */
function countsQuery(account?: string) {
  const ofAccount = account === undefined ? sql`true` : sql`account = ${account}`;
  return sql<CountRow>`select account, 'orders' as kind, state as name, count(*) as rows from merchant_orders
      where ${ofAccount} group by account, state
    union all select account, 'findings', class, count(*) from findings
      where ${ofAccount} and status = 'open' group by account, class
    union all select account, 'kept', counts, 0 from event_heads where ${ofAccount}`;
}

function countedIn(rows: readonly CountRow[]): Counts {
  const of = (kind: 'orders' | 'findings') =>
    Object.fromEntries(rows.filter((row) => row.kind === kind).map((row) => [row.name, Number(row.rows)]));
  return { orders: of('orders'), findings: of('findings') };
}

/** An account without events has no counts. */
function isWrong(rows: readonly CountRow[]): boolean {
  const text = rows.find(({ kind }) => kind === 'kept')?.name;
  if (text === undefined) return false;
  const [kept, counted] = [countsOf(text), countedIn(rows)];
  // Invalid ones are counted only if the kept count says that there are some.
  const isMissed = (counted.orders['invalid'] ?? 0) > (kept.orders['invalid'] ?? 0);
  return isMissed || !isSame(kept.orders, counted.orders) || !isSame(kept.findings, counted.findings);
}

function isSame(kept: Counts['orders'], counted: Counts['orders']): boolean {
  const names = new Set([...Object.keys(kept), ...Object.keys(counted)].filter((name) => !UNKEPT.includes(name)));
  return [...names].every((name) => (kept[name] ?? 0) === (counted[name] ?? 0));
}
