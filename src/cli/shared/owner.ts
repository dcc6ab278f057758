import type { App } from '../../app.ts';
import { systemClock } from '../../base/clock.ts';
import { requireExchange, type AccountSettings, type WithExchange } from '../../settings/config.ts';
import { OwnedError } from '../../store/errors.ts';
import type { Extension, Beside } from '../extension.ts';
import { partsOf } from './extensions.ts';

const TRIES = 20;
const TRY_AGAIN_MS = 200;

/**
 * Asks the account's owner, or becomes the owner while `alone` runs. Only an owner needs an exchange and its key. Waits
 * up to 4 s for an owner that starts or stops, and rejects if `signal` aborts meanwhile. `onLog` must call the function
 * that it receives, which writes a line.
 */
export async function throughOwner<Value>(
  config: AccountSettings,
  extensions: readonly Extension[],
  beside: Beside<Value> | undefined,
  alone: (app: App, config: WithExchange<AccountSettings>) => Promise<Value>,
  { signal, onLog = (write) => write() }: { signal?: AbortSignal; onLog?: (write: () => void) => void } = {},
): Promise<Value> {
  for (let tries = 1; ; tries += 1) {
    let hasBegun = false;
    try {
      const answered = await beside?.ask();
      if (answered !== undefined) return answered.value;
      const complete = requireExchange(config);
      await using app = await becomeOwner(complete, extensions, onLog);
      hasBegun = true;
      return await alone(app, complete);
    } catch (error) {
      // Work that has begun may have sent requests, so it does not run again.
      if (hasBegun || beside === undefined || !(error instanceof OwnedError)) throw error;
      if (tries >= TRIES) throw new OwnedError(`${error.message} (${beside.unreachable})`);
      await systemClock().sleep(TRY_AGAIN_MS, signal);
    }
  }
}

/** Makes the app, with warnings on stderr. Its modules load here, because loading takes longer than most commands. */
async function becomeOwner(
  config: WithExchange<AccountSettings>,
  extensions: readonly Extension[],
  onLog: (write: () => void) => void,
): Promise<App> {
  const [{ createApp }, { createLog, standardError }, parts] = await Promise.all([
    import('../../app.ts'),
    import('../../base/log.ts'),
    partsOf(extensions),
  ]);
  const output = standardError();
  const log = createLog('warn', { write: (line) => onLog(() => output.write(line)) });
  return await createApp(config, { log, account: config.account, ...parts });
}
