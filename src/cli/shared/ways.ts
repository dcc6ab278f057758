import { hostname } from 'node:os';
import type { Clock } from '../../clock.ts';
import type { AccountSettings } from '../../config/config.ts';
import { controlSocketOf, socketTransport, type Transport } from '../../http/control/transport.ts';

interface Ways extends AsyncDisposable {
  /** The ways that there are now, the shortest first. */
  find(): Promise<readonly Transport[]>;
  readonly unreachable: string;
}

/**
 * The ways to owners: the socket beside a SQLite file, which may have none; on PostgreSQL the socket of a worker on this
 * machine, or else the database.
 */
export async function waysToOwner(
  config: Pick<AccountSettings, 'account' | 'control' | 'database'>,
  clock: Clock,
): Promise<Ways> {
  const { account, database } = config;
  if (database.kind === 'sqlite') {
    const socketPath = controlSocketOf(config);
    const ways = [socketTransport(socketPath)];
    const unreachable = `it does not listen on ${socketPath}`;
    return { find: async () => ways, unreachable, [Symbol.asyncDispose]: async () => {} };
  }
  const [{ openStore }, { workerOf }, { tableTransport }] = await Promise.all([
    import('../../store/open.ts'),
    import('../../store/account-requests.ts'),
    import('../../http/control/table-transport.ts'),
  ]);
  const store = await openStore(database, clock, { expect: 'current' });
  return {
    async find() {
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
