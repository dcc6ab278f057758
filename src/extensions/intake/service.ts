import type { ServiceMaker } from '../../daemon.ts';
import { purgeByAge, purgeKeptAnswers } from './retention.ts';

/** Deletes by `retention.*`. */
export const intakeService: ServiceMaker = {
  async start({ accounts, config: { retention }, services: { purges }, ...deps }) {
    purges.keptAnswers = purgeKeptAnswers;
    return { work: purgeByAge({ ...deps, retention, purges }, () => accounts.names, deps.stop) };
  },
};
