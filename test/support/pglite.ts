import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { migrate } from '../../src/store/migrations.ts';
import type { Tables } from '../../src/store/schema.ts';
import { FLAGS } from './program.ts';
import { MIGRATIONS } from '../../migrations/postgres/index.ts';

/** The port of the PGlite of this process: one for all its tests, which is emptied for each. */
let port: Promise<number> | undefined;

/** Returns the port of a database with the tables of order-sync, if no server of PostgreSQL is on this machine. */
export async function newPglite(): Promise<number> {
  port ??= start();
  const pool = new pg.Pool({ host: '127.0.0.1', port: await port, user: 'order_sync', database: 'postgres' });
  await pool.query('rollback; drop schema public cascade; create schema public');
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await migrate(db, { migrations: MIGRATIONS, address: 'PGlite' }, (error) => error);
  await db.destroy();
  return await port;
}

async function start(): Promise<number> {
  const worker = new Worker(new URL('pglite-server.ts', import.meta.url), { execArgv: FLAGS });
  const [listening] = (await once(worker, 'message')) as [number];
  worker.unref();
  return listening;
}
