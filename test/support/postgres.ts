import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';
import type { GivenDatabase } from './postgres-setup.ts';

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

/** Makes a database that is gone when the test is finished. */
export async function newPostgresDatabase(): Promise<PostgresTestDatabase> {
  const { url, name, host, port } = await ask('/');
  if (url === undefined || name === undefined || host === undefined || port === undefined)
    throw new Error('no PostgreSQL');
  onTestFinished(async () => void (await ask(`/?drop=${name}`)));
  return { url, connection: { host, port, user: 'order_sync', database: name } };
}

async function ask(path: string): Promise<GivenDatabase> {
  const asked = request({ socketPath: inject('postgres'), path }).end();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject);
  });
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(body);
  return JSON.parse(body) as GivenDatabase;
}
