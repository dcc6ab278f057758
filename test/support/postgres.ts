import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';
import { newPglite } from './pglite.ts';
import { OWNER } from './postgres-server.ts';

/** A database of PostgreSQL with the tables of order-sync. */
export interface PostgresTestDatabase {
  /** As it stands in the settings, with the password of its owner. */
  readonly url: string;
  /** How its owner gets in without a password: the folder of the server's socket, or the address of PGlite. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
}

/** Makes a database that is gone when the test is finished; in PGlite there is one at a time. */
export async function newPostgresDatabase(): Promise<PostgresTestDatabase> {
  const given = await ask('/');
  if (given !== undefined) onTestFinished(async () => void (await ask(`/?drop=${given.connection.database}`)));
  return given ?? (await pgliteDatabase());
}

/** Makes a copy as it is now, under another name; no process may be connected with the original. Not in PGlite. */
export async function copyPostgresDatabase({ connection }: PostgresTestDatabase): Promise<PostgresTestDatabase> {
  const copy = await ask(`/?copy=${connection.database}`);
  if (copy === undefined) throw new Error('there is no server that could copy a database');
  onTestFinished(async () => void (await ask(`/?drop=${copy.connection.database}`)));
  return copy;
}

async function pgliteDatabase(): Promise<PostgresTestDatabase> {
  const connection = { host: '127.0.0.1', port: await newPglite(), user: OWNER, database: 'postgres' };
  return { url: `postgres://${OWNER}@127.0.0.1:${connection.port}/postgres`, connection };
}

/** Asks the process that runs the tests; undefined if it found no server. */
async function ask(path: string): Promise<PostgresTestDatabase | undefined> {
  // A connection that is kept may be closed by the other side while it is taken again.
  const asked = request({ socketPath: inject('postgres'), path, agent: false }).end();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject);
  });
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(body);
  return (JSON.parse(body) ?? undefined) as PostgresTestDatabase | undefined;
}
