import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  findPostgres,
  OWNER,
  PASSWORD,
  startPostgres,
  startStandby,
  type PostgresServer,
  type Standby,
} from './postgres-server.ts';

/** A primary and its standby, of a test's own. Each has the empty database `shop`. */
export interface Cluster {
  readonly old: PostgresServer;
  readonly next: Standby;
  /** Resolves once the standby has all that the primary has. */
  readonly catchUp: () => Promise<void>;
  /** Promotes the standby once it has caught up. */
  readonly promote: () => Promise<void>;
  /** Starts the old primary again as a standby that receives nothing. */
  readonly demote: () => Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const bin = findPostgres() ?? '';
  const old = await startPostgres(bin);
  onTestFinished(() => old[Symbol.asyncDispose]());
  await ask(old, `create database shop owner ${OWNER}`);
  const next = await startStandby(bin, old);
  onTestFinished(() => next[Symbol.asyncDispose]());
  const catchUp = async () => {
    // A commit sends the end of the log at once. An idle server may keep it for seconds.
    await ask(old, `select pg_logical_emit_message(true, '', '')`);
    const end = 'select pg_current_wal_insert_lsn()::text as position';
    const [{ position } = {}] = await ask<{ position: string }>(old, end);
    const hasAll = `select pg_last_wal_replay_lsn() >= '${position}' as has`;
    while ((await ask<{ has: boolean }>(next, hasAll))[0]?.has !== true);
  };
  return {
    old,
    next,
    catchUp,
    async promote() {
      await catchUp();
      await next.promote();
    },
    async demote() {
      await old.stop();
      writeFileSync(join(old.folder, 'data', 'standby.signal'), '');
      await old.start();
    },
  };
}

/** Runs a statement as the superuser. */
export async function ask<Row extends object>(server: PostgresServer, sql: string, database?: string): Promise<Row[]> {
  const admin = server.admin(database);
  try {
    return (await admin.query<Row>(sql)).rows;
  } finally {
    await admin.end();
  }
}

/** A host as the URL names it, such as `127.0.0.1:5433`, or a port of loopback. */
export type HostName = string | { readonly port: number };

/** The address of `shop` with several hosts. */
export function hostsUrl(...hosts: readonly HostName[]): string {
  const names = hosts.map((one) => (typeof one === 'string' ? one : `127.0.0.1:${one.port}`));
  return `postgres://${OWNER}:${encodeURIComponent(PASSWORD)}@${names.join()}/shop`;
}

/** Listens on loopback, and never answers. */
export async function silentServer(): Promise<{ readonly port: number; readonly calls: readonly Socket[] }> {
  const calls: Socket[] = [];
  const server = createServer((socket) => calls.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of calls) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, calls };
}
