import type { AskedPass, Extension, Beside } from '../../../cli/extension.ts';
import type { ProgressLine } from '../../../cli/shared/progress.ts';
import type { SyncResult } from '../../../orders/sync.ts';
import type { AccountSettings } from '../../../settings/config.ts';
import { StoreError } from '../../../store/errors.ts';
import { besideOwner } from './ask.ts';
import { OwnerGoneError, type Owner } from './client.ts';
import type { SyncLine } from '../sync.ts';

/** Asks the daemon that drives the account for a pass, and shows the progress of the pass. */
export async function passBeside(
  config: AccountSettings,
  extensions: readonly Extension[],
  { scope, timeoutMs, progress, ...options }: AskedPass,
): Promise<Beside<SyncResult>> {
  const pass = async (owner: Owner) => await besideDaemon(owner.sync({ scope, timeoutMs }), progress);
  return await besideOwner(config, extensions, pass, options);
}

async function besideDaemon(lines: AsyncGenerator<SyncLine>, progress: ProgressLine): Promise<SyncResult> {
  for await (const line of lines) {
    if (line.type === 'progress') progress.show(line);
    if (line.type === 'result') return { summary: line.summary, end: line.end, holds: line.holds };
    if (line.type === 'error') {
      const message = `the daemon's pass failed: ${line.message}`;
      throw line.problem === undefined ? new Error(message) : new StoreError(line.problem, message);
    }
  }
  throw new OwnerGoneError('the daemon stopped before its pass was done; run sync again');
}
