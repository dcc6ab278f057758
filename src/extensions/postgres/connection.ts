import { createHash } from 'node:crypto';
import { Kysely, PostgresAdapter, PostgresDialect, sql, type CompiledQuery, type MigrationLockOptions } from 'kysely';
import pg from 'pg';
import { deadline } from '../../base/clock.ts';
import type { PostgresDatabase } from './place/settings.ts';
import type { StoreError } from '../../store/errors.ts';
import type { Database } from '../../store/port.ts';
import type { Tables } from '../../store/schema.ts';
import { Client, clientConfig, storableValues } from './client.ts';
import { PostgresCompiler } from './dialect.ts';
import { isAborted, isConnectionLost, isNameLost, isReadOnly, isStale, postgresError } from './errors.ts';
import { Primary } from './hosts/primary.ts';

const IDLE_MS = 10_000;
/** How long a connection and its plans are used. A plan made for a small table is slow once the table is large. */
const LIFETIME_S = 60;
/** The most named statements, which each connection parses and plans once. The program has fewer. */
const KEPT_STATEMENTS = 500;
export const MOST_STALE = 3;
/** How long a process waits for an answer once `hurry` has aborted. */
const LAST_ANSWER_MS = 2_000;

interface ConnectionOptions {
  readonly max: number;
  /** True (the default) to prepare statements by name. False for snapshots, which cannot restart after a lost name. */
  readonly areNamed?: boolean;
  readonly answerTimeoutMs?: number;
  readonly hurry?: AbortSignal | undefined;
  readonly primary?: Primary | undefined;
}

/** A connection that is lent to one user at a time. Its methods throw `StoreError`. */
export type Lent = Pick<Link, 'db' | 'exec' | 'listen' | 'release' | 'rollBack' | typeof Symbol.dispose>;

export interface Connections extends AsyncDisposable {
  readonly db: Database;
  lend(): Promise<Lent>;
}

/** Returns a pool that connects when it is first used. Throws `StoreError` if the certificates cannot be read. */
export function openConnections(place: PostgresDatabase, options: ConnectionOptions): Connections {
  return new Pool(place, options);
}

class Pool implements Connections {
  readonly db: Database;
  readonly adapter = new Adapter();
  readonly place: PostgresDatabase;
  readonly options: ConnectionOptions;
  readonly #pool: pg.Pool;
  readonly #primary: Primary;
  readonly #following: Disposable;
  readonly #names = new Map<string, string>();
  readonly #links = new Map<pg.PoolClient, Link>();
  /** Goes up when prepared statements are stale or the primary changes. Connections of an earlier epoch are closed. */
  #epoch = 0;
  /** False for snapshots, and once a pooler that changes sessions between transactions has lost a name. */
  #keepsNames: boolean;

  constructor(place: PostgresDatabase, options: ConnectionOptions) {
    const { primary = new Primary(place), areNamed = true, max, hurry } = options;
    this.place = place;
    this.options = options;
    this.#primary = primary;
    this.#keepsNames = areNamed;
    const common = { ...clientConfig(place), ...primary.poolOptions, Client: Client as never };
    const limits = { max, idleTimeoutMillis: IDLE_MS, maxLifetimeSeconds: LIFETIME_S };
    // With `pipeline`, statements that do not wait for each other share a round trip.
    this.#pool = new pg.Pool({ ...common, ...limits, pipeline: true });
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
      this.#links.set(client, new Link(this, client as never, this.#epoch));
    });
    this.#pool.on('remove', (client) => this.#links.delete(client));
    // The pool removes an unused connection that is lost. If a connection in use is lost, its statement fails.
    this.#pool.on('error', (_, client) => {
      if ((client as unknown as Client).server === primary.server) primary.doubt(false);
    });
    this.#following = primary.onChange((server) => {
      this.#epoch += 1;
      for (const { client } of this.#links.values()) if (client.server !== server) client.breakOff();
    });
    hurry?.addEventListener('abort', () => this.#breakOffLate(), { once: true });
    this.db = kyselyOf(
      this.adapter,
      () => this.lend(),
      (query) => this.#run(query),
    );
  }

  async lend(): Promise<Link> {
    for (;;) {
      const client = await this.#primary
        .connect(() => this.#pool.connect())
        .catch((error: unknown) => {
          throw postgresError(error, this.place.address);
        });
      const link = this.#links.get(client)!;
      if (link.epoch === this.#epoch) return link;
      link.release(true);
    }
  }

  nameOf(text: string): string | undefined {
    if (!this.#keepsNames) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= KEPT_STATEMENTS) return known;
    // The name is a hash of the text, because a pooler may lend a session in which another process has prepared names.
    const name = `order_sync_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    this.#names.set(text, name);
    return name;
  }

  noteFailure(error: unknown, epoch: number): void {
    if (isNameLost(error)) this.#keepsNames = false;
    if (epoch !== this.#epoch) return;
    if (isStale(error)) this.#epoch += 1;
    else if (isConnectionLost(error) || isReadOnly(error)) this.#primary.doubt(isReadOnly(error));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following[Symbol.dispose]();
    await this.#pool.end();
  }

  async #run<Row>(query: CompiledQuery<Row>) {
    for (let tries = 0; ; tries += 1) {
      using link = await this.lend();
      try {
        return await link.run(query);
      } catch (error) {
        if (!isStale(error) || tries === MOST_STALE) throw error;
      }
    }
  }

  #breakOffLate(): void {
    const late = [...this.#links.values()];
    deadline(LAST_ANSWER_MS).addEventListener('abort', () => late.forEach(({ client }) => client.breakOff()));
  }
}

class Link implements Disposable {
  readonly db: Database;
  readonly epoch: number;
  readonly client: Client & Pick<pg.PoolClient, 'release'>;
  readonly #pool: Pool;
  #isLost = false;
  #failure: StoreError | undefined;

  constructor(pool: Pool, client: Link['client'], epoch: number) {
    this.#pool = pool;
    this.client = client;
    this.epoch = epoch;
    this.db = kyselyOf(
      pool.adapter,
      async () => ({ query: (text, values) => this.query(text, values), release: () => undefined }),
      (query) => this.run(query),
    );
  }

  async run<Row>({ sql: text, parameters }: CompiledQuery<Row>) {
    const query = { text, values: storableValues(parameters), name: this.#pool.nameOf(text) };
    const { rows, rowCount } = await this.#send<Row>(query);
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  /** Runs a statement that Kysely built for one use, without a name. */
  async query<Row>(text: string, values: readonly unknown[]) {
    return await this.#send<Row>({ text, values: storableValues(values) });
  }

  /** Runs the statements of one text, without parameters. Returns the result of the last statement. */
  async exec<Row>(text: string): Promise<{ readonly rows: readonly Row[]; readonly command: string }> {
    const result: unknown = await this.#send({ text });
    return (Array.isArray(result) ? result.at(-1) : result) as never;
  }

  async listen(channel: string, to: { onNotice(payload: string): void; onEnd(): void }): Promise<void> {
    this.client.on('notification', ({ payload = '' }) => to.onNotice(payload));
    this.client.once('end', () => to.onEnd());
    await this.exec(`listen ${pg.escapeIdentifier(channel)}`);
  }

  release(isUseless = false): void {
    this.client.release(isUseless || this.#isLost);
  }

  async rollBack(): Promise<void> {
    const over = this.#isLost ? undefined : await this.exec('rollback').catch(() => undefined);
    this.release(over === undefined);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  async #send<Row>(query: { readonly text: string; readonly values?: unknown[]; readonly name?: string | undefined }) {
    const { place, options } = this.#pool;
    const answerTimeoutMs = options.hurry?.aborted === true ? LAST_ANSWER_MS : options.answerTimeoutMs;
    try {
      // The driver's type lacks `query_timeout`.
      const limited = answerTimeoutMs === undefined ? query : { ...query, query_timeout: answerTimeoutMs };
      const result = await this.client.query(limited);
      this.#failure = undefined;
      return result as unknown as pg.QueryResult & { rows: Row[] };
    } catch (error) {
      this.#pool.noteFailure(error, this.epoch);
      this.#isLost ||= isConnectionLost(error) || isStale(error);
      // The first failure counts, because later statements fail only as parts of an aborted transaction.
      if (!isAborted(error) || this.#failure === undefined) this.#failure = postgresError(error, place.address);
      throw this.#failure;
    }
  }
}

type Connect = () => Promise<Pick<Link, 'query'> & { release(): void }>;

function kyselyOf(adapter: Adapter, connect: Connect, run: NonNullable<Database['run']>): Database {
  const dialect = new PostgresDialect({ pool: { connect, end: async () => undefined } as never });
  dialect.createAdapter = () => adapter;
  dialect.createQueryCompiler = () => new PostgresCompiler();
  return Object.assign(new Kysely<Tables>({ dialect }), { run });
}

/** Locks migrations by a row, because an advisory lock fails behind a pooler that changes sessions. */
class Adapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>, { lockTable, lockRowId }: MigrationLockOptions) {
    await sql`select id from ${sql.table(lockTable)} where id = ${lockRowId} for update`.execute(db);
  }

  override async releaseMigrationLock(): Promise<void> {}
}
