import type { Command } from 'commander';
import { show } from '../../commands/print.ts';
import { accountOrAll } from '../../commands/account.ts';
import { systemClock } from '../../../base/clock.ts';
import { keyPlaceByAccount, type Config } from '../../../settings/config.ts';
import type { Status } from './status.ts';
import { statusText, watchText } from './text.ts';
import { judgeStatus, type StatusEnd } from './problems.ts';
import { CommandError, EXIT, explainError, stopSignal } from '../../../cli/shared/exit.ts';
import { addUrlOption, DAEMON_SHOWN, plainConfig, urlsOf } from '../../../cli/shared/options.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { isPassing } from '../../../store/errors.ts';
import type { Store } from '../../../store/port.ts';
import { readFromDaemon } from '../../api/asking/ask.ts';
import { STATUS } from '../../api/addresses.ts';
import { terminalLine } from '../../../cli/shared/progress.ts';

const HELP = `
The first line says if all is well. The next lines name each problem and its
remedy. Then come the facts: from the daemon, or from the database alone if no
daemon answers.

Exit codes: 0 all is well, 1 a person should look, 69 the exchange is out of
reach, 77 the exchange refuses the key, 65, 74 or 75 the database cannot be
read: a daemon that runs waits for it. --watch shows one screen with the newest
events, every 2 seconds until Ctrl-C; with --json it prints one line each time.

Without --account the status is about the account default, or about all accounts
if no account has that name.

Examples:
  order-sync status
  order-sync status --watch --account all`;

const WATCH_MS = 2_000;
const MOST_MARKS = 100;

const EXITS: Readonly<Record<StatusEnd, number>> = {
  well: EXIT.ok,
  look: EXIT.look,
  'out-of-reach': EXIT.unavailable,
  'key-refused': EXIT.keyRefused,
};

export function define(command: Command): void {
  addUrlOption(command)
    .option('--watch', 'show one screen, refreshed every 2 seconds, until Ctrl-C')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async ({ watch, json }: { watch?: boolean; json?: boolean }) => {
      const config = await plainConfig(command);
      const account = accountOrAll(command, config);
      const read = async () => (await askDaemon(command, config, account)) ?? (await readAlone(command));
      if (watch === true) return await watchStatus(read, json === true);
      const status = await read().catch((error: unknown) => unreadable(error, config));
      if (json === true) process.stdout.write(jsonOf(status));
      else await show(statusText(status, screenOf()));
      process.exitCode = EXITS[judgeStatus(status).end];
    });
}

function unreadable(error: unknown, { database }: Config): never {
  if (database.kind === 'sqlite' || !isPassing(error)) throw error;
  const advice = `a running daemon waits until it can read the database: ${DAEMON_SHOWN}`;
  throw new CommandError(explainError(error).code, `${error.message}\n${advice}`, { cause: error });
}

function jsonOf(status: Status): string {
  return `${JSON.stringify({ verdict: judgeStatus(status), ...status })}\n`;
}

async function watchStatus(read: () => Promise<Status>, isJson: boolean) {
  if (!isJson && !process.stdout.isTTY) {
    throw new CommandError(EXIT.usage, '--watch needs a terminal; programs use --watch --json');
  }
  const clock = systemClock();
  const stop = stopSignal(clock);
  const draw = isJson ? undefined : await terminalLine(process.stdout);
  while (!stop.aborted) {
    const status = await read();
    if (draw === undefined) process.stdout.write(jsonOf(status));
    // The last row stays free for the cursor.
    else draw(watchText(status, screenOf(), process.stdout.rows - 1));
    await clock.sleep(WATCH_MS, stop).catch(() => undefined);
  }
  draw?.done();
}

/** Asks the daemon of `account`, or else the first account's daemon about all. Returns undefined if none answers. */
export async function askDaemon(command: Command, config: Config, account: string | undefined) {
  const status = (await readFromDaemon(command, config, STATUS, account)) as Status | undefined;
  const keyPlaceOf = urlsOf(command) === undefined ? keyPlaceByAccount(config) : undefined;
  return status && { ...status, keyPlaceOf };
}

async function readAlone(command: Command): Promise<Status> {
  const { withAccounts } = await import('../../commands/store.ts');
  const { overviewFor } = await import('../tables/overview.ts');
  const read = async (store: Store, account: string | undefined, config: Config): Promise<Status> => {
    const clock = systemClock();
    const now = clock.now();
    const overview = await overviewFor(store.db, config, account, now);
    const accounts = account === undefined ? config.accounts.map(({ name }) => name) : [account];
    const olderState = await olderStateOf(store, accounts);
    const driver = (await store.driverOf(accounts))?.name ?? null;
    const { databaseAheadMs = null } = clock;
    const asOf = now.toISOString();
    const facts = { asOf, database: store.address, daemon: null, driver, olderState, databaseAheadMs, overview };
    return { ...facts, keyPlaceOf: keyPlaceByAccount(config) };
  };
  return await withAccounts(command, read, accountOrAll);
}

/** Returns the sign that the database is older than its mark, or null. PostgreSQL has a mark for each account. */
export async function olderStateOf(store: Store, accounts: readonly string[]): Promise<string | null> {
  if (store.mark.account === undefined) return (await store.mark.sign()) ?? null;
  for (const account of accounts.slice(0, MOST_MARKS)) {
    const sign = await store.forAccount(account).mark.sign();
    if (sign !== undefined) return `${sign} (account ${account})`;
  }
  return null;
}
