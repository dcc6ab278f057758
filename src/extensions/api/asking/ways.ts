import { hostname } from 'node:os';
import { systemClock } from '../../../base/clock.ts';
import type { AccountSettings } from '../../../settings/config.ts';
import { openStore } from '../../../store/open.ts';
import type { Driver } from '../../../store/port.ts';
import { apiSettings } from '../settings.ts';
import { apiTransport, socketTransport, type Transport } from './transport.ts';

export interface Ways extends AsyncDisposable {
  /** Returns the ways, the socket first. `withSilent` adds a process without a heartbeat, because it may still run. */
  find(withSilent?: boolean): Promise<readonly Transport[]>;
  /** Why this process must not become the owner of the account, if no way leads to the owner. */
  readonly elsewhere?: string | undefined;
  readonly unreachable: string;
}

/** Returns the ways to the driver: its socket, if on this machine, and its API, if its `api.advertise` equals ours. */
export async function waysByDatabase(config: AccountSettings): Promise<Ways> {
  const store = await openStore(config.database, systemClock(), { expect: 'current' });
  const { advertise: known, token } = apiSettings.of(config).api;
  let driver: Driver | undefined;
  const isHere = () => driver === undefined || driver.host === hostname();
  return {
    async find(withSilent?: boolean): Promise<readonly Transport[]> {
      driver = await store.driverOf([config.account], withSilent);
      const { socket, advertise } = driver ?? {};
      return [
        ...(typeof socket === 'string' && isHere() ? [socketTransport(socket)] : []),
        ...(known !== undefined && advertise === known && token !== undefined ? [apiTransport(config, [known])] : []),
      ];
    },
    get elsewhere() {
      return isHere() ? undefined : `${driver?.name} drives the account ${config.account}`;
    },
    get unreachable() {
      if (isHere()) return 'it answers on no socket of this machine';
      return `it is on another machine: ask its API with --url ${driver?.advertise ?? 'URL'}`;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}
