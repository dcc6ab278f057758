import { statSync } from 'node:fs';
import type { Clock } from '../../../clock.ts';
import type { Config } from '../../../config/config.ts';
import { describeStop, stopRemedy } from '../../../domain/accounts/stops.ts';
import { accountWords } from '../../../domain/accounts/words.ts';
import { instantMs } from '../../../domain/instant.ts';
import { accountsIn } from '../../../store/accounts.ts';
import { hasStandbys, NO_TIME_LINE, readTimeLine, UNPROVED_STANDBYS } from '../../../store/fail-overs.ts';
import { RESTORE_ADVICE, readSignOfRestore } from '../../../store/mark.ts';
import type { Store } from '../../../store/port.ts';
import { clocksApart, CLOCK_REMEDY } from '../../../reports/status/verdict.ts';
import { stoppedAccounts, unreadableAnswers } from '../../../store/overview/reach.ts';
import { newestRecord } from '../../../store/overview/newest.ts';
import { checkIntegrity } from '../../../store/sqlite/backup.ts';
import { EXIT } from '../../shared/exit.ts';
import { fault, ok, warning, type Finding } from './finding.ts';

/** A larger file takes too long to be checked here. */
const MOST_CHECKED_BYTES = 256 * 1_024 ** 2;
const MOST_ACCOUNTS = 100;
/** As the finding CLOCK_SKEW has it. */
const SKEW_MS = 5 * 60_000;

/** Whether the database is sound, as far as that can be said at once, and not older than its mark. */
export async function checkDatabase({ database }: Config, store: Store): Promise<readonly Finding[]> {
  const { pending } = await store.migrations();
  const migrations =
    pending.length === 0
      ? []
      : [warning('database', 'it is of an older version', 'order-sync db migrate; the daemon does it at its start')];
  const hasNoTimeLine = database.kind === 'postgres' && (await readTimeLine(store.db)) === null;
  const timeLine = hasNoTimeLine ? [warning('database', `${database.address}: fail-overs`, NO_TIME_LINE)] : [];
  const isUnproved =
    database.kind === 'postgres' && database.synchronousStandbys === 0 && (await hasStandbys(store.db));
  const standbys = isUnproved ? [warning('database', `${database.address}: standbys`, UNPROVED_STANDBYS)] : [];
  return [...migrations, ...soundness(database), ...timeLine, ...standbys, ...(await checkMarks(store))];
}

function soundness(database: Config['database']): readonly Finding[] {
  if (database.kind === 'postgres') return [ok('database', `${database.address} answers`)];
  const bytes = statSync(database.path).size;
  if (bytes > MOST_CHECKED_BYTES) {
    return [
      ok('database', `${database.path} opens; as it is large, order-sync db check looks at all of it`, { bytes }),
    ];
  }
  checkIntegrity(database.path, 'quick_check');
  return [ok('database', `${database.path} is sound (quick check)`, { bytes })];
}

async function checkMarks(store: Store): Promise<readonly Finding[]> {
  if (store.mark.account === undefined) {
    return [markFinding(await readSignOfRestore(store.db, await store.mark.read()))];
  }
  const accounts = (await accountsIn(store.db, 'account_owners')).slice(0, MOST_ACCOUNTS);
  for (const account of accounts) {
    const content = await store.forAccount(account).mark.read();
    // Another machine may drive it, and have its mark.
    const sign = content === undefined ? undefined : await readSignOfRestore(store.db, content, account);
    if (sign !== undefined) return [markFinding(`${sign} (account ${account})`)];
  }
  return [markFinding(undefined)];
}

function markFinding(sign: string | undefined): Finding {
  if (sign === undefined) return ok('mark', 'the database is not older than its mark');
  return fault('mark', EXIT.data, `the database ${sign}`, RESTORE_ADVICE);
}

/** Reports accounts that are stopped or get answers that cannot be read, by their newest events. */
export async function checkAccounts({ db }: Store): Promise<readonly Finding[]> {
  const stopped = (await stoppedAccounts(db, undefined)).map((stop) =>
    warning('accounts', describeStop(stop), stopRemedy(stop.kind, accountWords(stop.account))),
  );
  const unreadable = (await unreadableAnswers(db, undefined)).map(({ account, since, reason }) => {
    const found = `the answers of the exchange cannot be read for ${account} since ${since}: ${reason ?? ''}`;
    return warning('accounts', found, `order-sync probe${accountWords(account)}`);
  });
  const found = [...stopped, ...unreadable];
  return found.length > 0 ? found : [ok('accounts', 'none is stopped, and answers can be read')];
}

/** Compares the machine's clock with the database's, and with the exchange's by the newest order record (§2.7). */
export async function checkClock(
  store: Store,
  accounts: readonly string[],
  clock: Pick<Clock, 'now' | 'databaseAheadMs'>,
): Promise<readonly Finding[]> {
  const { databaseAheadMs = 0 } = clock;
  const found = clocksApart(databaseAheadMs);
  const ofDatabase = found === undefined ? [] : [warning('clock', found, CLOCK_REMEDY, { databaseAheadMs })];
  return [...ofDatabase, await besideExchange(store, accounts, clock)];
}

async function besideExchange(store: Store, accounts: readonly string[], clock: Pick<Clock, 'now'>): Promise<Finding> {
  const records = await Promise.all(accounts.map((account) => newestRecord(store.db, account)));
  const record = records.find((one) => one !== undefined);
  const sentAt = instantMs(record?.serverDate ?? null);
  if (record === undefined || sentAt === undefined) {
    return ok('clock', `${clock.now().toISOString()}; no order record yet to compare it with`);
  }
  const skewMs = Date.parse(record.receivedAt) - sentAt;
  const found = `${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs < 0 ? 'behind' : 'ahead of'} the exchange at ${record.receivedAt}`;
  if (Math.abs(skewMs) < SKEW_MS) return ok('clock', found, { skewMs });
  return warning('clock', found, 'check the time service of this machine', { skewMs });
}
