import type { Finding } from '../../domain/findings/finding.ts';
import { echoFindings } from '../../domain/findings/compare.ts';
import { decideClaim, decideCreated, decideCorrected, type CreateOutcome } from '../../domain/orders/create.ts';
import { isSuccess, type MerchantOrder } from '../../domain/record.ts';
import type { Tracking } from '../../domain/orders/tracking.ts';
import { preOrderIdsIn } from '../../exchange/ids.ts';
import { FIRST_DUE, dueOrders, orderWithPreOrder, readOrder, saveDecision } from '../../store/orders.ts';
import { trackingOf, uncheckedOrderOf } from '../../store/order-columns.ts';
import { keepAnswer } from '../../store/kept-answers.ts';
import { keepPreOrder } from '../../store/pre-orders.ts';
import type { Transaction, Work } from '../../store/port.ts';
import { recordFindings, recordUnknownOutcome, type NewFindings } from '../findings/record-findings.ts';
import { forEachConcurrently } from '../pass/concurrency.ts';
import { countFindings } from '../pass/counters.ts';
import type { FlowDeps } from '../pass/deps.ts';
import type { CreateInFlight } from '../pass/in-flight.ts';
import { isolateFailure } from '../pass/isolate.ts';
import { probeForCreates } from './probe.ts';
import { recoverUnrecorded } from './recover.ts';

type CreateDeps = Pick<FlowDeps, 'account' | 'store' | 'exchange' | 'clock' | 'log' | 'settings' | 'lease'> &
  Pick<FlowDeps, 'counters' | 'concurrency' | 'gracePeriodOver' | 'inFlight'>;

const PAGE = 200;

/**
 * Sends every pending order that is due, and ends when none is left, when the circuit breaker opens, or when `signal`
 * aborts. The intent of each request is durable before it goes; what came of it is durable before the pass ends.
 */
export async function createPass(deps: CreateDeps, signal: AbortSignal): Promise<void> {
  await recoverUnrecorded(deps);
  await forEachConcurrently(dueIn(deps, 'invalid', signal), 1, (id) =>
    isolateFailure(deps, id, () => recheckCorrected(deps, id)),
  );
  await probeForCreates(deps, signal);
  await forEachConcurrently(dueIn(deps, 'pending', signal), deps.concurrency, (id) =>
    isolateFailure(deps, id, () => sendOrder(deps, id, signal)),
  );
}

async function* dueIn(
  { account, store, clock, exchange }: CreateDeps,
  state: 'pending' | 'invalid',
  signal: AbortSignal,
): AsyncGenerator<string> {
  let from = FIRST_DUE;
  for (;;) {
    const page = await dueOrders(store.db, { account, state, until: clock.now(), from, limit: PAGE });
    const before = from;
    for (const due of page) {
      if (signal.aborted || (state === 'pending' && isStopped(exchange))) return;
      yield due.externalOrderId;
      from = due;
    }
    if (page.length < PAGE) return;
    // SQLite reads ids that are no text otherwise than it compares them: a page of them would come again and again.
    const isStuck = from.externalOrderId === before.externalOrderId;
    if (isStuck) from = { nextActionAt: `${from.nextActionAt}~`, externalOrderId: '' };
  }
}

function isStopped(exchange: CreateDeps['exchange']): boolean {
  const { isOpen, needsProbe } = exchange.breaker('create');
  return isOpen || needsProbe;
}

/** Puts an invalid row that has been corrected back among the pending ones, where it is checked again. */
async function recheckCorrected({ account, store, clock }: CreateDeps, externalOrderId: string): Promise<void> {
  await store.writer.write(async (tx) => {
    const row = await readOrder(tx, account, externalOrderId);
    if (row === undefined) return;
    const now = clock.now();
    const before = trackingOf(row);
    const decision = decideCorrected(before, now);
    if (decision !== undefined) await saveDecision(tx, before, decision, now);
  });
}

/** Sends one order where it is pending and due, and records what came of it. */
export async function sendOrder(deps: CreateDeps, externalOrderId: string, signal: AbortSignal): Promise<void> {
  const { exchange } = deps;
  using turn = await exchange.turnToCreate(externalOrderId, signal);
  if (turn === undefined) return;
  using create = deps.inFlight.begin(externalOrderId);
  const claimed = await claim(deps, externalOrderId, create);
  if (claimed === undefined) return create.isRecorded();
  create.leaves();
  const outcome = await exchange.createPreOrder(claimed.order, turn);
  if (outcome.kind === 'not-sent') create.neverLeft();
  await recordOutcome(deps, claimed.tracking, outcome);
  create.isRecorded();
}

/** Makes the intent durable, for the row as it stands now. Undefined when there is nothing to send. */
async function claim(
  { account, store, clock, counters, log, lease }: CreateDeps,
  externalOrderId: string,
  create: Pick<CreateInFlight, 'intends'>,
): Promise<{ order: MerchantOrder; tracking: Tracking } | undefined> {
  store.mark.assertWritten();
  const claimed = await store.writer.write(async (tx) => {
    create.intends(false);
    const row = await readOrder(tx, account, externalOrderId);
    if (row === undefined) return undefined;
    const now = clock.now();
    const before = trackingOf(row);
    const decided = decideClaim(before, uncheckedOrderOf(row), now);
    if (decided.kind === 'skip') return undefined;
    create.intends(decided.kind === 'send');
    await saveDecision(tx, before, decided.decision, now);
    // Together with the intent: once that is durable nothing but the request may come in between.
    return { ...decided, onDurable: await lease.renewWithin(tx) };
  });
  if (claimed === undefined) {
    // SQLite also takes bytes that are no text; the id that is read is then not the id that is there.
    if (externalOrderId.includes('\uFFFD')) {
      counters.failed += 1;
      log.error(
        { externalOrderId },
        'an id is not valid Unicode text, so nothing was sent; delete the row, insert it again',
      );
    }
    return undefined;
  }
  claimed.onDurable();
  if (claimed.kind === 'invalid') {
    counters.invalid += 1;
    log.warn({ externalOrderId, reason: claimed.decision.tracking.stateReason }, 'order is invalid, nothing was sent');
    return undefined;
  }
  return { order: claimed.order, tracking: claimed.decision.tracking };
}

/** Decides what came of the request for the row as it stands now: another owner may have moved it meanwhile. */
async function recordOutcome(deps: CreateDeps, claimed: Tracking, outcome: CreateOutcome): Promise<void> {
  const { clock, settings } = deps;
  const { account, externalOrderId } = claimed;
  const random = clock.random();
  const writing = (isWhole: boolean) => async (tx: Transaction) => {
    const row = await readOrder(tx, account, externalOrderId);
    const now = clock.now();
    const before = row === undefined ? claimed : trackingOf(row);
    // Another owner's request may be in flight: only that the exchange has the order says something of that one too.
    const isLate = before.state !== 'sending' || before.attempts !== claimed.attempts;
    const isDecided = !isLate || outcome.kind === 'accepted';
    let after = before;
    for (const decision of isDecided ? decideCreated(before, outcome, now, random, settings) : []) {
      after = await saveDecision(tx, after, decision, now);
    }
    if (!isWhole) return { before, after, isLate, findings: [] };
    await keepAnswers(tx, after, outcome, now);
    return { before, after, isLate, findings: await noteCreated(tx, deps, outcome, before, after, now) };
  };
  countOutcome(deps, outcome, await writeOutcome(deps, externalOrderId, outcome, writing));
}

/**
 * Writes the outcome of a create. Where the database refuses it, as a trigger of the merchant's may, the state is written
 * without what goes with it; what cannot be written at all is logged: nobody will tell us once more.
 */
async function writeOutcome<Recorded>(
  { store, log, gracePeriodOver }: CreateDeps,
  externalOrderId: string,
  outcome: CreateOutcome,
  writing: (isWhole: boolean) => Work<Recorded>,
): Promise<Recorded> {
  const write = async (isWhole: boolean) =>
    await store.writer.writeUntilDurable(writing(isWhole), gracePeriodOver, ({ message: problem }) =>
      log.error({ externalOrderId, problem }, 'the outcome of a create cannot be written yet'),
    );
  try {
    return await write(true);
  } catch (error) {
    const problem = String(error);
    log.error(
      { externalOrderId, problem },
      'the outcome of a create cannot be written whole, its state alone is tried',
    );
  }
  try {
    return await write(false);
  } catch (error) {
    log.error({ externalOrderId, outcome: loggedOutcome(outcome) }, 'the outcome of a create is not recorded, keep it');
    throw error;
  }
}

/** Everything of an outcome but the bodies of answers, which may hold secrets. */
function loggedOutcome(outcome: CreateOutcome): Readonly<Record<string, unknown>> {
  if (outcome.kind === 'unknown') {
    const { kind, why, answer } = outcome;
    return { kind, why, ...(answer && { httpStatus: answer.httpStatus, ids: preOrderIdsIn(answer.body) }) };
  }
  if (outcome.kind !== 'accepted') return outcome;
  const { kind, preOrder, differences } = outcome;
  return { kind, preOrderId: preOrder.id, exchangeType: preOrder.exchangeType, differences };
}

/** Keeps the pre-order as received; also an answer that made one and cannot be read, for the id that it may bear. */
async function keepAnswers(tx: Transaction, after: Tracking, outcome: CreateOutcome, now: Date): Promise<void> {
  const { account, externalOrderId } = after;
  const receivedAt = now.toISOString();
  if (outcome.kind === 'accepted' && after.preOrderId === outcome.preOrder.id) {
    await keepPreOrder(tx, { account, externalOrderId, body: outcome.preOrder.body, receivedAt });
  }
  const answer = outcome.kind === 'unknown' ? outcome.answer : undefined;
  if (answer === undefined || !isSuccess(answer)) return;
  await keepAnswer(tx, { ...answer, account, operation: 'createPreOrder', subject: externalOrderId, receivedAt });
}

async function noteCreated(
  tx: Transaction,
  deps: CreateDeps,
  outcome: CreateOutcome,
  before: Tracking,
  after: Tracking,
  now: Date,
): Promise<NewFindings> {
  const { account, externalOrderId } = after;
  // A disputed order leaves the outcome as unknown as it was, unless this is the answer.
  const isSaid = after.state !== 'disputed' || outcome.kind === 'accepted';
  const isOfOutcome = isSaid && (before.state !== 'sending' || after.state === 'unknown' || after.resends > 0);
  const outcomes = isOfOutcome ? await recordUnknownOutcome(tx, deps, after, now) : [];
  if (outcome.kind !== 'accepted') return outcomes;
  const preOrderId = outcome.preOrder.id;
  const other = await orderWithPreOrder(tx, { account, externalOrderId, preOrderId });
  const found = [...echoFindings(outcome.differences), ...(other === undefined ? [] : [reused(preOrderId, other)])];
  if (found.length === 0) return outcomes;
  const classes = outcome.differences.length === 0 ? [] : (['PREORDER_ECHO_MISMATCH'] as const);
  return [...outcomes, ...(await recordFindings(tx, deps, externalOrderId, { found, classes, now }))];
}

function reused(preOrderId: string, other: string): Finding {
  return { class: 'PREORDER_REUSED', expected: `${preOrderId} for one order`, actual: `also for ${other}` };
}

function countOutcome(
  { counters, log }: CreateDeps,
  outcome: CreateOutcome,
  { before, after, isLate, findings }: { before: Tracking; after: Tracking; isLate: boolean; findings: NewFindings },
): void {
  const { externalOrderId, state, stateReason: reason } = after;
  if (isLate) {
    const fields = { externalOrderId, stateBefore: before.state, state, outcome: outcome.kind };
    const preOrderId = outcome.kind === 'accepted' ? outcome.preOrder.id : undefined;
    log.error({ ...fields, preOrderId }, 'an answer to a create came when its order had been moved on');
  }
  if (outcome.kind !== 'not-sent') counters.sent += 1;
  countFindings(counters, findings);
  // Nothing was decided, so that nothing below is true of the order.
  if (isLate && outcome.kind !== 'accepted') {
    counters.failed += 1;
    return;
  }
  switch (outcome.kind) {
    case 'accepted':
      counters.accepted += 1;
      log.info({ externalOrderId, preOrderId: outcome.preOrder.id }, 'pre-order created');
      if (outcome.differences.length > 0) {
        log.warn(
          { externalOrderId, differences: outcome.differences.map(({ actual }) => actual) },
          'the pre-order differs from the order',
        );
      }
      return;
    case 'rejected':
      // A second create that is refused leaves the first unknown.
      counters[state === 'unknown' ? 'unknown' : 'rejected'] += 1;
      log.warn({ externalOrderId, reason }, 'order was rejected');
      return;
    case 'unknown': {
      counters.unknown += 1;
      const ids = outcome.answer && preOrderIdsIn(outcome.answer.body);
      log.warn({ externalOrderId, reason, ids }, 'the outcome of a create is unknown, it will be looked up');
      return;
    }
    case 'key-refused':
      counters.failed += 1;
      log.error({ externalOrderId, reason }, 'the exchange refuses the key; check exchange.apiKey');
      return;
    case 'not-sent':
    case 'rate-limited':
      counters.failed += 1;
      log.warn({ externalOrderId, reason }, 'order was not taken, it will be sent again');
      return;
  }
}
