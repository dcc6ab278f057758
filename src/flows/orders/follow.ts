import type { Logger } from 'pino';
import { REFUSALS } from '../../domain/accounts/restraints.ts';
import { FINDING_CLASSES } from '../../domain/findings/classes.ts';
import { decideLookup, isLookedUp, isOvertaken } from '../../domain/orders/follow.ts';
import type { LookupAnswer, LookupDecision } from '../../domain/orders/lookup.ts';
import { lateMsOf } from '../../domain/orders/pace/history.ts';
import { isPaced } from '../../domain/orders/pace/status.ts';
import { isNeverLookedUp, type LookupSource } from '../../domain/orders/schedule.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from '../../domain/orders/states.ts';
import type { OrderEvent, Tracking } from '../../domain/orders/tracking.ts';
import type { OrderLookup } from '../../exchange/asking.ts';
import type { Health } from '../../exchange/breaker.ts';
import { rememberStatuses, type SeenStatus } from '../../store/accounts.ts';
import { lockFollowed } from '../../store/orders-with-records.ts';
import { orderIds, saveDecision } from '../../store/orders.ts';
import { trackingOf } from '../../store/order-columns.ts';
import type { Transaction } from '../../store/port.ts';
import { compareWithRow, compareWithNewest, settingsOnAbsence } from '../findings/evidence.ts';
import { reconcileAnswer, type LookedUp } from '../findings/judge-answer.ts';
import type { NewFindings } from '../findings/record-findings.ts';
import { forEachConcurrently } from '../pass/run.ts';
import { countFindings } from '../pass/counters.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { isolateFailure } from '../pass/isolate.ts';
import { ordersToLookUp } from './due-lookups.ts';

type FollowDeps = Pick<FlowDeps, 'account' | 'store' | 'exchange' | 'clock' | 'log' | 'settings'> &
  Pick<FlowDeps, 'counters' | 'concurrency' | 'incidents' | 'activity' | 'holds'>;

const PAGE = 200;
/** The breaker opened, and once more after a wait: a few orders that alone fail are no outage. */
const OPENINGS_OF_OUTAGE = 2;

/** Status values that the interface document shows (§3). */
const DOCUMENTED_STATUSES: readonly string[] = ['REQUEST', 'NEW'];

/** Which orders a follow pass looks up: those that are due, or every order being followed, due or not. */
export type FollowScope = 'due' | 'all';

/** No order is due until then. */
const NEVER_DUE = new Date(0);

/**
 * Looks orders up and records what changed. Each order is looked up once, an unknown outcome each time it comes due; the
 * pass ends when none is left, when the circuit breaker opens, or when `signal` aborts. With the scope `all`, orders that
 * were looked up after `since` count as done.
 */
export async function followPass(
  deps: FollowDeps,
  scope: FollowScope,
  signal: AbortSignal,
  since: Date = deps.clock.now(),
): Promise<void> {
  if (scope === 'all') await lookUpEach(deps, allFollowed(deps, signal, since), signal);
  else await lookUpDue(deps, () => since, signal);
}

/**
 * Looks up the orders that are due at `until`, which is asked anew at each round: the daemon moves it on by its cron. With the
 * pace `every-tick` the next tick begins for those that are followed once all of them were looked up that were due at the last
 * one. Unknown outcomes are due at their own times. Ends like `followPass`.
 */
export async function lookUpDue(deps: FollowDeps, until: () => Date, signal: AbortSignal): Promise<void> {
  const isEveryTick = deps.settings.pace.kind === 'every-tick';
  let tick = until();
  const dueUntil = (source: LookupSource) => {
    if (source === 'unknown') return deps.clock.now();
    return isEveryTick && isFollowed(source) ? tick : until();
  };
  const onRound = (sources: ReadonlySet<LookupSource>) => {
    if (![...sources].some(isFollowed)) tick = until();
  };
  await lookUpEach(
    deps,
    ordersToLookUp(deps, dueUntil, () => isOver(deps, signal), onRound),
    signal,
  );
}

function isFollowed(source: LookupSource): boolean {
  return isNeverLookedUp(source) || isPaced(source);
}

async function lookUpEach(deps: FollowDeps, orders: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  await forEachConcurrently(orders, deps.concurrency, (id) => isolateFailure(deps, id, () => lookUp(deps, id, signal)));
}

async function* allFollowed(deps: FollowDeps, signal: AbortSignal, since: Date): AsyncGenerator<string> {
  const { account, store } = deps;
  let fromId = '';
  for (;;) {
    const query = { account, states: FOLLOWED_STATES, fromId, limit: PAGE, notLookedUpSince: since };
    const page = await orderIds(store.db, query);
    for (const externalOrderId of page) {
      if (isOver(deps, signal)) return;
      yield externalOrderId;
      fromId = externalOrderId;
    }
    if (page.length < PAGE) break;
  }
  const isRechecked = (source: LookupSource) => (RECHECKED_STATES as readonly string[]).includes(source);
  const until = (source: LookupSource) => (isRechecked(source) ? since : NEVER_DUE);
  yield* ordersToLookUp(deps, until, () => isOver(deps, signal));
}

function isOver({ exchange }: FollowDeps, signal: AbortSignal): boolean {
  return signal.aborted || exchange.breaker('lookup').isOpen;
}

/** Looks one order up and records what the answer decides; as a probe the answer also shows whether creates may go again. */
export async function lookUp(
  deps: FollowDeps,
  externalOrderId: string,
  signal: AbortSignal,
  isProbe = false,
): Promise<void> {
  const { account, store, exchange, clock } = deps;
  const lookup = await exchange.lookUpOrder(externalOrderId, signal, isProbe);
  if (lookup === undefined) return;
  const { askedAt, health } = lookup;
  const answer = inOutage(exchange, lookup);
  const random = clock.random();
  const recorded = await store.writer.write(async (tx) => {
    const row = await lockFollowed(tx, account, externalOrderId);
    const before = row === undefined ? undefined : trackingOf(row);
    if (row === undefined || before === undefined || !isLookedUp(before, answer)) return undefined;
    const now = clock.now();
    if (isOvertaken(before, answer, askedAt, now)) return undefined;
    return await recordAnswer(tx, deps, { row, before, answer, now }, random);
  });
  if (recorded === undefined) {
    const isOutage = health === 'failed' || health === 'unreachable';
    // A probe for creates is about an order that waits, for which no answer is nothing to record.
    if (answer.kind === 'unanswered' && isOutage) deps.incidents.exchangeFailed(answer.why);
    return;
  }
  const { before, decision } = recorded;
  // The create was taken, so creates are not lost.
  if (isUncertain(before.state) && answer.kind === 'found' && decision.tracking.state !== 'disputed') {
    deps.holds.note({ kind: 'create-accepted' }, before.sentAt ?? askedAt);
  }
  countAnswer(deps, answer, recorded);
  if (answer.kind === 'found') deps.incidents.recordRead();
  if (answer.kind === 'unanswered' && answer.isUnreadable) deps.incidents.recordUnreadable(externalOrderId);
  if (answer.kind === 'unanswered') countUnanswered(deps, externalOrderId, answer.why, health);
}

function isUncertain(state: OrderState): boolean {
  return state === 'unknown' || state === 'held';
}

/** Adds to a missing answer whether the exchange has answered nothing for a while. */
function inOutage(exchange: FollowDeps['exchange'], { answer, health }: OrderLookup): LookupAnswer {
  const isOutage = health === 'failed' || health === 'unreachable';
  if (answer.kind !== 'unanswered' || !isOutage) return answer;
  return { ...answer, isOutage: exchange.breaker('lookup').openings >= OPENINGS_OF_OUTAGE };
}

interface RecordedAnswer {
  readonly before: Tracking;
  readonly decision: LookupDecision;
  readonly findings: NewFindings;
  readonly unseen: readonly Pick<SeenStatus, 'field' | 'value'>[];
}

/** Records what the answer to a look-up decides about a row, which this transaction has read. */
export async function recordAnswer(
  tx: Transaction,
  deps: FollowDeps,
  { row, before, answer: given, now }: Pick<LookedUp, 'row' | 'before' | 'answer' | 'now'>,
  random: number,
): Promise<RecordedAnswer> {
  const settings = await settingsOnAbsence(tx, deps, before, given, now);
  const answer = await compareWithNewest(tx, row, given);
  const compared = answer.kind === 'found' ? await compareWithRow(tx, deps, row, answer.record, now) : undefined;
  const decision = decideLookup(before, answer, now, random, settings, compared?.contradictions);
  await saveDecision(tx, before, decision, now);
  const findings = await reconcileAnswer(tx, deps, { row, before, answer, compared, decision, now });
  return { before, decision, findings, unseen: await unseenStatuses(tx, deps.account, decision.events, now) };
}

/** Remembers the statuses that changed, and gives those that no order of the account ever had. */
async function unseenStatuses(
  tx: Transaction,
  account: string,
  events: readonly OrderEvent[],
  now: Date,
): Promise<RecordedAnswer['unseen']> {
  const seen = events.flatMap(({ field, newValue: value }) =>
    field.endsWith('.status') && value !== null ? [{ account, field, value, first_seen_at: now.toISOString() }] : [],
  );
  return seen.length === 0 ? [] : await rememberStatuses(tx, seen);
}

export function countAnswer(
  { counters, log, incidents, activity }: FollowDeps,
  answer: LookupAnswer,
  { before: tracked, decision, findings, unseen }: RecordedAnswer,
): void {
  const { state: before } = tracked;
  for (const { field, value } of unseen) {
    if (!DOCUMENTED_STATUSES.includes(value)) incidents.sawStatus(field, value);
  }
  const { externalOrderId, state, stateReason: cause } = decision.tracking;
  countFindings(counters, findings);
  logFindings(log, externalOrderId, findings);
  if (answer.kind === 'unanswered') return;
  counters.lookedUp += 1;
  const changes = decision.events.filter(({ field }) => field === 'state' || field.endsWith('.status'));
  if (changes.length > 0) {
    counters.changed += 1;
    const lateMs = lateMsOf(tracked, decision);
    if (lateMs !== undefined) activity.tell({ kind: 'change.seen', lateMs });
    log.info({ externalOrderId, ...Object.fromEntries(changes.map(shownChange)) }, 'order changed');
  }
  if (state === 'final' && before !== 'final') counters.final += 1;
  if (state === 'disputed' && before !== 'disputed') {
    counters.disputed += 1;
    log.warn({ externalOrderId, cause }, 'order is disputed, nobody should act on it');
  }
  if (state === 'held' && before !== 'held') {
    counters.held += 1;
    log.warn({ externalOrderId, cause }, 'order is held, a person must decide');
  }
}

/** Counts a look-up that brought no answer. An odd answer speaks of its order, any other of the exchange or the account. */
function countUnanswered(
  { counters, incidents }: FollowDeps,
  externalOrderId: string,
  why: string,
  health: Health,
): void {
  counters.failed += 1;
  const failure = { message: 'a look-up brought no answer, it will be tried again', facts: { externalOrderId } };
  if (health === 'answered') incidents.failed({ ...failure, cause: why, subject: externalOrderId });
  else if (why === 'rate-limited' || why === 'key-refused') {
    incidents.failed({ ...failure, cause: REFUSALS[why], kind: why });
  } else incidents.failed({ ...failure, cause: why, kind: 'exchange' });
}

function shownChange({ field, oldValue, newValue }: OrderEvent): [string, string | null] {
  return [field, oldValue === null ? newValue : `${oldValue} → ${newValue}`];
}

/** What explains something is no news for a person. */
function logFindings(log: Logger, externalOrderId: string, findings: NewFindings): void {
  const classes = findings.map((finding) => finding.class).filter((name) => FINDING_CLASSES[name].severity !== 'info');
  if (classes.length > 0) log.warn({ externalOrderId, findings: classes }, 'an order has new findings');
}
