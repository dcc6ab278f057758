import { statSync } from 'node:fs';
import { lostReach } from '../../reports/tables/story.ts';
import { otherAccountsProblems } from '../../operate/rules/problems.ts';
import { accountsIn } from '../../commands/tables/accounts.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Config } from '../../../settings/config.ts';
import { instantMs } from '../../../base/instant.ts';
import { RESTORE_ADVICE } from '../../../store/mark.ts';
import type { Database, Store } from '../../../store/port.ts';
import { clockProblems, troubleProblems } from '../status/problems.ts';
import { stoppedAccounts } from '../../../store/tables/account-stops.ts';
import { newestRecord } from '../../feed/tables/events.ts';
import { checkIntegrity } from '../../restore/tables/backup.ts';
import { EXIT } from '../../../cli/shared/exit.ts';
import { fault, ofProblem, ok, warning, type CheckResult } from './check.ts';
import { olderStateOf } from '../status/command.ts';
import type { Overview } from '../status/status.ts';
import { countOfOthers } from '../../operate/tables/listed-orders.ts';

/** Larger files are not checked, because the check would take too long. */
const MOST_CHECKED_BYTES = 256 * 1_024 ** 2;
/** ms. The finding CLOCK_SKEW has the same limit. */
const SKEW_MS = 5 * 60_000;

export async function checkDatabase({ database }: Config, store: Store): Promise<readonly CheckResult[]> {
  const { pending } = await store.migrations();
  const remedy = 'order-sync db migrate; a daemon migrates the database when it starts';
  return [
    ...(pending.length > 0 ? [warning('database', 'the database has tables of an older version', remedy)] : []),
    soundness(database),
    ...(await store.server()).map((text) => ok('database', text)),
    ...(await store.weaknesses()).map(({ name, text }) => warning('database', `${store.address}: ${name}`, text)),
    await checkMarks(store),
  ];
}

function soundness(database: Config['database']): CheckResult {
  if (database.kind === 'postgres') return ok('database', `${database.address} answers`);
  const bytes = statSync(database.path).size;
  if (bytes > MOST_CHECKED_BYTES) {
    return ok('database', `${database.path} opens; only order-sync db check checks so large a file`, { bytes });
  }
  checkIntegrity(database.path, 'quick_check');
  return ok('database', `${database.path} is sound (quick check)`, { bytes });
}

async function checkMarks(store: Store): Promise<CheckResult> {
  const accounts = store.mark.account === undefined ? [] : await accountsIn(store.db, 'account_owners');
  const sign = await olderStateOf(store, accounts);
  if (sign === null) return ok('mark', 'the database is not older than its mark');
  return fault('mark', EXIT.data, `the database ${sign}`, RESTORE_ADVICE);
}

const ACCOUNTS_WELL =
  'no account is stopped, answers can be read, and no row waits in an account that the settings do not name';

/** `overview` is from the daemon, if one answers. The daemon may know newer causes than the database. */
export async function checkAccounts({ db }: Store, { accounts }: Pick<Config, 'accounts'>, overview?: Overview | null) {
  const troubles = overview ?? {
    stopped: [...(await stoppedAccounts(db, undefined))],
    outOfReach: await lostReach(db, undefined, 'exchange'),
    unreadable: await lostReach(db, undefined, 'answers'),
    otherAccounts: await countOfOthers(db, accounts),
  };
  const others = otherAccountsProblems(troubles.otherAccounts);
  const problems = [...troubleProblems({ ...troubles, account: null }), ...others];
  if (problems.length > 0) return problems.map((problem) => ofProblem('accounts', problem));
  return [ok('accounts', ACCOUNTS_WELL)];
}

/** Compares the clock with that of PostgreSQL, and with `serverDate` (§2.7) of an account's newest order record. */
export async function checkClock({ db }: Store, accounts: readonly string[], clock: Clock) {
  const { databaseAheadMs = 0 } = clock;
  const ofDatabase = clockProblems(databaseAheadMs).map((one) => ofProblem('clock', one, { databaseAheadMs }));
  return [...ofDatabase, await besideExchange(db, accounts, clock)];
}

async function besideExchange(db: Database, accounts: readonly string[], clock: Clock) {
  const records = await Promise.all(accounts.map((account) => newestRecord(db, account)));
  const record = records.find((one) => one !== undefined);
  const sentAt = instantMs(record?.serverDate ?? null);
  if (record === undefined || sentAt === undefined) {
    return ok('clock', `${clock.now().toISOString()}; there is no order record yet to compare the clock with`);
  }
  const skewMs = Date.parse(record.receivedAt) - sentAt;
  const found = `${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs < 0 ? 'behind' : 'ahead of'} the clock of the exchange, measured at ${record.receivedAt}`;
  if (Math.abs(skewMs) < SKEW_MS) return ok('clock', found, { skewMs });
  return warning('clock', found, 'check the time service of this machine', { skewMs });
}
