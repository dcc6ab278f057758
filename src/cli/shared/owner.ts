import type { App } from '../../app.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { NoOwnerError, Owner } from '../../http/control/client.ts';
import { controlSocketPath } from '../../http/control/socket-path.ts';
import { OwnedError } from '../../store/errors.ts';

const TRIES = 20;
const TRY_AGAIN_MS = 200;
/** After its own limits, the owner needs up to this long to record the outcome of a request. */
const OWNER_WRITES_MS = 10_000;

/**
 * Asks the owner of the account over its control socket, or becomes the owner for as long as `alone` takes. An owner
 * that is starting or stopping has no socket for a moment: it is waited for, for a few seconds, until `signal` aborts.
 */
export async function throughOwner<Result>(
  config: Config,
  beside: (owner: Owner) => Promise<Result>,
  alone: (app: App) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const clock = systemClock();
  const socketPath = controlSocketPath(config.database.path);
  const owner = new Owner(socketPath, config.exchange.timeout + OWNER_WRITES_MS, signal);
  for (let tries = 1; ; tries += 1) {
    try {
      return await beside(owner);
    } catch (error) {
      if (!(error instanceof NoOwnerError)) throw error;
    }
    try {
      await using app = await becomeOwner(config);
      return await alone(app);
    } catch (error) {
      if (!(error instanceof OwnedError)) throw error;
      if (tries >= TRIES) throw new OwnedError(`${error.message} (it does not listen on ${socketPath})`);
      await clock.sleep(TRY_AGAIN_MS, signal);
    }
  }
}

/** Makes the app, with warnings on stderr. It is loaded here: it takes longer to load than most commands beside a daemon take. */
async function becomeOwner(config: Config): Promise<App> {
  const [{ createApp }, { pino }] = await Promise.all([import('../../app.ts'), import('pino')]);
  const output = pino.destination({ fd: 2, sync: true });
  const log = pino({ level: 'warn', base: null, timestamp: pino.stdTimeFunctions.isoTime }, output);
  return await createApp(config, { clock: systemClock(), log });
}
