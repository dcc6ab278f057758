import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { accountWords } from '../../domain/accounts/words.ts';
import { RESUMED_HOLDS, type HoldKind } from '../../domain/accounts/holds.ts';
import { printable } from '../../reports/formats/text.ts';
import { endHolds, setHold } from '../../store/account-holds.ts';
import { accountOf } from '../shared/account.ts';
import { actorOf, addReasonOptions, type DecisionOptions } from '../shared/decision.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { withAccount } from '../shared/store.ts';

/** What goes again after the end of a hold. */
const ENDED: Readonly<Partial<Record<HoldKind, string>>> = {
  'creates-paused': 'orders are created again',
  'all-paused': 'orders are created and looked up again',
  restored: 'orders are created again, on the database that was put back',
  slowed: 'orders are created at full speed again',
};

interface PauseOptions extends DecisionOptions {
  readonly creates?: boolean;
  readonly all?: boolean;
}

/** `order-sync pause` and `order-sync resume`. A daemon that runs sees them at once: they stand in the database. */
export function define(command: Command): void {
  addReasonOptions(command);
  if (command.name() === 'pause') definePause(command);
  else defineResume(command);
}

function definePause(command: Command): void {
  command
    .option('--creates', 'nothing is created; orders are looked up (the default)')
    .option('--all', 'nothing is created or looked up')
    .addHelpText('after', "\nExample:\n  order-sync pause --all --reason 'maintenance at the exchange until 14:00'")
    .action(async (options: PauseOptions) => {
      if (options.creates === true && options.all === true) command.error('error: give either --creates or --all');
      const kind = options.all === true ? 'all-paused' : 'creates-paused';
      const actor = actorOf(options);
      const now = systemClock().now();
      const hold = { kind, since: now, until: null, reason: options.reason, actor } as const;
      await withAccount(command, 'current', ({ writer }, { account }) =>
        writer.write((tx) => setHold(tx, account, hold, now)),
      );
      const stopped = kind === 'all-paused' ? 'nothing is created or looked up' : 'nothing is created';
      process.stdout.write(`${stopped} until: order-sync resume${accountWords(accountOf(command))} --reason TEXT\n`);
    });
}

function defineResume(command: Command): void {
  command
    .addHelpText('after', "\nExample:\n  order-sync resume --reason 'the maintenance is over'")
    .action(async (options: DecisionOptions) => {
      const how = { reason: options.reason, actor: actorOf(options), now: systemClock().now() };
      const ended = await withAccount(command, 'current', ({ writer }, { account }) =>
        writer.write((tx) => endHolds(tx, account, RESUMED_HOLDS, how)),
      );
      if (ended.length === 0) throw new CommandError(EXIT.absent, 'nothing is paused');
      for (const { kind, reason } of ended) {
        process.stdout.write(`${ENDED[kind]} (it was held: ${printable(reason)})\n`);
      }
    });
}
