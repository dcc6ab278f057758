import type { Command } from 'commander';
import { keyPlaceByAccount, type Config } from '../../../settings/config.ts';
import { readFromDaemon } from '../../api/asking/ask.ts';
import { STATUS } from '../../api/addresses.ts';
import { urlsOf } from '../../../cli/shared/options.ts';
import type { Status } from './status.ts';

/** Asks the daemon of an account, or that of the first account about all. Returns undefined if no daemon answers. */
export async function askDaemon(command: Command, config: Config, account: string | undefined) {
  const status = (await readFromDaemon(command, config, STATUS, account)) as Status | undefined;
  const keyPlaceOf = urlsOf(command) === undefined ? keyPlaceByAccount(config) : undefined;
  return status && { ...status, keyPlaceOf };
}
