import { shared } from '../findings/rules/rules.ts';
import { after as laterBy } from '../base/instant.ts';
import { messageOf } from '../base/text.ts';
import { decideCreated, type CreateOutcome } from './rules/create.ts';
import { isSuccess } from './rules/record.ts';
import type { Tracking } from './rules/tracking.ts';
import { preOrderIdsIn } from '../exchange/ids.ts';
import { orderWithPreOrder, lockOrder, saveDecision, saveIfUnchanged } from '../store/orders/orders.ts';
import { trackingOf } from '../store/orders/order-columns.ts';
import { keepAnswer, keepPreOrder } from '../store/tables/order-records.ts';
import { together } from '../store/statement.ts';
import { OwnedError, type StoreError } from '../store/errors.ts';
import type { Transaction, Work } from '../store/port.ts';
import { recordFindings, recordUnknownOutcome } from '../findings/record-findings.ts';
import { tellCreate, type RecordedCreate } from './pass/outcomes.ts';
import type { FlowDeps } from './pass/deps.ts';
import type { CreateInFlight } from './pass/in-flight.ts';
import { isRefusal, POSTPONE_MS } from './pass/isolate.ts';

/** Records, counts and logs a create's outcome. If the database refuses the outcome, keeps it in memory and rejects. */
export async function recordOrKeep(deps: FlowDeps, claimed: Tracking, outcome: CreateOutcome, create?: CreateInFlight) {
  const { inFlight } = deps.creates;
  try {
    tellCreate(deps, await recordOutcome(deps, claimed, outcome, create));
    inFlight.forget(claimed.externalOrderId);
    if (create !== undefined) create.isSent = undefined;
  } catch (error) {
    if (isRefusal(error)) inFlight.keep({ claimed, outcome, tryAt: laterBy(deps.clock.now(), POSTPONE_MS) });
    throw error;
  }
}

async function recordOutcome(deps: FlowDeps, claimed: Tracking, received: CreateOutcome, create?: CreateInFlight) {
  const { clock, settings, restraints } = deps;
  const outcome = withoutIgnored(received, settings.ignore);
  const random = clock.random();
  const decide = (before: Tracking, now: Date) =>
    decideCreated(before, outcome, now, random, settings, restraints.forbiddenHold);
  const recordLate = async (tx: Transaction, now: Date) => {
    const row = await lockOrder(tx, claimed.account, claimed.externalOrderId);
    const before = row === undefined ? claimed : trackingOf(row);
    // If the row has changed, another create may be in flight. Then only an accepted pre-order still changes the order.
    const isLate = before.state !== 'sending' || before.attempts !== claimed.attempts;
    let after = before;
    if (!isLate || outcome.kind === 'accepted') {
      for (const decision of decide(before, now)) after = await saveDecision(tx, after, decision, now);
    }
    return { before, after, isLate };
  };
  const writing = (isWhole: boolean) => async (tx: Transaction) => {
    const now = clock.now();
    // Most rows have not changed since their intent, so the row is read only if the save fails.
    const [decision] = decide(claimed, now);
    const saved = decision && (await saveIfUnchanged(tx, claimed, decision, now));
    const recorded = saved ? { before: claimed, after: saved, isLate: false } : await recordLate(tx, now);
    const { before, after } = recorded;
    if (!isWhole) return { ...recorded, outcome, findings: [] };
    const keeping = keepAnswers(tx, after, outcome, now);
    const [, findings] = await together(keeping, noteCreated(tx, outcome, before, after, now));
    return { ...recorded, outcome, findings };
  };
  return await writeOutcome(deps, claimed.externalOrderId, outcome, writing, create);
}

function withoutIgnored(outcome: CreateOutcome, ignore: readonly string[]): CreateOutcome {
  if (outcome.kind !== 'accepted') return outcome;
  return { ...outcome, differences: outcome.differences.filter(({ class: name }) => !ignore.includes(name)) };
}

/** Writes an outcome. If that fails, writes the state alone. If that fails too, logs the outcome and rejects. */
async function writeOutcome(
  { store, log, gracePeriodOver, observers }: FlowDeps,
  externalOrderId: string,
  outcome: CreateOutcome,
  writing: (isWhole: boolean) => Work<RecordedCreate>,
  create: CreateInFlight | undefined,
): Promise<RecordedCreate> {
  const tell = ({ message: cause }: StoreError) => {
    if (create !== undefined) create.isWriteFailing = true;
    const failure = { message: 'the outcome of a create cannot be written yet', cause, facts: { externalOrderId } };
    observers.tell({ kind: 'failed', failure: { ...failure, level: 'error', kind: 'database' } });
  };
  // Writes about the same pre-order wait for each other, so that the second order finds the first.
  const about = [externalOrderId, ...(outcome.kind === 'accepted' ? [`pre-order ${outcome.preOrder.id}`] : [])];
  const write = async (isWhole: boolean) =>
    await store.writer.writeUntilDurable(writing(isWhole), gracePeriodOver, tell, about);
  const facts = { externalOrderId, outcome: loggedOutcome(outcome) };
  try {
    return await write(true);
  } catch (error) {
    if (error instanceof OwnedError) {
      const message =
        'the outcome of a create came too late: another process drives the account now, and looks the order up';
      log.warn(facts, message);
      throw error;
    }
    const message = 'the outcome of a create cannot be written with all its fields, so its state alone is written';
    log.error({ externalOrderId, cause: messageOf(error) }, message);
  }
  try {
    return await write(false);
  } catch (error) {
    log.error(facts, 'the outcome of a create is not recorded: keep this line');
    throw error;
  }
}

/** Returns an outcome for the log, without the bodies of answers, because a body may contain secrets. */
function loggedOutcome(outcome: CreateOutcome): Readonly<Record<string, unknown>> {
  if (outcome.kind === 'unknown') {
    const { kind, why: cause, answer } = outcome;
    return { kind, cause, ...(answer && { httpStatus: answer.httpStatus, ids: preOrderIdsIn(answer.body) }) };
  }
  if (outcome.kind !== 'accepted') return outcome;
  const { kind, preOrder, differences } = outcome;
  return { kind, preOrderId: preOrder.id, exchangeType: preOrder.exchangeType, differences };
}

/** Stores a pre-order as received. Also stores a 2xx answer of unknown outcome, which may have the pre-order's id. */
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

async function noteCreated(tx: Transaction, outcome: CreateOutcome, before: Tracking, after: Tracking, now: Date) {
  const { account, externalOrderId } = after;
  // A disputed order does not show if our create was taken. An accepted pre-order shows it.
  const isSaid = after.state !== 'disputed' || outcome.kind === 'accepted';
  const isOfOutcome = isSaid && (before.state !== 'sending' || after.state === 'unknown' || after.resends > 0);
  const outcomes = isOfOutcome ? await recordUnknownOutcome(tx, after, now) : [];
  if (outcome.kind !== 'accepted') return outcomes;
  const preOrderId = outcome.preOrder.id;
  const other = await orderWithPreOrder(tx, { account, externalOrderId, preOrderId });
  const reused = other === undefined ? [] : [{ class: 'PREORDER_REUSED' as const, ...shared(preOrderId, other) }];
  const found = [...outcome.differences, ...reused];
  if (found.length === 0) return outcomes;
  return [...outcomes, ...(await recordFindings(tx, after, { found, classes: [], now }))];
}
