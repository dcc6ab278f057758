import type { Logger } from 'pino';
import type { ServiceMaker } from '../../daemon.ts';
import type { Config } from '../../settings/config.ts';
import { hasStandbys, NO_TIME_LINE, readTimeLine, UNPROVED_STANDBYS } from '../../store/tables/fail-overs.ts';
import type { Store } from '../../store/port.ts';

/** Says at the start what the server and the marks of this machine leave unproved. */
export const postgresService: ServiceMaker = {
  async start({ config, store, log }) {
    await tellOfMarks(config, store, log);
    return {};
  },
};

/** On PostgreSQL the marks are of this machine: one that has none drives a database that was put back as any other. */
async function tellOfMarks({ database }: Config, { db, mark }: Store, log: Logger): Promise<void> {
  if (database.kind !== 'postgres') return;
  if ((await readTimeLine(db)) === null) log.warn({ database: database.address }, NO_TIME_LINE);
  if (database.synchronousStandbys === 0 && (await hasStandbys(db))) {
    log.warn({ database: database.address }, UNPROVED_STANDBYS);
  }
  if (!(await mark.isMissing())) return;
  const advice = 'after a restore stop all workers and run: order-sync db accept-restore --account all';
  log.warn({ marks: mark.path, advice }, 'no mark here of any account: an older state is noticed from now on');
}
