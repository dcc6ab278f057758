import { OWNER, type PostgresServer } from '../../test/support/postgres-server.ts';
import { runProgram } from '../child.ts';
import type { Bench } from '../settings.ts';

/** A part that works on a PostgreSQL server of its own. */
export interface ServerBench extends Bench {
  readonly server: PostgresServer;
  /** The folder of PostgreSQL's programs. */
  readonly bin: string;
}

/** Makes a database as `order-sync db migrate` does; its URL. */
export async function makeDatabase({ server, folder }: ServerBench, name: string): Promise<string> {
  const admin = server.admin();
  await admin.query(`create database ${name} owner ${OWNER}`);
  await admin.end();
  const url = server.url(name);
  await runProgram(folder, ['db', 'migrate'], { ORDER_SYNC_CONFIG: '/dev/null', ORDER_SYNC_DATABASE_URL: url });
  return url;
}
