import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { accountWords } from '../../../domain/accounts/name.ts';
import { decideFailOver } from '../../../flows/orders/decide-fail-over.ts';
import { counted } from '../../../reports/formats/words.ts';
import { readFailOvers } from '../../../store/fail-overs.ts';
import { openStore } from '../../../store/open.ts';
import { openInput } from '../../orders/input.ts';
import { accountOf } from '../../shared/account.ts';
import { actorOf, type DecisionOptions } from '../../shared/decision.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { plainConfig } from '../../shared/options.ts';

/** The options of a decision about a fail-over. */
export interface FailOverOptions extends Omit<DecisionOptions, 'reason'> {
  readonly reason?: string;
  readonly failover?: number;
  readonly sent?: boolean;
  readonly notSent?: boolean;
  readonly file?: string;
}

/** `order-sync db accept-restore --failover ID`. */
export async function decide(command: Command, id: number, options: FailOverOptions): Promise<void> {
  const { reason, sent: isSent = false, notSent: isNotSent = false, file } = options;
  if (isSent === isNotSent) command.error('error: --failover needs either --sent or --not-sent');
  if (reason === undefined) return command.error('error: --failover needs --reason');
  const config = plainConfig(command);
  const [account, clock] = [accountOf(command, config), systemClock()];
  const opened = await openStore(config.database, clock, { expect: 'upgrade' });
  await using _ = { [Symbol.asyncDispose]: () => opened.close() };
  const store = opened.forAccount(account);
  const failOver = (await readFailOvers(store.db, account)).find((one) => one.id === id);
  if (failOver === undefined) {
    const advice = `see: order-sync findings list${accountWords(account)}`;
    throw new CommandError(EXIT.absent, `the account ${account} has no fail-over ${id}; ${advice}`);
  }
  if (failOver.markedAt === undefined) {
    const advice = 'wait until status no longer says so, and run this again';
    throw new CommandError(
      EXIT.owned,
      `the orders that fail-over ${id} left in doubt are still being found; ${advice}`,
    );
  }
  const ids = file === undefined ? undefined : await idsIn(file);
  const answer = { isSent, reason, actor: actorOf(options), ids };
  const { orders, left } = await decideFailOver({ account, store, clock }, failOver, answer);
  if (options.json === true) return void process.stdout.write(`${JSON.stringify({ orders, left })}\n`);
  const what = isSent ? 'are followed as sent' : 'are sent when they are due';
  process.stdout.write(`${counted(orders, 'order')} of fail-over ${id} ${what}; ${left} left in doubt\n`);
}

/** Reads external order ids, one a line. */
async function idsIn(file: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const line of createInterface({ input: await openInput(file), crlfDelay: Infinity })) {
    if (line.trim() !== '') ids.push(line.trim());
  }
  return ids;
}
