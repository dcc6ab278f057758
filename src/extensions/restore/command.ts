import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { accountFilterOf } from '../commands/account.ts';
import { accountsIn } from '../commands/tables/accounts.ts';
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../settings/config.ts';
import { acceptRestore, type AcceptedRestore, decideFailOver } from './restore.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/port.ts';
import { lockFile } from '../../store/sqlite/owner.ts';
import { accountGiven, accountOf } from '../../cli/shared/account.ts';
import { actorOf, addReasonOptions, confirm, type DecisionOptions } from '../operate/decision-options.ts';
import { plainConfig } from '../../cli/shared/options.ts';
import { rowId } from '../commands/options.ts';
import { readFailOvers } from '../../store/tables/fail-overs.ts';
import { openInput } from '../commands/files.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { print } from '../commands/print.ts';
import { withStore } from '../../cli/shared/store.ts';
import { accountWords } from '../../accounts/rules/name.ts';
import { pasteable } from '../../base/invocation.ts';
import { counted } from '../documents/words.ts';

const HELP = `
For a database that was put back to an older state. The database does not know
which orders were sent after the copy was made. Each order that may have been
sent since becomes unknown. It is looked up, and held for a person if no look-up
finds it. Creates are paused until resume.
Stop the daemon of a SQLite file first. In PostgreSQL keep all workers stopped
from the restore until all accounts are accepted, because a machine without
marks does not notice the older state. An account that was stopped because its
database is older can also be accepted alone, while the workers run.

After a standby of PostgreSQL was promoted, nothing was put back, but the last
commits of the old primary may be lost. The orders that these commits may have
marked as sent become unknown. One finding FAIL_OVER is about all of them, and
the workers continue. Ask the exchange about each order, then decide with
--failover: first --sent --file with the ids that the exchange has, then
--not-sent with the ids that it lacks. Without --file all orders are decided.

Examples:
  order-sync db accept-restore
  order-sync db accept-restore --account shop-1
  order-sync db accept-restore --assume-not-sent \\
    --reason 'a copy for tests, its exchange is the sandbox'
  order-sync db accept-restore --failover 7 --sent --file sent.txt \\
    --reason 'the exchange has them'`;
function questionOf(isNothingSent: boolean): string {
  const consequence = isNothingSent
    ? 'orders do not change, and are sent when they are due'
    : 'every order that waits to be sent is looked up and held instead';
  return `No sign shows that this database was put back. If you continue, ${consequence}. Continue? (y/N) `;
}

const REASON = 'the database was put back to an older state';

interface RestoreOptions extends Partial<DecisionOptions> {
  readonly assumeNotSent?: boolean;
  readonly failover?: number;
  readonly sent?: boolean;
  readonly notSent?: boolean;
  readonly file?: string;
}

export function define(command: Command): void {
  addReasonOptions(command, { isMandatory: false })
    .option('--assume-not-sent', 'you know that nothing was sent since: orders stay as they are, nothing is paused')
    .option('--failover <id>', 'decide on the orders that a fail-over of PostgreSQL left in doubt', rowId)
    .option('--sent', 'with --failover: the orders were sent, so order-sync follows them')
    .option('--not-sent', 'with --failover: the orders were not sent, so order-sync sends them when they are due')
    .option('--file <ids>', 'with --failover: only the orders whose ids stand in this file, one a line')
    .option('--yes', 'do not ask, even if no sign shows that the database was put back')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: RestoreOptions) => {
      const { reason, assumeNotSent: isNothingSent = false, failover } = options;
      if (failover !== undefined) return await decide(command, failover, options);
      if (isNothingSent && reason === undefined) command.error('error: --assume-not-sent needs --reason');
      const config = await plainConfig(command);
      const { database } = config;
      const account = accountAccepted(command, config);
      const clock = systemClock();
      await using resources = new AsyncDisposableStack();
      if (database.kind === 'sqlite') {
        const lock = await lockFile(database.path, clock, 0);
        resources.defer(() => lock.release());
      }
      const store = await openStore(database, clock, { expect: 'upgrade', isRestored: true });
      resources.defer(() => store.close());
      const parts = await partsOf(store, account, config);
      const signs = await Promise.all(parts.map((part) => part.store.mark.sign()));
      if (options.yes !== true && signs.includes(undefined)) await confirm(questionOf(isNothingSent));
      const acceptance = { actor: actorOf(options), reason: reason ?? REASON, isNothingSent };
      const accepted: AcceptedRestore[] = [];
      for (const part of parts)
        accepted.push(await acceptRestore({ ...part, clock, settings: config.create }, acceptance));
      printRestore(inAll(accepted), options, account);
    });
}

async function partsOf(store: Store, account: string | undefined, { accounts, database }: Config) {
  const names = accounts.map(({ name }) => name);
  if (database.kind === 'sqlite') return [{ store, accounts: names }];
  const known = new Set([...names, ...(await accountsIn(store.db, 'merchant_orders'))]);
  return (account === undefined ? [...known] : [account]).map((name) => ({
    store: store.forAccount(name),
    accounts: [name],
  }));
}

/** Returns undefined for several accounts. Refuses `--account` for a SQLite file, which has one mark for all. */
function accountAccepted(command: Command, { database, accounts }: Config): string | undefined {
  if (database.kind === 'postgres') return accountFilterOf(command, { accounts });
  if (accountGiven(command) !== undefined)
    command.error('error: a SQLite file is put back with all its accounts; leave --account out');
  return accounts.length === 1 ? accounts[0]?.name : undefined;
}

/** Joins the results: the earliest `from` and the latest `to`, each null if it is null for any account. */
function inAll(accepted: readonly AcceptedRestore[]): AcceptedRestore {
  const timesOf = (end: 'from' | 'to') => {
    const times = accepted.flatMap(({ missing }) => missing[end] ?? []);
    return times.length < accepted.length ? [] : times.toSorted();
  };
  return {
    missing: { from: timesOf('from')[0] ?? null, to: timesOf('to').at(-1) ?? null },
    orders: accepted.reduce((sum, { orders }) => sum + orders, 0),
  };
}

function printRestore({ missing, orders }: AcceptedRestore, { json, assumeNotSent }: RestoreOptions, account?: string) {
  const from = missing.from ?? 'the beginning';
  const named = account === undefined ? undefined : accountWords(account);
  const next =
    assumeNotSent === true
      ? 'orders did not change, and are sent when they are due\n'
      : `${counted(orders, 'order')} may have been sent since: each is now unknown or held, and is looked up\n` +
        `add the orders of that time: order-sync orders import FILE${named ?? ' --account NAME'} --may-have-been-sent\n` +
        `no order is created until you run: order-sync resume${named ?? ' --account all'} --reason TEXT\n`;
  const to = missing.to ?? 'an unknown time';
  print(json, { missing, orders }, () => `missing: from ${from} to ${to}\n${pasteable(next)}`);
}

async function decide(command: Command, id: number, options: RestoreOptions): Promise<void> {
  const { reason, sent: isSent = false, notSent: isNotSent = false, file, json } = options;
  if (isSent === isNotSent) command.error('error: --failover needs either --sent or --not-sent');
  if (reason === undefined) return command.error('error: --failover needs --reason');
  await withStore(command, 'upgrade', async (opened, config) => {
    const account = accountOf(command, config);
    const store = opened.forAccount(account);
    const failOver = (await readFailOvers(store.db, account)).find((one) => one.id === id);
    if (failOver === undefined) {
      const advice = `see: order-sync findings list${accountWords(account)}`;
      throw new CommandError(EXIT.absent, `the account ${account} has no fail-over ${id}; ${advice}`);
    }
    const doing = `the orders that fail-over ${id} left in doubt are still being found`;
    if (failOver.markedAt === undefined)
      throw new CommandError(EXIT.owned, `${doing}; wait until status no longer says so, and run this again`);
    const answer = { isSent, reason, actor: actorOf(options), ids: file === undefined ? undefined : await idsIn(file) };
    const { orders, left } = await decideFailOver({ account, store, clock: systemClock() }, failOver, answer);
    const done = isSent ? 'are followed as sent' : 'are sent when they are due';
    const text = `${counted(orders, 'order')} of fail-over ${id} ${done}; ${left} left in doubt\n`;
    print(json, { orders, left }, () => text);
  });
}

async function idsIn(file: string): Promise<readonly string[]> {
  const lines = await Array.fromAsync(createInterface({ input: await openInput(file), crlfDelay: Infinity }));
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}
