import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { configOf, type Config } from '../../config/config.ts';
import { flowSettings } from '../../flows/pass/settings.ts';
import { followingOf } from '../../flows/reports/following.ts';
import { followingDocument } from '../../reports/following/document.ts';
import type { FollowedAccount } from '../../reports/following/statuses.ts';
import { reportedAccounts } from '../../store/accounts.ts';
import type { Store } from '../../store/port.ts';
import { withAccounts } from '../shared/store.ts';
import { addReportOptions, writeReport, type OutputOptions } from './output.ts';

/** `order-sync report following`. */
export function define(command: Command): void {
  addReportOptions(command, ['accounts', 'statuses'])
    .addHelpText('after', '\nExample:\n  order-sync report following --out following.html')
    .action(async (output: OutputOptions) => {
      const document = await withAccounts(command, async (store, account, config) => {
        const asOf = systemClock().now().toISOString();
        const read = await readAccounts(store, account, config);
        return followingDocument({ account, asOf }, read);
      });
      await writeReport(document, output);
    });
}

async function readAccounts(
  store: Store,
  account: string | undefined,
  config: Config,
): Promise<readonly FollowedAccount[]> {
  const { signal } = new AbortController();
  const read: FollowedAccount[] = [];
  for (const one of await reportedAccounts(store.db, account)) {
    // An account that stands in no settings is read with the general ones.
    const settings = config.accounts.some(({ name }) => name === one) ? configOf(config, one) : config;
    const { pace } = flowSettings(settings);
    read.push(await followingOf({ account: one, store: store.forAccount(one), clock: systemClock(), pace }, signal));
  }
  return read;
}
