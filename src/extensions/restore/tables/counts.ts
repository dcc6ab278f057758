import { sql } from 'kysely';
import type { Counts, Store, Database, Transaction } from '../../../store/port.ts';
import { rowsAtOnce } from '../../../store/pages.ts';
import { countsOf, headOf } from '../../../store/tables/chain.ts';

/** A count of rows. If `kind` is `kept`, `name` is the JSON text of the counts that `event_heads` keeps. */
type CountRow = Readonly<{ account: string; kind: 'kept' | 'orders' | 'findings'; name: string; rows: number }>;

/** Merchants insert pending orders and delete orders of both states without an event, so kept counts may be wrong. */
const UNKEPT = ['pending', 'invalid'];

/** Reads all rows and corrects the kept counts. Returns the accounts whose counts were wrong. */
export async function correctCounts(store: Store): Promise<readonly string[]> {
  const byAccount = Map.groupBy(await rowsAtOnce<CountRow>(store, countsQuery(), 'primary'), ({ account }) => account);
  const wrong = [...byAccount].filter(([, rows]) => isWrong(rows)).map(([account]) => account);
  for (const account of wrong) {
    await store.forAccount(account).writer.write(async (tx) => {
      // The rows are counted again, because a daemon may have written since the first count.
      const { rows } = await countsQuery(account).execute(tx);
      Object.assign(await headOf(tx, account), { counts: countedIn(rows) });
    });
  }
  return wrong;
}

/** One statement, so that all counts are of one moment. */
function countsQuery(account?: string) {
  const ofAccount = account === undefined ? sql`true` : sql`account = ${account}`;
  return sql<CountRow>`select account, 'orders' as kind, state as name, count(*) as rows from merchant_orders
      where ${ofAccount} group by account, state
    union all select account, 'findings', class, count(*) from findings
      where ${ofAccount} and status = 'open' group by account, class
    union all select account, 'kept', counts, 0 from event_heads where ${ofAccount}`;
}

function countedIn(rows: readonly CountRow[]): Counts {
  const of = (wanted: CountRow['kind']) =>
    Object.fromEntries(rows.flatMap(({ kind, name, rows: count }) => (kind === wanted ? [[name, count]] : [])));
  return { orders: of('orders'), findings: of('findings') };
}

function isWrong(rows: readonly CountRow[]): boolean {
  const text = rows.find(({ kind }) => kind === 'kept')?.name;
  if (text === undefined) return false;
  const [kept, counted] = [countsOf(text), countedIn(rows)];
  const differs = (of: keyof Counts, isKept: (name: string) => boolean) =>
    Object.keys({ ...kept[of], ...counted[of] }).some(
      (name) => isKept(name) && (kept[of][name] ?? 0) !== (counted[of][name] ?? 0),
    );
  // The command `status` counts an account's invalid orders only if their kept count is above 0.
  const isMissed = (counted.orders['invalid'] ?? 0) > (kept.orders['invalid'] ?? 0);
  return isMissed || differs('orders', (name) => !UNKEPT.includes(name)) || differs('findings', () => true);
}

export async function newestEventTime(db: Database): Promise<string | null> {
  const { rows } = await sql<{ at: string }>`select event.observed_at as at from event_heads as head
    join events as event on event.account = head.account and event.id = (select id from events
      where account = head.account and not (type = 'account' and field = 'stopped') order by id desc limit 1)
    order by event.id desc limit 1`.execute(db);
  return rows[0]?.at ?? null;
}

export async function forgetMove(tx: Transaction): Promise<void> {
  await tx.deleteFrom('database_moves').where('state', '=', 'moved').execute();
}
