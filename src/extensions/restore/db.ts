import { type Command, InvalidArgumentError } from 'commander';
import { accountsIn } from '../commands/tables/accounts.ts';
import { EXIT } from '../../cli/shared/exit.ts';
import { withStore } from '../../cli/shared/store.ts';
import { sqlitePath } from '../commands/place.ts';
import { backUp, checkIntegrity } from './tables/backup.ts';
import { assertFile } from '../../store/sqlite/store.ts';
import { plainConfig } from '../../cli/shared/options.ts';
import { RESTORE_ADVICE } from '../../store/mark.ts';
import type { Mark, Store } from '../../store/port.ts';
import { screenOf } from '../../cli/shared/help.ts';
import { print } from '../commands/print.ts';
import { terminalLine } from '../../cli/shared/progress.ts';
import { fieldsText, type Field } from '../../cli/shared/terminal.ts';
import { correctCounts } from './tables/counts.ts';
import { pasteable } from '../../base/invocation.ts';
import { type KnownHead, checkChains } from './tables/chain.ts';

export const define = { check: defineCheck, backup: defineBackup };

const BACKUP_HELP = `
The copy is of one moment, is checked, and is readable for you alone. The daemon
and your application may run meanwhile. Photos are files: copy their folder too.
After you put a copy back, run: order-sync db accept-restore

Example:
  order-sync db backup /var/backups/order-sync-2026-01-31.db`;

function defineBackup(command: Command): void {
  command
    .argument('<file>', 'the copy; a file that is there already is not replaced')
    .option('--json', 'print JSON')
    .addHelpText('after', BACKUP_HELP)
    .action(async (file: string, { json }: { json?: boolean }) => {
      const path = sqlitePath(await plainConfig(command), 'back a database of PostgreSQL up with pg_dump');
      assertFile(path, { expect: 'any' });
      const line = await terminalLine();
      await backUp(path, file, (share) => line?.(`${Math.floor(share * 100)} % copied`)).finally(() => line?.clear());
      print(json, { path, copy: file }, () => `${path} is copied to ${file}\n`);
    });
}

const CHECK_HELP = `
Checks that a SQLite file is sound, not older than its mark, and has the event
that the mark names. In PostgreSQL, compares each account with its mark on this
machine. --chain also checks that no event was changed, removed or put in. If
all is well, --chain corrects the counts of status that are wrong. --head also
checks that an event that you wrote down elsewhere is still there.

Exit codes: 0 all is well, 1 counts were corrected or this machine has no mark
of any account, 65 something else is wrong.

Examples:
  order-sync db check --chain
  order-sync db check --chain --head 1830:9f2c…  (an event: its id and its hash)`;

function headOf(text: string): KnownHead {
  const [, id, hash = ''] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (id === undefined)
    throw new InvalidArgumentError('Give the id and the hash of an event: 1830:<64 hexadecimal digits>.');
  return { id: Number(id), hash };
}

function defineCheck(command: Command): void {
  command
    .option('--chain', 'also check the chain of events: reads all of them')
    .option('--head <id:hash>', 'with --chain: an event that must be in the chain', headOf)
    .option('--json', 'print JSON')
    .addHelpText('after', CHECK_HELP)
    .action(async ({ chain: withChain, head, json }: { chain?: boolean; head?: KnownHead; json?: boolean }) => {
      if (head !== undefined && withChain !== true) command.error('error: --head is for --chain');
      await withStore(command, 'current', async (store) => {
        const { address: path, db, mark } = store;
        if (mark.account === undefined) checkIntegrity(path);
        const line = await terminalLine();
        const chain = withChain === true ? await checkChains(db, head, (events) => line?.(`${events} events`)) : null;
        line?.clear();
        const marks = mark.account === undefined ? await markOfFile(mark) : await marksOfAccounts(store);
        const { broken } = chain ?? { broken: null };
        const isSound = chain !== null && broken === null && marks.older.length === 0;
        const miscounted = isSound ? await correctCounts(store) : [];
        const rows = [{ label: 'database', value: path }, ...marks.rows];
        if (chain !== null) {
          const value = broken === null ? `${chain.events}, one chain` : `${broken.id}: ${broken.why}`;
          rows.push({ label: 'events', value });
        }
        print(json, { path, ...marks.found, chain }, () => fieldsText(rows, screenOf()));
        const say = (code: number, text: string) => {
          process.stderr.write(`${pasteable(text)}\n`);
          process.exitCode = code;
        };
        const corrected = `the counts of orders and findings were wrong and are corrected: ${miscounted.join(', ')}`;
        if (miscounted.length > 0) say(EXIT.look, corrected);
        if (marks.unknown !== undefined) say(EXIT.look, `${path}: ${marks.unknown}`);
        for (const why of marks.older) say(EXIT.data, `${path} ${why}`);
        const advice = 'stop the daemon, and compare with a backup';
        if (broken !== null) say(EXIT.data, `event ${broken.id} breaks the chain: ${broken.why}; ${advice}`);
      });
    });
}

async function markOfFile(mark: Mark) {
  const named = await mark.read();
  const position = await mark.position();
  const older = await mark.sign();
  const markText = named === undefined ? 'none yet' : `event ${named.eventId}, written ${named.at}`;
  const rows: Field[] = [
    { label: 'file', value: 'sound' },
    { label: 'newest event', value: position.eventId },
    { label: 'mark', value: older ?? markText },
  ];
  const found = { newestEvent: position.eventId, mark: named ?? null, older: older ?? null };
  return { rows, found, older: older === undefined ? [] : [`${older}; ${RESTORE_ADVICE}`], unknown: undefined };
}

/** If another machine owns an account, the mark of the account is on that machine. */
async function marksOfAccounts(store: Store) {
  const accounts = await accountsIn(store.db, 'account_owners');
  const olderAccounts: { account: string; why: string }[] = [];
  const unmarked: string[] = [];
  for (const account of accounts) {
    const { mark } = store.forAccount(account);
    if ((await mark.read()) === undefined) unmarked.push(account);
    const why = await mark.sign();
    if (why !== undefined) olderAccounts.push({ account, why });
  }
  const marks = accounts.length - unmarked.length;
  const rows: Field[] = [
    { label: 'accounts', value: accounts.length },
    { label: 'marks', value: `${marks} of them, in ${store.mark.path}` },
    { label: 'without a mark', value: unmarked.length },
    { label: 'older', value: olderAccounts.length },
  ];
  const older = olderAccounts.map(
    ({ account, why }) =>
      `${why}: the account ${account}; if it was put back, run: order-sync db accept-restore --account ${account}`,
  );
  const which = unmarked.length === 1 ? 'the one account' : `these ${unmarked.length} accounts`;
  const advice = 'after a restore run: order-sync db accept-restore --account all';
  const words = `this machine has no mark of ${which}, so it cannot tell whether the database was put back; ${advice}`;
  const unknown = unmarked.length > 0 && (await store.mark.isMissing()) ? words : undefined;
  const found = { accounts: accounts.length, marks, withoutMark: unmarked.length, olderAccounts };
  return { rows, found, older, unknown };
}
