import { after } from '../../base/instant.ts';
import { messageOf } from '../../base/text.ts';
import { deleteKeptAnswers } from './tables/kept-answers.ts';
import { deleteDelivered } from '../webhooks/tables/deliveries.ts';
import { purgeSomePhotos } from '../clients/photos.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { clientsSettings } from '../clients/settings.ts';
import { webhooksSettings } from '../webhooks/settings.ts';
import { intakeSettings } from './settings.ts';

const LOOK_MS = 60 * 60_000;
/** Between two steps of so many rows, so that nothing else waits for them. */
const STEP_MS = 1_000;
const PAGE = 200;

type RetentionDeps = Pick<FlowDeps, 'config' | 'store' | 'clock' | 'log'>;

/** One step of a purge; `isLast` where nothing more is old enough. */
interface Step {
  readonly purged: number;
  readonly isLast: boolean;
}

/** Deletes by `retention.*` once an hour, in small steps, until `stop` aborts. Failures are tried an hour later. */
export async function purgeByAge(
  deps: RetentionDeps,
  names: () => readonly string[],
  stop: AbortSignal,
): Promise<void> {
  const { config, clock, log } = deps;
  if (Object.values(intakeSettings.of(config).retention).every((age) => age === undefined)) return;
  while (!stop.aborted) {
    await clock.sleep(LOOK_MS, stop).catch(() => undefined);
    for (const account of names()) {
      if (stop.aborted) return;
      try {
        await purgeAccount(deps, account, stop);
      } catch (error) {
        log.warn({ account, cause: messageOf(error) }, 'what is older than retention.* cannot be deleted now');
      }
    }
  }
}

export async function purgeAccount(
  deps: RetentionDeps,
  account: string,
  stop: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const { config, clock, log } = deps;
  const store = deps.store.forAccount(account);
  const purge = async (ageMs: number | undefined, step: (ageMs: number) => Promise<Step>): Promise<number> => {
    for (let all = 0; ;) {
      if (ageMs === undefined || stop.aborted) return all;
      const { purged, isLast } = await step(ageMs);
      all += purged;
      if (isLast) return all;
      await clock.sleep(STEP_MS, stop).catch(() => undefined);
    }
  };
  const stepOf = (deletePage: typeof deleteDelivered) => async (ageMs: number) => {
    const query = { account, before: after(clock.now(), -ageMs), limit: PAGE };
    const count = await store.writer.write((tx) => deletePage(tx, query));
    return { purged: count, isLast: count < PAGE };
  };
  const purged = {
    keptAnswers: await purge(intakeSettings.of(config).retention.keptAnswers, stepOf(deleteKeptAnswers)),
    deadLetters: await purge(webhooksSettings.of(config).retention.deadLetters, stepOf(deleteDelivered)),
    photos: await purge(clientsSettings.of(config).retention.photos, (ageMs) =>
      purgeSomePhotos({ account, config, store, clock }, ageMs),
    ),
  };
  if (Object.values(purged).some((count) => count > 0))
    log.info({ account, ...purged }, 'deleted by age (retention.*)');
  return purged;
}
