import { problemText } from '../../operate/rules/problems.ts';
import { repeatEvery } from '../../../orders/pass/run.ts';
import { readingOf, type ReadingSources } from '../status/read-status.ts';
import type { Problem, ProblemCode } from '../../commands/problem.ts';
import { problemsOf } from '../status/problems.ts';
import { newReadings, type Disk, type OpsPages, type OpsSources } from './readings.ts';
import { deadline } from '../../../base/clock.ts';
import { healthSettings } from '../settings.ts';
import { messageOf } from '../../../base/text.ts';

const CHECKS = {
  process: ['stopping'],
  database: ['database-unreadable', 'database-unwritten'],
  migrations: ['other-migrations'],
  ownership: ['not-owner', 'lease-lost'],
  stopped: ['stopped'],
  exchange: ['out-of-reach'],
  key: ['key-refused'],
  passes: ['stalled'],
  disk: ['disk-full'],
} as const satisfies Record<string, readonly ProblemCode[]>;

type ReadinessCheck = { readonly check: keyof typeof CHECKS; readonly ok: boolean; readonly reason?: string };

export async function checkReadiness(sources: ReadingSources & Pick<OpsPages, 'readings'>, isStopping: boolean) {
  const { overview, failure } = await sources.readings.overview();
  const process = await readProcess(sources, await sources.readings.disk(), isStopping, failure);
  const names = new Set(sources.accounts.names);
  const isOwned = ({ account }: { readonly account: string }) => names.has(account);
  const owned = overview && {
    ...overview,
    holds: overview.holds.filter(isOwned),
    outOfReach: overview.outOfReach.filter(isOwned),
    stopped: overview.stopped.filter(isOwned),
  };
  return readinessChecks(problemsOf({ ...readingOf(sources, undefined, owned), process }));
}

export function readinessChecks(problems: readonly Problem[]): readonly ReadinessCheck[] {
  return (Object.keys(CHECKS) as ReadinessCheck['check'][]).map((check) => {
    const codes: readonly ProblemCode[] = CHECKS[check];
    const failed = problems.filter(({ code }) => codes.includes(code));
    const reason = failed.map((problem) => `${problemText(problem)}; ${problem.remedy}`).join('; ');
    return { check, ok: failed.length === 0, ...(failed.length > 0 && { reason }) };
  });
}

export async function readProcess(sources: ReadingSources, disk?: Disk, isStopping = false, failure?: string) {
  const { config, store, accounts } = sources;
  const migrations = failure === undefined ? await store.migrations().catch(() => undefined) : undefined;
  return {
    isStopping,
    databaseFailure: failure ?? null,
    missingMigrations: migrations?.pending ?? [],
    isOwner: accounts.names.length > 0 || config.database.kind === 'postgres',
    freeBytes: disk?.freeBytes ?? null,
  };
}

const EVERY_MS = 60_000;
const TIMEOUT_MS = 10_000;

/** Calls `ops.heartbeatUrl` every minute if the process is ready, until `stopping` aborts. */
export async function sendHeartbeats(deps: Omit<OpsSources, 'heedDecision'>, stopping: AbortSignal): Promise<void> {
  const { clock, log, config } = deps;
  const { heartbeatUrl } = healthSettings.of(config).ops;
  if (heartbeatUrl === undefined) return;
  const sources = { ...deps, readings: newReadings(deps) };
  let failures = 0;
  await repeatEvery(clock, EVERY_MS, stopping, async () => {
    const checks = await checkReadiness(sources, stopping.aborted);
    if (!checks.every(({ ok }) => ok)) return;
    const cause = await call(heartbeatUrl, AbortSignal.any([stopping, deadline(TIMEOUT_MS)]));
    if (stopping.aborted) return;
    if (cause === undefined && failures > 0) log.info({ failures }, 'the heartbeat is answered again');
    if (cause !== undefined && failures === 0) log.warn({ cause }, 'a heartbeat is not answered; see ops.heartbeatUrl');
    failures = cause === undefined ? 0 : failures + 1;
  });
}

/** Returns why a call failed; undefined if it did not. Leaves out the address, which may be a secret. */
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
