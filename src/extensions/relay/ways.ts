import { hostname } from 'node:os';
import { systemClock } from '../../base/clock.ts';
import type { AccountSettings } from '../../settings/config.ts';
import { openStore, type LoadDriver } from '../../store/open.ts';
import { socketTransport, type Transport, type Ways } from '../api/asking/transport.ts';
import { workerOf } from '../postgres/sharing/workers.ts';
import { tableTransport } from './table-transport.ts';

/** On PostgreSQL the socket of a worker on this machine, or else the database. */
export async function waysThroughDatabase(
  { account, database }: Pick<AccountSettings, 'account' | 'database'>,
  drivers: readonly LoadDriver[],
): Promise<Ways | undefined> {
  if (database.kind === 'sqlite') return undefined;
  const clock = systemClock();
  const store = await openStore(database, clock, { expect: 'current', drivers });
  return {
    async find(): Promise<readonly Transport[]> {
      const worker = await workerOf(store.db, account);
      if (worker === undefined) return [];
      const { holder, host, socket, publicKey } = worker;
      return [
        ...(socket !== null && host === hostname() ? [socketTransport(socket)] : []),
        ...(publicKey === null ? [] : [tableTransport({ store, clock }, { holder, publicKey }, account)]),
      ];
    },
    unreachable: 'it answers neither on a socket of this machine nor through the database',
    [Symbol.asyncDispose]: () => store.close(),
  };
}
