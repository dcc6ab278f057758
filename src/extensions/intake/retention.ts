import type { Purge, Services } from '../../daemon.ts';
import type { Config } from '../../settings/config.ts';
import { after } from '../../base/instant.ts';
import { messageOf } from '../../base/text.ts';
import { repeatEvery } from '../../orders/pass/run.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { deleteKeptAnswers } from '../../store/tables/kept-answers.ts';

const LOOK_MS = 60 * 60_000;
/** Between two steps of so many rows, so that nothing else waits for them. */
const STEP_MS = 1_000;
const PAGE = 200;

export const purgeKeptAnswers: Purge = (store, query) => store.writer.write((tx) => deleteKeptAnswers(tx, query));

type RetentionDeps = Pick<FlowDeps, 'store' | 'clock' | 'log'> & Pick<Config, 'retention'> & Pick<Services, 'purges'>;

/** Deletes by `retention.*` once an hour, in small steps, until `stop` aborts. Failures are tried an hour later. */
export async function purgeByAge(
  deps: RetentionDeps,
  names: () => readonly string[],
  stop: AbortSignal,
): Promise<void> {
  const { clock, log, retention } = deps;
  if (Object.values(retention).every((age) => age === undefined)) return;
  await repeatEvery(clock, LOOK_MS, stop, async () => {
    for (const account of names()) {
      if (stop.aborted) return;
      await purgeAccount(deps, account, stop).catch((error: unknown) => {
        log.warn({ account, cause: messageOf(error) }, 'what is older than retention.* cannot be deleted now');
      });
    }
  });
}

export async function purgeAccount(
  { store, clock, log, retention, purges }: RetentionDeps,
  account: string,
  stop: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const purged = { keptAnswers: 0, deadLetters: 0, photos: 0 };
  for (const kind of ['keptAnswers', 'deadLetters', 'photos'] as const) {
    const [ageMs, purge] = [retention[kind], purges[kind]];
    while (ageMs !== undefined && purge !== undefined && !stop.aborted) {
      const query = { account, before: after(clock.now(), -ageMs), limit: PAGE };
      const count = await purge(store.forAccount(account), query);
      purged[kind] += count;
      if (count < PAGE) break;
      await clock.sleep(STEP_MS, stop).catch(() => undefined);
    }
  }
  if (Object.values(purged).some((count) => count > 0))
    log.info({ account, ...purged }, 'deleted by age (retention.*)');
  return purged;
}
