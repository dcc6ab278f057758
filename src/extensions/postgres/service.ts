import { randomUUID } from 'node:crypto';
import type { ServiceMaker } from '../../daemon.ts';

/** When the process starts, logs facts and weaknesses of the server. Warns if this machine has no marks. */
export const postgresService: ServiceMaker = {
  prepare: async ({ database }) => (database.kind === 'postgres' ? { instance: randomUUID() } : {}),
  async start({ store, log }) {
    const { address: database, mark } = store;
    for (const text of await store.server()) log.info({ database }, text);
    for (const { text } of await store.weaknesses()) log.warn({ database }, text);
    // A machine without a mark does not notice a database that was put back.
    if (mark.account === undefined || !(await mark.isMissing())) return {};
    const advice = 'after a restore stop all workers and run: order-sync db accept-restore --account all';
    const text = 'this machine has no mark of any account: it notices only restores that happen from now on';
    log.warn({ marks: mark.path, advice }, text);
    return {};
  },
};
