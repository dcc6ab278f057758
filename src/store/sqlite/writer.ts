import type { CompiledQuery, QueryResult, SqliteDatabase } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import { lostFile } from '../errors.ts';
import type { Transactions } from '../group-writer.ts';
import type { Database, Work } from '../port.ts';
import type { Connection } from './connection.ts';
import { isBusy, rowError } from './errors.ts';

const BUSY_TRIES = 40;
const BUSY_WAIT_MS = 50;

export class FileTransactions implements Transactions {
  readonly #connection: Connection;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  isInPlace(): boolean {
    return this.#connection.isInPlace();
  }

  async run<Result>(work: Work<Result>, signal: AbortSignal): Promise<Result> {
    const { path, sqlite, kysely, statements } = this.#connection;
    if (!this.#connection.isInPlace()) throw lostFile(path);
    for (let tries = 1; ; tries += 1) {
      try {
        return await kysely.transaction().execute((tx) => work(Object.assign(tx, { run: runOn(statements) })));
      } catch (error) {
        if (!isBusy(error) || tries >= BUSY_TRIES || signal.aborted) {
          throw rowError(error, path, () => triggersOfOthers(sqlite));
        }
        await this.#clock.sleep(BUSY_WAIT_MS, signal).catch(() => undefined);
      }
    }
  }
}

function triggersOfOthers(sqlite: Connection['sqlite']): readonly string[] {
  const select = `select name from sqlite_master where type = 'trigger'
    and name not glob 'merchant_orders_*' and name not glob 'events_*' order by name`;
  return sqlite.prepare<[], string>(select).pluck().all();
}

/** Runs compiled queries on the driver, which a transaction has to itself until it ends. */
function runOn(database: SqliteDatabase): NonNullable<Database['run']> {
  return <Row>({ sql, parameters }: CompiledQuery<Row>): QueryResult<Row> => {
    const prepared = database.prepare(sql);
    if (prepared.reader) return { rows: prepared.all(parameters) as Row[] };
    const { changes, lastInsertRowid } = prepared.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };
}
