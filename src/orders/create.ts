import { decideClaim, decideCorrected, isNotTaken } from './rules/create.ts';
import type { Turn } from '../exchange/transport/gate.ts';
import { DUE_COLUMNS, dueKeyOf, findOrders, FIRST_DUE } from '../store/find-orders.ts';
import { lockFreeOrder, saveDecision } from '../store/orders/orders.ts';
import { together } from '../store/statement.ts';
import { intend } from '../store/orders/intents.ts';
import { trackingOf, uncheckedOrderOf } from '../store/orders/order-columns.ts';
import { forEachConcurrently } from './pass/run.ts';
import type { FlowDeps } from './pass/deps.ts';
import type { GuardedCreate } from './pass/guard.ts';
import type { CreateInFlight } from './pass/in-flight.ts';
import { isolateFailure } from './pass/isolate.ts';
import { doubtedBy } from '../accounts/rules/fail-over.ts';
import { readFailOvers } from '../store/tables/fail-overs.ts';
import { placeAfter } from './follow.ts';
import { assumeRowSent, doubtOf, markLeft } from './fail-over.ts';
import { makeRefusedDue, probeForCreates, recoverUnrecorded } from './recover.ts';
import { recordOrKeep } from './record-outcome.ts';
import { countFailureOf } from './pass/outcomes.ts';

const PAGE = 200;

/** Waits while creates are in flight. Returns true if the pass must read again, because it was woken meanwhile. */
type ReadAgain = () => Promise<boolean>;

/** Sends the pending orders that are due. An intent is durable before its request leaves. */
export async function createPass(deps: FlowDeps, signal: AbortSignal, readAgain?: ReadAgain): Promise<void> {
  await forEachConcurrently(toSend(deps, signal, readAgain), deps.settings.concurrency, (id) =>
    isolateFailure(deps, id, () => sendOrder(deps, id, signal)).finally(() => deps.creates.readProgress.end(id)),
  );
}

/** Like `createPass`. Also reads again when it is woken while creates are in flight, because one of them may hang. */
export async function createWhileWoken(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  const { clock, creates, observers } = deps;
  let beganAt = clock.now().getTime();
  await createPass(deps, signal, async () => {
    if (!(await creates.readProgress.readAgain())) return false;
    // On a busy account creates are always in flight, so this never ends. Listeners hear of each reading as of a pass.
    const now = clock.now().getTime();
    observers.tell({ kind: 'pass.ended', pass: 'create', tookMs: now - beganAt, isGood: true });
    observers.tell({ kind: 'pass.began', pass: 'create' });
    beganAt = now;
    return true;
  });
}

async function* toSend(deps: FlowDeps, signal: AbortSignal, readAgain?: ReadAgain): AsyncGenerator<string> {
  do {
    await recoverUnrecorded(deps);
    await markLeft(deps, deps.creates.unmarked);
    await forEachConcurrently(dueIn(deps, 'invalid', signal), 1, (id) =>
      isolateFailure(deps, id, () => recheckCorrected(deps, id)),
    );
    await makeRefusedDue(deps);
    await probeForCreates(deps, signal);
    await sendUnforbidden(deps, signal);
    yield* dueIn(deps, 'pending', signal, readAgain !== undefined);
  } while (!signal.aborted && (await readAgain?.()) === true);
}

/** During a `forbidden` restraint, sends an order that had no 403. The answer shows if the 403 concerned one order. */
async function sendUnforbidden(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  const { account, store, clock, exchange, restraints } = deps;
  if (!restraints.all.some(({ kind }) => kind === 'forbidden') || isStopped(exchange)) return;
  const filter = { account, state: 'pending', forbiddenIn: 0, until: clock.now(), by: 'due', limit: 1 } as const;
  const id = (await findOrders(store.db, filter, ['external_order_id']))[0]?.external_order_id;
  if (id !== undefined && !deps.creates.unmarked.has(id))
    await isolateFailure(deps, id, () => sendOrder(deps, id, signal));
}

async function* dueIn(deps: FlowDeps, state: 'pending' | 'invalid', signal: AbortSignal, isAgain = false) {
  const { account, store, clock, exchange } = deps;
  const { inFlight, readProgress, unmarked } = deps.creates;
  const isPending = state === 'pending';
  let place = FIRST_DUE;
  for (;;) {
    const filter = { account, state, until: clock.now(), after: place, by: 'due', limit: PAGE } as const;
    const page = (await findOrders(store.db, filter, DUE_COLUMNS)).map(dueKeyOf);
    const before = place;
    for (const due of page) {
      if (isPending) await readProgress.next(signal);
      if (signal.aborted || (isPending && (isStopped(exchange) || inFlight.isFull))) return;
      const mayProceed = !unmarked.has(due.externalOrderId) && !(isAgain && readProgress.has(due.externalOrderId));
      if (isPending && mayProceed) readProgress.begin(due.externalOrderId, place);
      if (mayProceed) yield due.externalOrderId;
      place = due;
    }
    if (page.length < PAGE) return;
    place = placeAfter(place, before);
  }
}

function isStopped(exchange: FlowDeps['exchange']): boolean {
  const { isOpen, needsProbe } = exchange.breaker('create');
  return isOpen || needsProbe;
}

async function recheckCorrected(deps: FlowDeps, externalOrderId: string): Promise<void> {
  const { account, store, clock } = deps;
  await store.writer.write(async (tx) => {
    const row = await lockFreeOrder(tx, account, externalOrderId);
    if (row === undefined) return;
    const now = clock.now();
    const before = trackingOf(row);
    const decision = decideCorrected(before, now);
    if (decision === undefined) return;
    const failOver = doubtedBy(await readFailOvers(tx, account), before, row.updated_at);
    if (failOver !== undefined) await assumeRowSent(tx, row, doubtOf(account, failOver), deps);
    else await saveDecision(tx, before, decision, now);
  });
}

export async function sendOrder(deps: FlowDeps, externalOrderId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const wait = await trySending(deps, externalOrderId, signal);
    if (wait === undefined) return;
    await wait.outcome;
  }
}

/** Returns a wait if the outcome of a create in flight decides whether this create would pass a limit. */
async function trySending(deps: FlowDeps, externalOrderId: string, signal: AbortSignal) {
  const { exchange, creates } = deps;
  using turn = await exchange.turnToCreate(externalOrderId, signal);
  if (turn === undefined) return undefined;
  using create = creates.inFlight.begin(externalOrderId);
  using guarded = creates.guard.begin();
  const claimed = await claim(deps, externalOrderId, create, guarded);
  if (claimed === undefined || 'outcome' in claimed) {
    create.isSent = undefined;
    return claimed;
  }
  using turnToSend = await turnOnceReplicated(deps, turn, externalOrderId, signal);
  if (turnToSend === undefined) {
    const why = 'the request could not leave after its intent had waited for a standby';
    await recordOrKeep(deps, claimed.tracking, { kind: 'not-sent', why }, create);
    return undefined;
  }
  create.isSent = guarded.mayBeTaken = true;
  creates.intents.add({ account: deps.account, externalOrderId, sentAt: claimed.tracking.sentAt?.toISOString() ?? '' });
  const { forbiddenIn } = claimed.tracking;
  // True if the restraint of this order's 403 has ended, because the exchange has taken another order since.
  const isForbiddenAlone = forbiddenIn > 0 && forbiddenIn < deps.restraints.forbiddenHold;
  const outcome = await exchange.createPreOrder(claimed.order, turnToSend, isForbiddenAlone);
  create.isSent = outcome.kind !== 'not-sent';
  guarded.mayBeTaken = !isNotTaken(outcome, claimed.tracking);
  await recordOrKeep(deps, claimed.tracking, outcome, create);
  return undefined;
}

/** Ends the turn while the intent waits for a standby. Returns undefined if no request may leave. */
async function turnOnceReplicated({ store, exchange }: FlowDeps, turn: Turn, id: string, signal: AbortSignal) {
  const isReplicated = store.writer.isReplicated(signal);
  if (isReplicated === true) return turn;
  turn.end();
  return (await isReplicated) ? await exchange.turnToCreate(id, signal) : undefined;
}

/** Makes the intent durable, for the row as it stands now. Returns undefined if there is nothing to send. */
async function claim(deps: FlowDeps, externalOrderId: string, create: CreateInFlight, guarded: GuardedCreate) {
  const { account, store, clock, settings, log, restraints, creates, observers } = deps;
  store.mark.assertWritten();
  const claimed = await store.writer.write(
    async (tx) => {
      create.isSent = undefined;
      if (creates.inFlight.isOverfull) return undefined;
      const row = await lockFreeOrder(tx, account, externalOrderId);
      if (row === undefined) return undefined;
      const now = clock.now();
      const before = trackingOf(row);
      const decided = decideClaim(before, uncheckedOrderOf(row), now, settings.isOnlyAccount);
      if (decided.kind === 'skip') return undefined;
      const guard = decided.kind === 'send' ? await guarded.decide(tx, decided.order) : undefined;
      if (guard?.kind === 'wait') return guard;
      if (guard?.kind === 'guarded') {
        return { kind: 'guarded', onDurable: [await restraints.guardWithin(tx, guard.reason)] } as const;
      }
      create.isSent = decided.kind === 'send' ? false : undefined;
      // The same transaction renews the lease, so that the request can leave as soon as the intent is durable.
      const saving = saveDecision(tx, before, decided.decision, now);
      const [saved, onLeased] = await together(saving, creates.lease.renewWithin(tx));
      if (decided.kind === 'send') intend(tx, row, saved);
      return { ...decided, saved, onDurable: [onLeased, await restraints.claimWithin(tx)] };
    },
    [externalOrderId],
  );
  if (claimed === undefined) {
    // SQLite accepts bytes that are not valid text. The id that was read then differs from the id of the row.
    if (externalOrderId.includes('\uFFFD')) {
      const message = 'an id is not valid Unicode text, so nothing was sent; replace the row by one with a valid id';
      countFailureOf(observers, externalOrderId, message, 'the id lost characters when it was read');
    }
    return undefined;
  }
  if (claimed.kind === 'wait') return claimed;
  for (const takeEffect of claimed.onDurable) takeEffect();
  if (claimed.kind === 'guarded') return undefined;
  if (claimed.kind === 'invalid') {
    observers.counters.invalid += 1;
    log.warn({ externalOrderId, cause: claimed.saved.stateReason }, 'order is invalid, nothing was sent');
    return undefined;
  }
  return { order: claimed.order, tracking: claimed.saved };
}
