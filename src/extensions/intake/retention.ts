import type { ServiceMaker } from '../../daemon.ts';
import { addPurge, type Purge } from '../commands/purges.ts';
import { after } from '../../base/instant.ts';
import { messageOf } from '../../base/text.ts';
import { deleteKeptAnswers } from './tables/kept-answers.ts';
import { repeatEvery } from '../../orders/pass/run.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { intakeSettings } from './settings.ts';

const LOOK_MS = 60 * 60_000;
/** ms. The wait between two pages, so that other writes are not delayed. */
const STEP_MS = 1_000;
const PAGE = 200;

export const deleteSomeKeptAnswers: Purge['deleteSome'] = (store, query) =>
  store.writer.write((tx) => deleteKeptAnswers(tx, query));

export const intakeService: ServiceMaker = {
  async start({ accounts, config, services, stop, ...deps }) {
    const ageMs = intakeSettings.of(config).retention.keptAnswers;
    const purges = addPurge(services, { name: 'keptAnswers', ageMs, deleteSome: deleteSomeKeptAnswers });
    const work = repeatEvery(deps.clock, LOOK_MS, stop, async () => {
      for (const account of purges.some((one) => one.ageMs !== undefined) ? accounts.names : []) {
        if (stop.aborted) return;
        await purgeAccount({ ...deps, purges }, account, stop).catch((error: unknown) => {
          deps.log.warn({ account, cause: messageOf(error) }, 'rows older than retention.* cannot be deleted now');
        });
      }
    });
    return { work };
  },
};

type RetentionDeps = Pick<FlowDeps, 'store' | 'clock' | 'log'> & { readonly purges: readonly Purge[] };

/** Deletes rows that are older than `retention.*` allows, one page in each transaction. Ends early if `stop` aborts. */
export async function purgeAccount({ store, clock, log, purges }: RetentionDeps, account: string, stop: AbortSignal) {
  const purged: Record<string, number> = {};
  for (const { name, ageMs, deleteSome } of purges) {
    let all = 0;
    while (ageMs !== undefined && !stop.aborted) {
      const query = { account, before: after(clock.now(), -ageMs), limit: PAGE };
      const count = await deleteSome(store.forAccount(account), query);
      all += count;
      if (count < PAGE) break;
      await clock.sleep(STEP_MS, stop).catch(() => undefined);
    }
    purged[name] = all;
  }
  if (Object.values(purged).some((count) => count > 0))
    log.info({ account, ...purged }, 'rows older than retention.* were deleted');
  return purged;
}
