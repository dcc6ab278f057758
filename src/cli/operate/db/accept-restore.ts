import type { Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { sqlitePath } from '../../../config/config.ts';
import { acceptRestore, type AcceptedRestore } from '../../../flows/orders/restore.ts';
import { readPosition, signOfRestore } from '../../../store/mark.ts';
import type { Store } from '../../../store/port.ts';
import { lockFile } from '../../../store/sqlite/owner.ts';
import { openStore } from '../../../store/sqlite/store.ts';
import { actorOf, addReasonOptions, confirm, type DecisionOptions } from '../../shared/decision.ts';
import { counted } from '../../../reports/formats/words.ts';
import { plainConfig } from '../../shared/options.ts';

const HELP = `
For a database that was put back to an older state. It does not know what was
sent after the copy was made, so every order in it that may have been sent since
becomes unknown: it is looked up, and then held for a person. Creates are paused
until resume.
Stop the daemon first.

Examples:
  order-sync db accept-restore
  order-sync db accept-restore --assume-not-sent \\
    --reason 'a copy for tests, its exchange is the sandbox'`;
const QUESTION =
  'Nothing shows that this database was put back. Every order that waits to be sent would be looked up and held instead. Go on? (y/N) ';

const REASON = 'the database was put back to an older state';

interface RestoreOptions extends Omit<DecisionOptions, 'reason'> {
  readonly reason?: string;
  readonly assumeNotSent?: boolean;
}

/** `order-sync db accept-restore`. */
export function define(command: Command): void {
  addReasonOptions(command, { isMandatory: false })
    .option('--assume-not-sent', 'you know that nothing was sent since: orders stay as they are, nothing is paused')
    .option('--yes', 'do not ask, also where nothing shows that it was put back')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: RestoreOptions) => {
      const { reason, assumeNotSent: isNothingSent = false } = options;
      if (isNothingSent && reason === undefined) command.error('error: --assume-not-sent needs --reason');
      const config = plainConfig(command);
      const path = sqlitePath(config, 'use sqlite:PATH');
      const clock = systemClock();
      const lock = await lockFile(path, clock, 0);
      try {
        const store = await openStore(path, clock, { expect: 'upgrade', isRestored: true });
        try {
          if (options.yes !== true && !(await showsRestore(store))) await confirm(QUESTION);
          const accounts = config.accounts.map(({ name }) => name);
          const acceptance = { actor: actorOf(options), reason: reason ?? REASON, isNothingSent };
          const accepted = await acceptRestore({ accounts, store, clock, settings: config.create }, acceptance);
          print(accepted, options);
        } finally {
          await store.close();
        }
      } finally {
        lock.release();
      }
    });
}

async function showsRestore({ mark, db }: Store): Promise<boolean> {
  return signOfRestore(mark.read(), await readPosition(db)) !== undefined;
}

function print({ missing, orders }: AcceptedRestore, { json, assumeNotSent }: RestoreOptions): void {
  if (json === true) {
    process.stdout.write(`${JSON.stringify({ missing, orders })}\n`);
    return;
  }
  process.stdout.write(
    `missing: from ${missing.from ?? 'the beginning'} to ${missing.to ?? 'a time that nothing tells'}\n`,
  );
  if (assumeNotSent === true) {
    process.stdout.write('orders are as they were, and are sent when they are due\n');
    return;
  }
  process.stdout.write(
    `${counted(orders, 'order')} may have been sent since; what may have been sent is unknown or held, and looked up\n` +
      'put in what was ordered in that time: order-sync orders import FILE --may-have-been-sent\n' +
      'nothing is created until: order-sync resume --reason TEXT\n',
  );
}
