import type { RawBuilder } from 'kysely';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import type { IdFilter } from '../../../store/find-orders.ts';
import type { Database } from '../../../store/port.ts';
import { accountsIn } from '../../../store/tables/accounts.ts';
import type { Pair } from '../../documents/commands/options.ts';

/** `isCut` is true if rows that were not examined may belong to the list. */
export type Listed<Row> = Readonly<{ rows: readonly Row[]; isCut: boolean }>;

/** Asks for the rows of one account or, if `account` is undefined, of every account. */
export type ListQuery = Readonly<{ account: string | undefined; limit: number }>;

/** `state` and `pair` concern the order; `from` and `to` the time of insertion, or when a finding was first seen. */
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
 * Lists the first `limit` rows of the account, or of all `accounts`. Reads one account after the other, so that memory
 * has twice `limit` rows at most. `compare` is the order within the list of one account.
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
  return { rows, isCut: isCut && rows.length < limit };
}

/** Lists rows of a table, the greatest `by` first; `select` selects those of one account in this order. */
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
