import type { Clock } from '../../src/base/clock.ts';
import { StoreError } from '../../src/store/errors.ts';
import { GroupWriter, type Transactions } from '../../src/store/group-writer.ts';
import type { Database, AccountLease, Store, Work } from '../../src/store/port.ts';
import { Standbys } from '../../src/extensions/postgres/standbys.ts';
import { AccountTransactions } from '../../src/extensions/postgres/writer.ts';
import { storeError } from '../../src/store/sqlite/errors.ts';
import { CompiledQuery, sql, type Kysely } from 'kysely';
import { RUN_DEFERRED } from './shop.ts';

/** The fate of a commit: it is done and says so, or its connection is lost before or after it is done. */
export type CommitFate = 'heard' | 'lost-before' | 'lost-after';

/** The server that processes share. */
export interface SimulatedServer {
  /** It has another one after each promotion of a standby. */
  readonly timeLine: string;
  /** The merchant has a trigger that is deferred to the end of each transaction. */
  readonly defers: boolean;
  readonly fateOf: () => CommitFate;
  /** Resolves to false if a process has no answer of it. */
  readonly isReached: () => Promise<boolean>;
  /** A promise is broken. */
  fail(promise: string, detail: string): void;
}

/**
 * The database as an owner of an account writes it if many processes share one server: the program's own transactions for
 * that case, on SQLite. A connection may be lost as a transaction is committed; `fateOf` decides.
 */
export function sharedStore(store: Store, clock: Clock, accountLease: AccountLease, server: SimulatedServer): Store {
  const { account } = accountLease;
  const lend = async () => await lendConnection(store, server);
  const standbys = new Standbys({ lend }, clock, store.address, 0);
  const mark = {
    // On one time-line the server never comes back in an older state.
    lostCommit: () => {
      server.fail('what was committed stays', `the last commit of ${account} is gone`);
      return Promise.reject(new Error('the last commit is gone'));
    },
    tellOthers: async () => {},
  };
  const transactions = new AccountTransactions(
    { address: store.address, connections: { lend }, clock, numbering: {}, standbys },
    account,
    { lease: accountLease, mark },
  );
  const writer = new GroupWriter(ofSqlite(transactions, store.address, server), clock, undefined, store.newEvents);
  return { ...store, writer };
}

/** The database as a person's command writes it: its events are numbered by the time-line of the server as well. */
export function numberedStore(store: Store, server: Pick<SimulatedServer, 'timeLine'>): Store {
  const { writer } = store;
  const numbered =
    <Result>(work: Work<Result>): Work<Result> =>
    async (tx) => {
      for (const text of numberingOf(server.timeLine)) await sql.raw(text).execute(tx);
      return await work(tx);
    };
  return {
    ...store,
    writer: {
      write: async (work, about) => await writer.write(numbered(work), about),
      writeUntilDurable: async (work, ...how) => await writer.writeUntilDurable(numbered(work), ...how),
      isReplicated: async (signal) => await writer.isReplicated(signal),
      failure: undefined,
      endGracePeriod: () => writer.endGracePeriod(),
    },
  };
}

/** Has the errors of SQLite mean what they mean to its own writer. */
function ofSqlite(transactions: Transactions, address: string, { defers }: SimulatedServer): Transactions {
  return {
    isInPlace: () => true,
    runDeferred: async (tx) => {
      for (const one of defers ? RUN_DEFERRED : []) await tx.run?.(CompiledQuery.raw(one));
    },
    run: async (work, signal, onFailure) =>
      await transactions.run(
        async (tx) => {
          try {
            return await work(tx);
          } catch (error) {
            throw storeError(error, address);
          }
        },
        signal,
        onFailure,
      ),
  };
}

/** Holds the one connection of the file until it is given back. */
async function lendConnection(store: Store, server: SimulatedServer) {
  const lent = Promise.withResolvers<Kysely<never>>();
  const isBack = Promise.withResolvers<void>();
  (store.db as unknown as Kysely<never>)
    .connection()
    .execute(async (connection) => {
      lent.resolve(connection);
      await isBack.promise;
    })
    .catch(lent.reject);
  const connection = await lent.promise;
  const run = async (text: string) => {
    const { rows } = await sql.raw<Readonly<Record<string, unknown>>>(text).execute(connection);
    return rows;
  };
  // A server ends the transaction of a connection that is closed.
  const release = (isUseless = false) =>
    void (isUseless ? run('rollback') : Promise.resolve()).catch(() => undefined).then(() => isBack.resolve());
  return {
    db: Object.assign(connection, { run: inOrder(connection) }) as unknown as Database,
    release,
    [Symbol.dispose]: () => release(),
    listen: () => Promise.reject(new Error('nothing listens in a simulated world')),
    async exec<Row>(text: string) {
      if (text.startsWith('begin') && !(await server.isReached()))
        throw new StoreError('disk', 'the server does not answer');
      try {
        return { rows: (await execute(text, run, server)) as readonly Row[], command: '' };
      } catch (error) {
        throw storeError(error, store.address);
      }
    },
  };
}

/** A server takes the statements of a connection in the order in which they were sent; Kysely's own connection of SQLite may not. */
function inOrder(connection: Kysely<never>) {
  let last: Promise<unknown> = Promise.resolve();
  return async (query: CompiledQuery) => {
    const result = last.then(async () => await connection.executeQuery(query));
    last = result.catch(() => undefined);
    return await result;
  };
}

async function execute(
  text: string,
  run: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>,
  { fateOf, timeLine, defers }: SimulatedServer,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (text === 'commit') {
    for (const one of defers ? RUN_DEFERRED : []) await run(one);
    const fate = fateOf();
    await run(fate === 'lost-before' ? 'rollback' : 'commit');
    if (fate !== 'heard') throw new StoreError('disk', 'the connection was lost while a transaction was committed');
    return [];
  }
  let rows: readonly Readonly<Record<string, unknown>>[] = [];
  for (const statement of text.split(';').map((one) => one.trim())) {
    // SQLite has no limits of a transaction, and its transactions that write have the file to themselves.
    if (statement.startsWith('begin')) await run('begin immediate');
    else if (statement.startsWith('with noted')) for (const one of numberingOf(timeLine)) await run(one);
    else if (!statement.startsWith('set ')) rows = await run(ofSqliteText(statement, timeLine));
  }
  return rows;
}

function ofSqliteText(statement: string, timeLine: string): string {
  return (
    statement
      .replaceAll('order_sync_time_line()', `'${timeLine}'`)
      // The driver writes text with a backslash so.
      .replaceAll(/ E'((?:[^']|'')*)'/g, (_literal, text: string) => `'${text.replaceAll('\\\\', '\\')}'`)
      .replace(/\s+for update$|, set_config\(.*$/s, '')
  );
}

/** The ids of events begin beyond those of the time-lines before, as a sequence of the server has them. */
function numberingOf(timeLine: string): readonly string[] {
  const before = (Number(timeLine.split('/')[1]) - 1) * 1_000_000_000;
  return [
    `insert into sqlite_sequence (name, seq) select 'events', 0
      where not exists (select 1 from sqlite_sequence where name = 'events')`,
    `update sqlite_sequence set seq = max(seq, ${before}) where name = 'events'`,
  ];
}
