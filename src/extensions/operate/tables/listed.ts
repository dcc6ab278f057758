import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Pair, IdFilter } from '../../commands/options.ts';
import { accountsIn } from '../../commands/tables/accounts.ts';
import { allOf } from '../../../store/dialect.ts';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import type { Database } from '../../../store/port.ts';

/** `isCut` is true if the list may lack rows, because not all rows were examined. */
export type Listed<Row> = Readonly<{ rows: readonly Row[]; isCut: boolean }>;

/** `account` is undefined for all accounts. */
export type ListQuery = Readonly<{ account: string | undefined; limit: number }>;

/** `from` and `to` (UTC, ISO 8601) limit when an order was inserted, or when a finding was first seen. */
export interface RowFilter extends ListQuery {
  readonly state?: OrderState | undefined;
  readonly pair?: Pair | undefined;
  readonly class?: FindingClassName | undefined;
  readonly order?: IdFilter | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export type OfAccount<Query> = Query & { readonly account: string };

/**
 * Lists the first `limit` rows of the account, or of all `accounts`. Reads account by account, so it keeps twice
 * `limit` rows at most. `list` must sort as `compare` does.
 */
export async function listAccounts<Query extends ListQuery, Row>(
  query: Query,
  accounts: () => Promise<readonly string[]>,
  list: (query: OfAccount<Query>) => Promise<Listed<Row>>,
  compare: (one: Row, other: Row) => number,
): Promise<Listed<Row>> {
  const { account, limit } = query;
  if (account !== undefined) return await list({ ...query, account });
  let rows: readonly Row[] = [];
  let isCut = false;
  for (const name of await accounts()) {
    const listed = await list({ ...query, account: name });
    rows = [...rows, ...listed.rows].toSorted(compare).slice(0, limit);
    isCut ||= listed.isCut;
  }
  return { rows, isCut };
}

/** Lists rows of a table, the greatest `by` first. `select` returns the rows of one account in the same order. */
export async function listNewest<Row>(
  db: Database,
  query: ListQuery,
  { table, by }: { readonly table: string; readonly by: keyof Row },
  select: (query: OfAccount<ListQuery>) => RawBuilder<Row>,
): Promise<readonly Row[]> {
  const list = async (ofAccount: OfAccount<ListQuery>) => {
    return { rows: (await select(ofAccount).execute(db)).rows, isCut: false };
  };
  return (await listAccounts(query, () => accountsIn(db, table), list, newestFirst(by))).rows;
}

export function newestFirst<Row>(by: keyof Row): (one: Row, other: Row) => number {
  return (one, other) => (one[by] > other[by] ? -1 : Number(one[by] < other[by]));
}

/** Returns the condition that a column is at or after `from` and before `to`; undefined if both are undefined. */
export function isInPeriod(column: RawBuilder<unknown>, from: string | undefined, to: string | undefined) {
  if (from === undefined && to === undefined) return undefined;
  return allOf(
    from === undefined ? undefined : sql`${column} >= ${from}`,
    to === undefined ? undefined : sql`${column} < ${to}`,
  );
}

/** Returns the condition that `external_order_id` is the id or begins with the id. An index serves the condition. */
export function isLike({ id, isPrefix }: IdFilter): RawBuilder<SqlBool> {
  if (!isPrefix) return sql`external_order_id = ${id}`;
  return sql`external_order_id >= ${id} and external_order_id < ${`${id}\u{10ffff}`}`;
}
