import { StoreError } from '../../../store/errors.ts';
import { ORDER_COLUMNS, type OrderColumns } from '../../../store/orders/order-columns.ts';
import { insertMissing, ordersById, type ColumnsAndState } from './inserted-orders.ts';
import type { Transaction } from '../../../store/port.ts';
import { TemporaryTables } from '../../../store/temporary.ts';

const PAGE = 500;
const AMOUNTS: readonly string[] = ['asset', 'order_limit', 'bonus'];

export type ImportRow = OrderColumns & { readonly line: number };

interface ImportConflict {
  readonly line: number;
  readonly externalOrderId: string;
  readonly columns: string;
  /** The place of the other row: `line 5` or `merchant_orders`. */
  readonly place: string;
}

/** The result of an import. With conflicts nothing was inserted; `conflictCount` also counts those not named. */
interface Settlement {
  readonly inserted: number;
  readonly conflicts: readonly ImportConflict[];
  readonly conflictCount: number;
}

/** Orders of the import came into the table between the comparison with it and the end of the import. */
export class InsertedMeanwhile extends StoreError {
  constructor() {
    super('refused', 'another program inserts orders of the import, or keeps them out of the table; import it again');
  }
}

const COLUMNS = ORDER_COLUMNS.join(', ');
const TEXT_COLUMNS = ORDER_COLUMNS.map((column) => `${column} text`).join(', ');
const TABLES = `
  create table imported (line integer primary key, ${TEXT_COLUMNS});
  create index imported_id on imported (external_order_id, line);
  create table orders (${TEXT_COLUMNS});
  create index orders_id on orders (external_order_id)`;
const IS_FIRST = `not exists (select 1 from imported e where e.external_order_id = b.external_order_id and e.line < b.line)`;
const IS_MISSING = 'not exists (select 1 from orders o where o.external_order_id = b.external_order_id)';

/** Lists the columns in which the rows `a` and `b` differ; empty when they are the same. */
const DIFFERENT = ORDER_COLUMNS.map((name) => `case when ${same(name)} then '' else ', ${name}' end`).join(' || ');

/** Finds rows `b` whose id a row `a` elsewhere has with other content. */
const conflictsWith = (others: string, place: string) => `
  select line, externalOrderId, substr(differences, 3) as columns, place, count(*) over () as total
  from (select b.line, b.external_order_id as externalOrderId, ${place} as place, ${DIFFERENT} as differences
    from imported b join ${others})
  where differences <> '' order by line limit ?`;
const CONFLICTS = [
  conflictsWith(
    `imported a on a.external_order_id = b.external_order_id and a.line < b.line
      and a.line = (select min(line) from imported where external_order_id = b.external_order_id)`,
    `'line ' || a.line`,
  ),
  conflictsWith('orders a on a.external_order_id = b.external_order_id', `'merchant_orders'`),
];

/** The rows of an import until they are inserted: no other program waits while a long file is read. */
export class ImportTables extends TemporaryTables {
  readonly add = this.inserter<ImportRow>('imported', `line, ${COLUMNS}`);
  readonly #addOrder = this.inserter<OrderColumns>('orders', COLUMNS);

  constructor() {
    super(TABLES);
  }

  *ids(): Iterable<readonly string[]> {
    const pages = this.#pages<{ line: number; external_order_id: string }>('external_order_id', IS_FIRST);
    for (const page of pages) yield page.map((row) => row.external_order_id);
  }

  /** Takes the orders of the table, in place of those that were there before, that have ids of the rows. */
  async setOrders(orders: AsyncIterable<readonly ColumnsAndState[]>): Promise<void> {
    this.sqlite.exec('delete from orders');
    for await (const page of orders) for (const order of page) this.#addOrder(order);
  }

  conflicts(limit: number): { readonly named: readonly ImportConflict[]; readonly count: number } {
    const found = CONFLICTS.map((query) => [...this.rows<ImportConflict & { total: number }>(query, limit)]);
    const named = found.flat().toSorted((one, other) => one.line - other.line);
    const count = found.reduce((sum, rows) => sum + (rows[0]?.total ?? 0), 0);
    return { named: named.slice(0, limit), count };
  }

  /** Reads the rows whose order is not in the table, of several with one id the first, some at a time. */
  missing(): Iterable<readonly ImportRow[]> {
    return this.#pages<ImportRow>(COLUMNS, `${IS_FIRST} and ${IS_MISSING}`);
  }

  /** Each page is read to its end: a statement that is not read to its end keeps the database from being written. */
  *#pages<Row extends { readonly line: number }>(columns: string, condition: string): Generator<readonly Row[]> {
    const query = `select line, ${columns} from imported b where line > ? and ${condition} order by line limit ${PAGE}`;
    for (let afterLine = 0; ;) {
      const page = [...this.rows<Row>(query, afterLine)];
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
      afterLine = page.at(-1)?.line ?? afterLine;
    }
  }
}

/**
 * Looks for rows that contradict each other or the table and, when there are none and inserting `isWanted`, inserts
 * every row that is not there yet. At most `limit` conflicts are named. Throws `InsertedMeanwhile` if the merchant inserted some
 * of them in between: then the transaction must begin anew.
 */
export async function settleImport(
  tx: Transaction,
  tables: ImportTables,
  { account, isWanted, limit }: { account: string; isWanted: boolean; limit: number },
): Promise<Settlement> {
  await tables.setOrders(ordersOf(tx, tables, account));
  const { named: conflicts, count: conflictCount } = tables.conflicts(limit);
  let inserted = 0;
  if (isWanted && conflictCount === 0) {
    for (const page of tables.missing()) {
      const count = await insertMissing(tx, account, page);
      if (count < page.length) throw new InsertedMeanwhile();
      inserted += count;
    }
  }
  return { inserted, conflicts, conflictCount };
}

export async function* ordersOf(
  tx: Transaction,
  tables: ImportTables,
  account: string,
): AsyncGenerator<readonly ColumnsAndState[]> {
  for (const ids of tables.ids()) yield await ordersById(tx, account, ids);
}

/** Amounts are compared without the zeros that add nothing to a plain number. */
function same(name: string): string {
  if (!AMOUNTS.includes(name)) return `a.${name} is b.${name}`;
  const number = (row: string) => {
    const text = `${row}.${name}`;
    return `case when ${text} like '%.%' then rtrim(rtrim(${text}, '0'), '.') else ${text} end`;
  };
  return `(${number('a')}) is (${number('b')})`;
}
