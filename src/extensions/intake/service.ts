import type { ServiceMaker } from '../../daemon.ts';
import { deleteSomeKeptAnswers, purgeByAge } from './retention.ts';
import { intakeSettings } from './settings.ts';

export const intakeService: ServiceMaker = {
  async start(deps) {
    const { purges } = deps.services;
    const ageMs = intakeSettings.of(deps.config).retention.keptAnswers;
    purges.push({ name: 'keptAnswers', ageMs, deleteSome: deleteSomeKeptAnswers });
    return { work: purgeByAge({ ...deps, purges }, () => deps.accounts.names, deps.stop) };
  },
};
