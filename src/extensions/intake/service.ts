import type { ServiceMaker } from '../../daemon.ts';
import { purgeByAge } from './retention.ts';

/** Deletes by `retention.*`. */
export const intakeService: ServiceMaker = {
  async start({ accounts, config, ...deps }) {
    const { retention, photos } = config;
    return { work: purgeByAge({ ...deps, retention, photos }, () => accounts.names, deps.stop) };
  },
};
