import { countByState } from '../../store/orders.ts';
import { countOpenFindings } from '../../store/overdue.ts';
import { createPass } from './create.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { followPass, type FollowScope } from './follow.ts';
import { sweep } from '../findings/sweep.ts';
import { Tally, type Counts } from '../pass/counters.ts';

/**
 * What one pass did. `unknown` and `held` are the orders that stand so after it, `findings` those that stand open,
 * without those that only explain, and `remaining` the orders still to be sent.
 */
export interface SyncSummary {
  readonly sent: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly invalid: number;
  readonly unknown: number;
  readonly held: number;
  readonly lookedUp: number;
  readonly changed: number;
  readonly final: number;
  readonly failed: number;
  readonly findings: number;
  readonly remaining: number;
  readonly durationMs: number;
}

/** How a pass ended; decides the exit code. */
export type SyncEnd = 'done' | 'look' | 'out-of-reach' | 'out-of-time' | 'key-refused';

/** The summary of a pass and how it ended. */
export interface SyncResult {
  readonly end: SyncEnd;
  readonly summary: SyncSummary;
}

/** So many holds in a row are waited out; with the next the exchange counts as out of reach. */
const PATIENCE = 2;
/** A hold longer than this is not waited out. */
const LONGEST_PATIENCE_MS = 10_000;

/**
 * One pass: sends every pending order whose time has come, then looks up every order being followed once. A moment in
 * which the exchange cannot serve is waited out. `onProgress` is given the pass's own counts, which go on changing while
 * it runs.
 */
export async function syncOnce(
  deps: FlowDeps,
  scope: FollowScope,
  signal: AbortSignal,
  onProgress?: (counts: Readonly<Counts>) => void,
): Promise<SyncResult> {
  const startedAt = deps.clock.monotonic();
  const tally = new Tally();
  onProgress?.(tally.counts);
  const pass: FlowDeps = { ...deps, tally };
  const since = deps.clock.now();
  await withPatience(pass, 'create', signal, () => createPass(pass, signal));
  await withPatience(pass, 'lookup', signal, () => followPass(pass, scope, signal, since));
  if (!signal.aborted) await sweep(pass, signal);
  const standing = await countByState(deps.store.db, deps.account);
  const { findings: newFindings, ...counts } = tally.counts;
  const summary: SyncSummary = {
    ...counts,
    unknown: standing.get('unknown') ?? 0,
    held: standing.get('held') ?? 0,
    findings: await countOpenFindings(deps.store.db, deps.account),
    remaining: standing.get('pending') ?? 0,
    durationMs: Math.round(deps.clock.monotonic() - startedAt),
  };
  return { summary, end: endOf(pass, summary, newFindings, signal) };
}

/** Both passes go on where they stopped: what is done is not due any more, or was looked up since the pass began. */
async function withPatience(
  { exchange, tally, clock }: FlowDeps,
  lane: 'create' | 'lookup',
  signal: AbortSignal,
  pass: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const before = exchange.gate.holdOf(lane);
    await pass();
    const { heldMs, holds, holdsEver } = exchange.gate.holdOf(lane);
    // A hold stops the pass also where it was over before the pass had finished what it had in hand.
    const wasStopped = before.heldMs > 0 || holdsEver > before.holdsEver;
    const isPatient = holds <= PATIENCE && heldMs <= LONGEST_PATIENCE_MS;
    if (!wasStopped || !isPatient || tally.key === 'refused' || signal.aborted) return;
    await clock.sleep(heldMs, signal).catch(() => undefined);
  }
}

function endOf({ tally, exchange }: FlowDeps, summary: SyncSummary, newFindings: number, signal: AbortSignal): SyncEnd {
  if (tally.key === 'refused') return 'key-refused';
  if (signal.aborted) return 'out-of-time';
  const lanes = [exchange.gate.holdOf('create'), exchange.gate.holdOf('lookup')];
  if (lanes.some(({ heldMs }) => heldMs > 0)) return 'out-of-reach';
  // The holds are over, and nothing that came through since has shown that the exchange serves again.
  if (summary.failed > 0 && lanes.every(({ holds }) => holds > 0)) return 'out-of-reach';
  const { held, unknown, failed, invalid, rejected, findings } = summary;
  const mustLook = held + unknown + failed + invalid + rejected + findings + newFindings > 0;
  return mustLook ? 'look' : 'done';
}
