import { viewOf, type RestraintView } from '../accounts/rules/restraints.ts';
import { sumOf } from '../base/words.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from './rules/states.ts';
import { readNewInvalid } from '../store/find-orders.ts';
import type { BreakerLane } from '../exchange/transport/breaker.ts';
import { countByState } from '../store/orders/orders.ts';
import { countOpenFindings } from '../store/tables/findings.ts';
import { createPass } from './create.ts';
import type { FlowDeps, Sweep } from './pass/deps.ts';
import { followPass, type FollowScope } from './follow.ts';
import { newCounters, type Counters } from './pass/outcomes.ts';

/** `unknown`, `held`, `disputed`, `newInvalid`, `remaining` and open `findings` are counted after the passes. */
export type SyncSummary = Readonly<Counters & Record<'newInvalid' | 'remaining' | 'durationMs', number>>;

export type SyncEnd = 'done' | 'look' | 'out-of-reach' | 'out-of-time' | 'key-refused';

export interface SyncResult {
  readonly end: SyncEnd;
  readonly summary: SyncSummary;
  readonly holds: readonly RestraintView[];
}

/** If the breaker opens more often than this in a row, the exchange counts as out of reach. */
const MOST_OPENINGS = 2;
/** `sync` does not wait for a breaker that stays open for longer than this. */
const LONGEST_WAIT_MS = 10_000;

/** Runs each pass. Repeats a pass that stopped for a short time. `onProgress` gets counters and estimated requests. */
export async function syncOnce(
  deps: FlowDeps & { readonly sweeps?: readonly Sweep[] },
  scope: FollowScope,
  signal: AbortSignal,
  onProgress?: (counters: Readonly<Counters>, requests: number) => void,
): Promise<SyncResult> {
  const startedAt = deps.clock.monotonic();
  const counters = newCounters();
  const pass: FlowDeps = { ...deps, observers: { ...deps.observers, counters } };
  const since = deps.clock.now();
  // A person may have paused the account just before this pass.
  await deps.restraints.read();
  await deps.settings.pace.learnFirst(deps, signal);
  if (onProgress !== undefined) onProgress(counters, await requestsToMake(deps, scope, since));
  await repeatWhileOpen(pass, 'create', signal, () => createPass(pass, signal));
  await repeatWhileOpen(pass, 'lookup', signal, () => followPass(pass, scope, signal, since));
  for (const sweep of deps.sweeps ?? []) {
    const run = () => sweep.run(pass, signal, since);
    await (sweep.isAsking ? repeatWhileOpen(pass, 'lookup', signal, run) : run());
  }
  const orders = await countByState(deps.store.db, deps.account, ['unknown', 'held', 'disputed', 'pending']);
  const { findings: newFindings, ...counts } = counters;
  const summary: SyncSummary = {
    ...counts,
    newInvalid: (await readNewInvalid(deps.store.db, [deps.account], deps.clock.now()))?.orders ?? 0,
    unknown: orders.get('unknown') ?? 0,
    held: orders.get('held') ?? 0,
    disputed: orders.get('disputed') ?? 0,
    findings: await countOpenFindings(deps.store.db, deps.account),
    remaining: orders.get('pending') ?? 0,
    durationMs: Math.round(deps.clock.monotonic() - startedAt),
  };
  return { summary, end: endOf(pass, summary, newFindings, signal), holds: deps.restraints.all.map(viewOf) };
}

async function requestsToMake({ account, store }: FlowDeps, scope: FollowScope, until: Date): Promise<number> {
  const count = async (states: readonly OrderState[], dueUntil?: Date) =>
    sumOf([...(await countByState(store.db, account, states, dueUntil)).values()], (orders) => orders);
  const sends = await count(['pending'], until);
  const rechecks = await count(RECHECKED_STATES, until);
  if (scope === 'due') return sends + rechecks + (await count(FOLLOWED_STATES, until));
  return 2 * sends + rechecks + (await count(FOLLOWED_STATES));
}

/** Repeats a pass that was stopped. A repeat skips finished orders: they are no longer due, or were looked up. */
async function repeatWhileOpen(deps: FlowDeps, lane: BreakerLane, signal: AbortSignal, pass: () => Promise<void>) {
  const { exchange, clock, restraints } = deps;
  for (;;) {
    const before = { ...exchange.breaker(lane), timesHeld: restraints.timesHeld };
    await pass();
    const { openForMs, openings, openingsEver, needsProbe } = exchange.breaker(lane);
    // A breaker or a restraint that began has stopped the pass, even if it ended while requests were still in flight.
    const isNew = openingsEver > before.openingsEver || restraints.timesHeld > before.timesHeld;
    const mustProbe = needsProbe && !before.needsProbe;
    const wasStopped = before.isOpen || isNew || mustProbe;
    const isWorthWaiting = openings <= MOST_OPENINGS && openForMs <= LONGEST_WAIT_MS;
    if (!wasStopped || !isWorthWaiting || restraints.isKeyWrong || signal.aborted) return;
    await clock.sleep(openForMs, signal).catch(() => undefined);
  }
}

function endOf(deps: FlowDeps, summary: SyncSummary, newFindings: number, signal: AbortSignal): SyncEnd {
  const { exchange, restraints } = deps;
  if (restraints.all.some(({ kind }) => kind === 'key-refused')) return 'key-refused';
  if (signal.aborted) return 'out-of-time';
  const create = exchange.breaker('create');
  const lookup = exchange.breaker('lookup');
  if (restraints.stoppedForMs('person') > 0) return 'out-of-reach';
  if (lookup.isOpen && restraints.stoppedForMs('lookup') === 0) return 'out-of-reach';
  const isStopped = create.needsProbe || (create.isOpen && restraints.stoppedForMs('create') === 0);
  if (isStopped && summary.remaining > 0) return 'out-of-reach';
  if (exchange.isSilent && summary.failed > 0) return 'out-of-reach';
  const { held, disputed, unknown, failed, invalid, newInvalid, rejected, findings } = summary;
  if (restraints.all.length > 0) return 'look';
  const mustLook = held + disputed + unknown + failed + invalid + newInvalid + rejected + findings + newFindings > 0;
  return mustLook ? 'look' : 'done';
}
