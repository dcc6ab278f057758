import type { Command } from 'commander';
import { withAccount } from '../commands/store.ts';
import { exampleSettings } from './settings.ts';
import { seenStatuses } from './tables/statuses.ts';

const MOST = 20;

export function define(command: Command): void {
  command.addHelpText('after', '\nExample:\n  order-sync statuses').action(async () => {
    await withAccount(command, 'current', async ({ db }, settings) => {
      const limit = exampleSettings.of(settings).log.statuses ?? MOST;
      const rows = await seenStatuses(db, { account: settings.account, limit });
      process.stdout.write(rows.map(({ value, first_seen_at: since }) => `${since} ${value}\n`).join(''));
    });
  });
}
