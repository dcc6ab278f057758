import type { Logger } from 'pino';
import { deadline, type Clock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../domain/text.ts';
import type { Store } from '../../store/port.ts';
import { checkReadiness, type ReadinessSources } from './readiness.ts';
import { Readings } from './readings.ts';

const EVERY_MS = 60_000;
const TIMEOUT_MS = 10_000;

interface HeartbeatDeps extends Omit<ReadinessSources, 'readings'> {
  readonly config: Pick<Config, 'database' | 'ops' | 'webhooks'>;
  readonly store: Pick<Store, 'migrations' | 'db' | 'isInPlace' | 'writer'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Calls `ops.heartbeatUrl` once a minute while the process is ready, until `stopping` aborts; no pass waits for it. Calls that
 * fail are logged once, with how many they were when one is answered again. Never rejects.
 */
export async function sendHeartbeats(deps: HeartbeatDeps, stopping: AbortSignal): Promise<void> {
  const { clock, log, config } = deps;
  const { heartbeatUrl } = config.ops;
  if (heartbeatUrl === undefined) return;
  const sources = { ...deps, readings: new Readings(deps) };
  let failures = 0;
  for (;;) {
    await clock.sleep(EVERY_MS, stopping).catch(() => undefined);
    if (stopping.aborted) return;
    const checks = await checkReadiness(sources, stopping.aborted);
    if (!checks.every(({ ok }) => ok)) continue;
    const cause = await call(heartbeatUrl, AbortSignal.any([stopping, deadline(TIMEOUT_MS)]));
    if (stopping.aborted) return;
    if (cause === undefined && failures > 0) log.info({ failures }, 'the heartbeat is answered again');
    if (cause !== undefined && failures === 0) log.warn({ cause }, 'a heartbeat is not answered; see ops.heartbeatUrl');
    failures = cause === undefined ? 0 : failures + 1;
  }
}

/** Says why a call failed; the address, which may be a secret, stands in no reason. */
async function call(url: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { ok, status, body } = await fetch(url, { redirect: 'manual', signal });
    await body?.cancel();
    return ok ? undefined : `HTTP ${status}`;
  } catch (error) {
    if (signal.aborted) return `no answer within ${TIMEOUT_MS / 1_000} s`;
    const { cause } = error as { readonly cause?: unknown };
    const code = (cause as NodeJS.ErrnoException | undefined)?.code;
    return code ?? messageOf(error).replaceAll(url, 'the address');
  }
}
