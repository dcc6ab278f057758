import { sql } from 'kysely';
import { countsOf, type Counts } from '../counts.ts';
import { recount } from '../events.ts';
import type { Store } from '../port.ts';
import { rowsAtOnce } from '../snapshot.ts';
import { compileFor, queries } from '../statement.ts';

/** A count of rows, or the counts that are kept as their text. */
interface CountRow {
  readonly account: string;
  readonly kind: 'kept' | 'orders' | 'findings';
  readonly name: string;
  readonly rows: number | bigint;
}

/** Merchants insert and delete orders of these states: they are counted when they are asked for. */
const UNKEPT = ['pending', 'invalid'];

/**
 * Compares the counts that are kept with the rows, all of which it reads, and corrects them where they are wrong. Gives the
 * accounts in which they were.
 */
export async function correctCounts(store: Store): Promise<readonly string[]> {
  const byAccount = Map.groupBy(await rowsAtOnce<CountRow>(store, countsQuery()), ({ account }) => account);
  const wrong = [...byAccount].filter(([, rows]) => isWrong(rows)).map(([account]) => account);
  for (const account of wrong) {
    await store.forAccount(account).writer.write(async (tx) => {
      // Counted anew: a daemon may have gone on since.
      const { rows } = await tx.executeQuery(compileFor(tx, countsQuery(account)));
      await recount(tx, account, countedIn(rows));
    });
  }
  return wrong;
}

/** In one statement, so that all of it is of one moment. */
function countsQuery(account?: string) {
  const ofAccount = account === undefined ? sql<boolean>`true` : sql<boolean>`account = ${account}`;
  return queries
    .selectFrom('merchant_orders')
    .select((row) => [
      'account',
      sql<string>`'orders'`.as('kind'),
      'state as name',
      row.fn.countAll<number>().as('rows'),
    ])
    .where(ofAccount)
    .groupBy(['account', 'state'])
    .unionAll(
      queries
        .selectFrom('findings')
        .select((row) => [
          'account',
          sql<string>`'findings'`.as('kind'),
          'class as name',
          row.fn.countAll<number>().as('rows'),
        ])
        .where(ofAccount)
        .where('status', '=', 'open')
        .groupBy(['account', 'class']),
    )
    .unionAll(
      queries
        .selectFrom('event_heads')
        .select(['account', sql<string>`'kept'`.as('kind'), 'counts as name', sql<number>`0`.as('rows')])
        .where(ofAccount),
    )
    .$castTo<CountRow>();
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
  // Where there are invalid ones they are counted only if the kept count says that there are.
  const isMissed = (counted.orders['invalid'] ?? 0) > (kept.orders['invalid'] ?? 0);
  return isMissed || !isSame(kept.orders, counted.orders) || !isSame(kept.findings, counted.findings);
}

function isSame(kept: Counts['orders'], counted: Counts['orders']): boolean {
  const names = new Set([...Object.keys(kept), ...Object.keys(counted)].filter((name) => !UNKEPT.includes(name)));
  return [...names].every((name) => (kept[name] ?? 0) === (counted[name] ?? 0));
}
