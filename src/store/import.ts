import { sql, type Kysely } from 'kysely';
import type { Tables } from './schema.ts';
import type { Store } from './store.ts';

/** The columns an import fills. */
export const IMPORT_COLUMNS = [
  'external_order_id',
  'asset',
  'asset_position',
  'from_currency',
  'to_currency',
  'order_type',
  'order_limit',
  'payment_token',
  'provider_type',
  'crypto_address',
  'bonus',
] as const;

/** A checked row of an import, with the line it came from. */
export type ImportRow = Readonly<Record<(typeof IMPORT_COLUMNS)[number], string | null>> & { readonly line: number };

/** Two rows with the same id and other content: `line` is the later one, `other` where the first is. */
export interface ImportConflict {
  readonly line: number;
  readonly external_order_id: string;
  readonly other: string;
}

interface Staging extends Tables {
  import_rows: Record<(typeof IMPORT_COLUMNS)[number], string | null> & { line: number };
}

const SAME = sql.raw(IMPORT_COLUMNS.map((column) => `a.${column} is b.${column}`).join(' and '));

/**
 * Rows on their way in. They wait in a temporary table of this connection, so that no other program waits while a long
 * file is read, and memory does not grow with it.
 */
export class ImportStage {
  readonly #store: Store;
  readonly #db: Kysely<Staging>;

  private constructor(store: Store) {
    this.#store = store;
    this.#db = store.db;
  }

  static async open(store: Store): Promise<ImportStage> {
    const columns = sql.raw(IMPORT_COLUMNS.map((column) => `${column} text`).join(', '));
    await sql`create temporary table import_rows (line integer primary key, ${columns})`.execute(store.db);
    await sql`create index temp.import_rows_id on import_rows (external_order_id)`.execute(store.db);
    return new ImportStage(store);
  }

  /** Takes a batch of at most 1,000 rows. */
  async take(rows: readonly ImportRow[]): Promise<void> {
    if (rows.length > 0)
      await this.#db
        .insertInto('import_rows')
        .values([...rows])
        .execute();
  }

  /** At most `limit` conflicts within the file, and with orders that are there already. */
  async conflicts(account: string, limit: number): Promise<ImportConflict[]> {
    const inFile = await sql<ImportConflict>`
      select b.line, b.external_order_id, 'line ' || a.line as other
      from import_rows b
      join import_rows a on a.external_order_id = b.external_order_id
        and a.line = (select min(line) from import_rows where external_order_id = b.external_order_id)
      where a.line < b.line and not (${SAME}) order by b.line limit ${limit}`.execute(this.#db);
    const inTable = await sql<ImportConflict>`
      select b.line, b.external_order_id, 'merchant_orders' as other
      from import_rows b join merchant_orders a
        on a.account = ${account} and a.external_order_id = b.external_order_id
      where not (${SAME}) order by b.line limit ${limit}`.execute(this.#db);
    return [...inFile.rows, ...inTable.rows].toSorted((one, other) => one.line - other.line).slice(0, limit);
  }

  /** Inserts every row that is not there yet, all in one transaction; how many. */
  async insert(account: string): Promise<number> {
    const columns = sql.raw(IMPORT_COLUMNS.join(', '));
    return await this.#store.writer.write(async (tx) => {
      const result = await sql`
        insert into merchant_orders (account, ${columns})
        select ${account}, ${columns} from import_rows r
        where line = (select min(line) from import_rows where external_order_id = r.external_order_id)
          and not exists (select 1 from merchant_orders
            where account = ${account} and external_order_id = r.external_order_id)`.execute(tx);
      return Number(result.numAffectedRows ?? 0n);
    });
  }
}
