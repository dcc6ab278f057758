import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { OWNER, PASSWORD, type PostgresServer } from '../support/postgres-server.ts';
import { mountDisk, type Disk } from './machine.ts';
import { postgresShop, sqliteShop, type Shop } from './shop.ts';
import { openWay, type Way } from './way.ts';

/** The parts of PostgreSQL that a file does not have. */
interface ServerGround {
  readonly server: PostgresServer;
  /** The workers' way to it. */
  readonly way: Way;
  readonly pool: pg.Pool;
}

/** A database for the processes of a tunnel. */
export interface Ground extends AsyncDisposable {
  /** As the settings name it. */
  readonly database: object;
  readonly shop: Shop;
  readonly postgres?: ServerGround;
  /** The file. */
  readonly path?: string;
  /** The file's own disk, if this process may mount one. */
  readonly disk?: Disk;
}

/** A file. */
export function plainFile(folder: string): Ground {
  const path = join(folder, 'orders.db');
  return { database: { url: `sqlite:${path}` }, shop: sqliteShop(path), path, async [Symbol.asyncDispose]() {} };
}

/** A file, on a small disk of its own if that is possible. */
export function sqliteGround(folder: string): Ground {
  const place = join(folder, 'disk');
  mkdirSync(place);
  const disk = mountDisk(place);
  if (disk === undefined) return plainFile(place);
  return { ...plainFile(place), disk, [Symbol.asyncDispose]: async () => disk.unmount() };
}

/** A database of a server, with a way for the workers that can be cut, and one for the shops that cannot. */
export async function postgresGround(server: PostgresServer, name: string): Promise<Ground> {
  const admin = server.admin();
  await admin.query(`create database ${name} owner ${OWNER}`);
  await admin.end();
  const way = await openWay(server.port);
  const shop = postgresShop(server, name);
  return {
    database: { url: `postgres://${OWNER}@127.0.0.1:${way.port}/${name}`, password: PASSWORD, poolSize: 8 },
    shop,
    postgres: { server, way, pool: shop.pool },
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
      await way[Symbol.asyncDispose]();
    },
  };
}
