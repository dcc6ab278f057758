import { countByState } from '../../store/orders.ts';
import { countOpenFindings } from '../../store/findings.ts';
import { linksPass } from '../clients/links.ts';
import { createPass } from './create.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { followPass, type FollowScope } from './follow.ts';
import { sweep } from '../findings/sweep.ts';
import { newCounters, type Counters } from '../pass/counters.ts';

/**
 * The counts of one pass. `unknown`, `held` and `disputed` are the orders in that state after it, `findings` the open ones without those
 * that only explain something, and `remaining` the orders still to be sent.
 */
export type SyncSummary = Readonly<Counters> & { readonly remaining: number; readonly durationMs: number };

/** The end of a pass; decides the exit code. */
export type SyncEnd = 'done' | 'look' | 'out-of-reach' | 'out-of-time' | 'key-refused';

/** The summary of a pass and how it ended. */
export interface SyncResult {
  readonly end: SyncEnd;
  readonly summary: SyncSummary;
}

/** The breaker may open so often in a row; with the next time the exchange counts as out of reach. */
const MOST_OPENINGS = 2;
/** A breaker that is open for longer than this is not waited for. */
const LONGEST_WAIT_MS = 10_000;

/**
 * One pass: sends every pending order whose time has come, then looks up every order being followed once, and every link
 * that may change. A breaker that opens for a moment is waited for. `onProgress` is given the pass's own counters, which go on changing while it runs.
 */
export async function syncOnce(
  deps: FlowDeps,
  scope: FollowScope,
  signal: AbortSignal,
  onProgress?: (counters: Readonly<Counters>) => void,
): Promise<SyncResult> {
  const startedAt = deps.clock.monotonic();
  const counters = newCounters();
  onProgress?.(counters);
  const pass: SyncDeps = { ...deps, counters, startedAt };
  const since = deps.clock.now();
  await repeatWhileOpen(pass, 'create', signal, () => createPass(pass, signal));
  await repeatWhileOpen(pass, 'lookup', signal, () => followPass(pass, scope, signal, since));
  await repeatWhileOpen(pass, 'lookup', signal, () => linksPass(pass, signal, since));
  if (!signal.aborted) await sweep(pass, signal);
  const orders = await countByState(deps.store.db, deps.account, ['unknown', 'held', 'disputed', 'pending']);
  const { findings: newFindings, ...counts } = counters;
  const summary: SyncSummary = {
    ...counts,
    unknown: orders.get('unknown') ?? 0,
    held: orders.get('held') ?? 0,
    disputed: orders.get('disputed') ?? 0,
    findings: await countOpenFindings(deps.store.db, deps.account),
    remaining: orders.get('pending') ?? 0,
    durationMs: Math.round(deps.clock.monotonic() - startedAt),
  };
  return { summary, end: endOf(pass, summary, newFindings, signal) };
}

interface SyncDeps extends FlowDeps {
  /** On the monotonic clock. */
  readonly startedAt: number;
}

/** Both passes go on where they stopped: what is done is not due any more, or was looked up since the pass began. */
async function repeatWhileOpen(
  deps: SyncDeps,
  lane: 'create' | 'lookup',
  signal: AbortSignal,
  pass: () => Promise<void>,
): Promise<void> {
  const { exchange, clock } = deps;
  for (;;) {
    const before = exchange.breaker(lane);
    await pass();
    const { openForMs, openings, openingsEver } = exchange.breaker(lane);
    // A breaker stops the pass also where it is open no more once what was in flight is done.
    const wasStopped = before.isOpen || openingsEver > before.openingsEver;
    const isWorthWaiting = openings <= MOST_OPENINGS && openForMs <= LONGEST_WAIT_MS;
    if (!wasStopped || !isWorthWaiting || isKeyRefused(deps) || signal.aborted) return;
    await clock.sleep(openForMs, signal).catch(() => undefined);
  }
}

/** Since the pass began: what was refused before it may have been put right. */
function isKeyRefused({ exchange, startedAt }: SyncDeps): boolean {
  const { refusedAt } = exchange.key;
  return refusedAt !== undefined && refusedAt >= startedAt;
}

function endOf(deps: SyncDeps, summary: SyncSummary, newFindings: number, signal: AbortSignal): SyncEnd {
  if (isKeyRefused(deps)) return 'key-refused';
  if (signal.aborted) return 'out-of-time';
  const { exchange } = deps;
  const { isOpen, needsProbe } = exchange.breaker('create');
  if (exchange.breaker('lookup').isOpen) return 'out-of-reach';
  if ((isOpen || needsProbe) && summary.remaining > 0) return 'out-of-reach';
  if (exchange.isSilent && summary.failed > 0) return 'out-of-reach';
  const { held, disputed, unknown, failed, invalid, rejected, findings } = summary;
  const mustLook = held + disputed + unknown + failed + invalid + rejected + findings + newFindings > 0;
  return mustLook ? 'look' : 'done';
}
