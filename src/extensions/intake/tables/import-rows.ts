import { ORDER_COLUMNS, type OrderColumns } from '../../../store/orders/order-columns.ts';
import { TemporaryTables } from '../../commands/tables/temporary.ts';

const PAGE = 500;

export type ImportRow = OrderColumns & { readonly line: number; readonly external_order_id: string };

const COLUMNS = ORDER_COLUMNS.join(', ');
const FIRST = `select line, ${COLUMNS} from imported where external_order_id = ? order by line limit 1`;
const TABLES = `
  create table imported (line integer primary key, ${ORDER_COLUMNS.map((column) => `${column} text`).join(', ')});
  create index imported_id on imported (external_order_id, line)`;

/** Stores the rows of an import in a temporary database, so that a long file blocks no other writer. */
export class ImportTables extends TemporaryTables {
  readonly #insert = this.inserter<ImportRow>('imported', `line, ${COLUMNS}`);
  readonly #first = this.sqlite.prepare<[string], ImportRow>(FIRST);

  constructor() {
    super(TABLES);
  }

  /** Adds a row. Returns the first earlier row with the same id. */
  add(row: ImportRow): ImportRow | undefined {
    const first = this.#first.get(row.external_order_id);
    this.#insert(row);
    return first;
  }

  /** Reads each page to its end, because an unfinished statement keeps the database from being closed. */
  *pages(): Generator<readonly ImportRow[]> {
    const query = `select line, ${COLUMNS} from imported where line > ? order by line limit ${PAGE}`;
    for (let afterLine = 0; ;) {
      const page = [...this.rows<ImportRow>(query, afterLine)];
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
      afterLine = page.at(-1)?.line ?? afterLine;
    }
  }
}
