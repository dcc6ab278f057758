import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { Kysely, PostgresDialect } from 'kysely';
import { migrate } from '../../src/store/migrations.ts';
import type { Tables } from '../../src/store/schema.ts';
import type { PostgresTestDatabase } from './postgres.ts';
import { OWNER, startPostgres, type PostgresServer, postgresOfTests } from './postgres-server.ts';
import { MIGRATIONS } from '../../migrations/postgres/index.ts';

const TEMPLATE = 'order_sync_template';
/** Databases that are made before they are asked for, while tests run. */
const READY = 2;

declare module 'vitest' {
  interface ProvidedContext {
    /** The socket on which this process hands databases to tests. */
    postgres: string;
  }
}

/** Hands databases to the tests of all workers. The server is started when the first test asks, and stopped at the end. */
export default function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  let databases: Promise<Databases | undefined> | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    databases ??= Databases.start();
    const answer = async () => {
      const all = await databases;
      const [dropped, copied] = ['drop', 'copy'].map((name) => url.searchParams.get(name));
      if (typeof copied === 'string') return await all?.copy(copied);
      return await (typeof dropped === 'string' ? all?.drop(dropped) : all?.take());
    };
    answer().then(
      (given) => response.end(JSON.stringify(given ?? null)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const path = join(folder, 'databases.sock');
  server.listen(path).unref();
  project.provide('postgres', path);
  return async () => {
    server.close();
    server.closeAllConnections();
    await (await databases)?.close();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The databases of one run of the tests, each a copy of a migrated one. */
class Databases {
  readonly #server: PostgresServer;
  readonly #admin: pg.Pool;
  readonly #ready: Promise<string>[] = [];
  #made = 0;

  private constructor(server: PostgresServer, admin: pg.Pool) {
    this.#server = server;
    this.#admin = admin;
  }

  static async start(): Promise<Databases | undefined> {
    const bin = postgresOfTests();
    if (bin === undefined) return undefined;
    const server = await startPostgres(bin);
    const admin = server.admin();
    // Rights are of the whole server, so a test that took this one back would take it from others too.
    await admin.query(`grant pg_read_all_stats to ${OWNER}`);
    await makeTemplate(server, admin);
    return new Databases(server, admin);
  }

  async take(): Promise<PostgresTestDatabase> {
    while (this.#ready.length <= READY) {
      const making = this.#makeNew();
      // It fails for the test that takes it.
      making.catch(() => undefined);
      this.#ready.push(making);
    }
    const name = await this.#ready.shift();
    if (name === undefined) throw new Error('no database was made');
    return this.#describe(name);
  }

  async copy(name: string): Promise<PostgresTestDatabase> {
    return this.#describe(await this.#make(name));
  }

  /** Nothing waits for it. */
  drop(name: string): undefined {
    this.#admin.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`).catch(() => undefined);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#ready);
    await this.#admin.end();
    await this.#server[Symbol.asyncDispose]();
  }

  /** As a migration of its own makes it: with an id that no other has. */
  async #makeNew(): Promise<string> {
    const name = await this.#make(TEMPLATE);
    const admin = this.#server.admin(name);
    await admin.query('update database_identity set id = gen_random_uuid()');
    await admin.end();
    return name;
  }

  async #make(template: string): Promise<string> {
    const name = `test_${(this.#made += 1)}`;
    await this.#admin.query(`create database ${name} template ${pg.escapeIdentifier(template)} owner ${OWNER}`);
    return name;
  }

  #describe(name: string): PostgresTestDatabase {
    const { folder, port } = this.#server;
    return { url: this.#server.url(name), connection: { host: folder, port, user: OWNER, database: name } };
  }
}

/** Text is ordered by a language, if the server can do that: the order that the program relies on must not come from the database. */
async function makeTemplate(server: PostgresServer, admin: pg.Pool): Promise<void> {
  const make = `create database ${TEMPLATE} owner ${OWNER} template template0`;
  await admin.query(`${make} locale_provider icu icu_locale 'en-US'`).catch(() => admin.query(make));
  const dialect = new PostgresDialect({ pool: new pg.Pool({ connectionString: server.url(TEMPLATE) }) });
  const db = new Kysely<Tables>({ dialect });
  await migrate(db, { migrations: MIGRATIONS, address: TEMPLATE }, (error) => error);
  await db.destroy();
}
