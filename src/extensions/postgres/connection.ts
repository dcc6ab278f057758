import { createHash } from 'node:crypto';
import { Kysely, PostgresAdapter, PostgresDialect, sql, type CompiledQuery, type MigrationLockOptions } from 'kysely';
import pg from 'pg';
import type { PostgresDatabase } from '../../settings/database.ts';
import type { StoreError } from '../../store/errors.ts';
import type { Database } from '../../store/port.ts';
import type { Tables } from '../../store/schema.ts';
import { breakOffLate, Client, clientConfig, clientsOf, LAST_ANSWER_MS, storableValues } from './client.ts';
import { PostgresCompiler } from './dialect.ts';
import { isAborted, isConnectionLost, isNameLost, isReadOnly, isStale, postgresError } from './errors.ts';
import { Primary } from './hosts/primary.ts';

const IDLE_MS = 10_000;
/** Connections keep plans, and a plan made for a small table is slow on a large one. A busy connection closes later. */
const LIFETIME_S = 60;
/** The most statements with a name, which are parsed and planned once a connection. The program has fewer. */
const KEPT_STATEMENTS = 500;
export const MOST_STALE = 3;

interface ConnectionOptions {
  readonly max: number;
  /** True (the default) if statements have names, which sessions keep. A snapshot cannot restart if a name is lost. */
  readonly areNamed?: boolean;
  readonly answerTimeoutMs?: number;
  readonly hurry?: AbortSignal | undefined;
  readonly primary?: Primary | undefined;
}

/** A connection that one user has to itself. Every error of it is a `StoreError`. */
export interface Lent extends Disposable {
  readonly db: Database;
  /** Runs statements that stand in one text, without parameters; returns the result of the last one. */
  exec(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly command: string }>;
  /** Calls `onNotice` for each notice of a channel with its payload, until the connection ends. */
  listen(channel: string, to: { onNotice(payload: string): void; onEnd(): void }): Promise<void>;
  /** Returns the connection to the pool, or closes it if it was lost or `isUseless`. */
  release(isUseless?: boolean): void;
}

export interface Connections extends AsyncDisposable {
  readonly db: Database;
  lend(): Promise<Lent>;
}

/** Prepares connections; the first is made when needed. Throws `StoreError` if the certificates cannot be read. */
export function openConnections(place: PostgresDatabase, options: ConnectionOptions): Connections {
  const { primary = new Primary(place), max } = options;
  const pool = new pg.Pool({
    ...clientConfig(place),
    max,
    Client: Client as never,
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: LIFETIME_S,
    // Statements that do not wait for each other share a round trip.
    pipeline: true,
    ...primary.poolOptions,
  });
  // A connection that is lost while it is unused leaves the pool by itself; one in use tells its user.
  pool.on('error', (_, client) => {
    if ((client as unknown as Client).server === primary.server) primary.doubt(false);
  });
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Pool(pool, place.address, primary, options);
}

class Pool implements Connections {
  readonly db: Database;
  readonly #pool: pg.Pool;
  readonly #address: string;
  readonly #options: ConnectionOptions;
  readonly #adapter = new Adapter();
  readonly #names = new Map<string, string>();
  readonly #links = new WeakMap<pg.PoolClient, Link>();
  readonly #primary: Primary;
  readonly #following: Disposable;
  /** Raised when prepared statements are stale, or another server takes writes. Older connections are then replaced. */
  #epoch = 0;
  /** A pooler that changes sessions between transactions loses the names. */
  #keepsNames: boolean;

  constructor(pool: pg.Pool, address: string, primary: Primary, options: ConnectionOptions) {
    this.#pool = pool;
    this.#address = address;
    this.#primary = primary;
    this.#options = options;
    this.#keepsNames = options.areNamed ?? true;
    const clients = clientsOf(pool);
    if (options.hurry !== undefined) breakOffLate(clients, options.hurry);
    this.#following = primary.onChange((server) => {
      this.#epoch += 1;
      for (const client of clients) if (client.server !== server) client.breakOff();
    });
    const run = async <Row>(query: CompiledQuery<Row>) => {
      for (let tries = 0; ; tries += 1) {
        const link = await this.#connect();
        try {
          return await link.run(query);
        } catch (error) {
          if (!isStale(error) || tries === MOST_STALE) throw error;
        } finally {
          link.release();
        }
      }
    };
    this.db = kyselyOf(this.#adapter, () => this.#connect(), run);
  }

  async lend(): Promise<Lent> {
    return await this.#connect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following[Symbol.dispose]();
    await this.#pool.end();
  }

  async #connect(): Promise<Link> {
    for (;;) {
      const client = await this.#primary
        .connect(() => this.#pool.connect())
        .catch((error: unknown) => {
          throw postgresError(error, this.#address);
        });
      const known = this.#links.get(client);
      if (known?.epoch === this.#epoch) return known;
      if (known === undefined) return this.#link(client);
      known.release(true);
    }
  }

  #link(client: pg.PoolClient): Link {
    const epoch = this.#epoch;
    const link = new Link({
      client,
      address: this.#address,
      adapter: this.#adapter,
      nameOf: (text) => this.#nameOf(text),
      epoch,
      onStale: (error) => {
        if (isNameLost(error)) this.#keepsNames = false;
        if (epoch === this.#epoch) this.#epoch += 1;
      },
      onLost: (takesNoWrites) => {
        if (epoch === this.#epoch) this.#primary.doubt(takesNoWrites);
      },
      ...this.#options,
    });
    this.#links.set(client, link);
    return link;
  }

  #nameOf(text: string): string | undefined {
    if (!this.#keepsNames) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= KEPT_STATEMENTS) return known;
    // Named by a hash of the text, because a pooler may give the connection a session of another process.
    const name = `order_sync_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    this.#names.set(text, name);
    return name;
  }
}

interface LinkOptions extends Pick<ConnectionOptions, 'answerTimeoutMs' | 'hurry'> {
  readonly client: pg.PoolClient;
  readonly address: string;
  readonly adapter: Adapter;
  readonly nameOf: (text: string) => string | undefined;
  readonly epoch: number;
  readonly onStale: (error: unknown) => void;
  readonly onLost: (takesNoWrites: boolean) => void;
}

class Link implements Lent {
  readonly db: Database;
  readonly #options: LinkOptions;
  #isLost = false;
  #failure: StoreError | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.db = kyselyOf(
      options.adapter,
      async () => ({ query: (text, values) => this.query(text, values), release: () => undefined }),
      (query) => this.run(query),
    );
  }

  get epoch(): number {
    return this.#options.epoch;
  }

  async run<Row>({ sql: text, parameters }: CompiledQuery<Row>) {
    const { rows, rowCount } = await this.#send<Row>({
      text,
      values: storableValues(parameters),
      name: this.#options.nameOf(text),
    });
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  /** Runs a statement that Kysely built for one use, without a name. */
  async query<Row>(text: string, values: readonly unknown[]) {
    return await this.#send<Row>({ text, values: storableValues(values) });
  }

  async exec(text: string) {
    const result: unknown = await this.#send({ text });
    const last = (Array.isArray(result) ? result.at(-1) : result) as pg.QueryResult<Record<string, unknown>>;
    return { rows: last.rows, command: last.command };
  }

  async listen(channel: string, to: { onNotice(payload: string): void; onEnd(): void }): Promise<void> {
    const { client } = this.#options;
    client.on('notification', ({ payload = '' }) => to.onNotice(payload));
    client.once('end', () => to.onEnd());
    await this.exec(`listen ${pg.escapeIdentifier(channel)}`);
  }

  release(isUseless = false): void {
    this.#options.client.release(isUseless || this.#isLost);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  async #send<Row>(query: { readonly text: string; readonly values?: unknown[]; readonly name?: string | undefined }) {
    const { client, address, hurry } = this.#options;
    const answerTimeoutMs = hurry?.aborted === true ? LAST_ANSWER_MS : this.#options.answerTimeoutMs;
    try {
      // The driver's type lacks `query_timeout`.
      const limited = answerTimeoutMs === undefined ? query : { ...query, query_timeout: answerTimeoutMs };
      const result = (await client.query(limited)) as unknown as pg.QueryResult & { rows: Row[]; command: Command };
      this.#failure = undefined;
      return result;
    } catch (error) {
      if (isStale(error)) this.#options.onStale(error);
      if (isConnectionLost(error) || isReadOnly(error)) this.#options.onLost(isReadOnly(error));
      this.#isLost ||= isConnectionLost(error) || isStale(error);
      // After a failed statement, later ones only fail because the transaction is aborted, so the first failure counts.
      if (!isAborted(error) || this.#failure === undefined) this.#failure = postgresError(error, address);
      throw this.#failure;
    }
  }
}

type Command = 'UPDATE' | 'DELETE' | 'INSERT' | 'SELECT' | 'MERGE';

type Connect = () => Promise<Pick<Link, 'query'> & { release(): void }>;

function kyselyOf(adapter: Adapter, connect: Connect, run: NonNullable<Database['run']>): Database {
  const dialect = new PostgresDialect({ pool: { connect, end: async () => undefined } as never });
  dialect.createAdapter = () => adapter;
  dialect.createQueryCompiler = () => new PostgresCompiler();
  return Object.assign(new Kysely<Tables>({ dialect }), { run });
}

/** Orders migrations by the row of the lock's table: an advisory lock fails behind a pooler that changes sessions. */
class Adapter extends PostgresAdapter {
  override async acquireMigrationLock(
    db: Kysely<unknown>,
    { lockTable, lockRowId }: MigrationLockOptions,
  ): Promise<void> {
    await sql`select id from ${sql.table(lockTable)} where id = ${lockRowId} for update`.execute(db);
  }

  override async releaseMigrationLock(): Promise<void> {}
}
