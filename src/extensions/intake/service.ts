import type { ServiceMaker } from '../../daemon.ts';
import { purgeByAge } from './retention.ts';

/** Deletes by `retention.*`. */
export const intakeService: ServiceMaker = {
  async start(deps) {
    return { work: purgeByAge(deps, () => deps.accounts.names, deps.stop) };
  },
};
