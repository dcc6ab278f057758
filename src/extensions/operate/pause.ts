import type { Command } from 'commander';
import { isOfAll } from '../commands/account.ts';
import { examples } from '../commands/options.ts';
import { withEachAccount } from '../commands/store.ts';
import { systemClock } from '../../base/clock.ts';
import { accountWords, DEFAULT_ACCOUNT } from '../../accounts/rules/name.ts';
import { RESUMED_RESTRAINTS, type RestraintKind } from '../../accounts/rules/restraints.ts';
import { printable } from '../../base/words.ts';
import { endHolds, pause } from '../../store/tables/account-holds.ts';
import { actorOf, addReasonOptions, type DecisionOptions } from './decision-options.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { pasteable } from '../../base/invocation.ts';
import { counted } from '../documents/words.ts';

const ENDED: Readonly<Partial<Record<RestraintKind, string>>> = {
  'creates-paused': 'orders are created again',
  'all-paused': 'orders are created and looked up again',
  restored: 'orders are created again, on the database that was put back',
  guarded: 'orders are created again; orders sent before no longer count for guard.*',
  slowed: 'orders are created at full speed again',
};

const PAUSE_HELP = `
With --account all the pause is for every account of the settings, including
accounts that other workers own.

Examples:
  order-sync pause --all --reason 'maintenance at the exchange until 14:00'
  order-sync pause --account all --reason 'no orders during the holidays'`;

/** Both commands write to the database. A running daemon reads the change at once. */
export const define = { pause: definePause, resume: defineResume };

function definePause(command: Command): void {
  addReasonOptions(command)
    .option('--creates', 'stop creating orders, but keep looking them up (the default)')
    .option('--all', 'stop creating orders and looking them up')
    .addHelpText('after', PAUSE_HELP)
    .action(async (options: DecisionOptions & { creates?: boolean; all?: boolean }) => {
      if (options.creates === true && options.all === true) command.error('error: give either --creates or --all');
      const kind = options.all === true ? 'all-paused' : 'creates-paused';
      const how = { reason: options.reason, actor: actorOf(options), now: systemClock().now() };
      const accounts = await withEachAccount(command, async ({ writer }, account) => {
        await writer.write((tx) => pause(tx, account, kind, how));
        return account;
      });
      const [words, scope] = isOfAll(command)
        ? [' --account all', ` for ${counted(accounts.length, 'account')}`]
        : [accountWords(accounts[0] ?? DEFAULT_ACCOUNT), ''];
      const stopped = kind === 'all-paused' ? 'no orders are created or looked up' : 'no orders are created';
      process.stdout.write(pasteable(`${stopped}${scope}. To resume: order-sync resume${words} --reason TEXT\n`));
    });
}

function defineResume(command: Command): void {
  const every = "resume --account all --reason 'the holidays are over'";
  const help = examples("resume --reason 'the maintenance is over'", every);
  addReasonOptions(command)
    .addHelpText(...help)
    .action(async (options: DecisionOptions) => {
      const how = { reason: options.reason, actor: actorOf(options), now: systemClock().now() };
      const ended = await withEachAccount(command, ({ writer }, account) =>
        writer.write((tx) => endHolds(tx, account, RESUMED_RESTRAINTS, how)),
      );
      const resumed = ended.filter((holds) => holds.length > 0);
      if (resumed.length === 0) throw new CommandError(EXIT.absent, 'nothing is paused');
      const lines = isOfAll(command)
        ? [`${counted(resumed.length, 'account is', 'accounts are')} resumed\n`]
        : resumed.flat().map(({ kind, reason }) => `${ENDED[kind]} (the pause was: ${printable(reason)})\n`);
      process.stdout.write(lines.join(''));
    });
}
