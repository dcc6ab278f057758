import { decideLookup, isLookedUp, isOvertaken } from './rules/follow.ts';
import type { LookupAnswer } from './rules/lookup.ts';
import { isNeverLookedUp, type LookupSource, LOOKUPS_A_ROUND, nextRound } from './rules/schedule.ts';
import { FOLLOWED_STATES, isPaced, isRechecked } from './rules/states.ts';
import { MERCHANT_ID, readAccountFact, rememberStatuses, seenStatuses } from '../store/tables/accounts.ts';
import { lockFollowed } from '../store/orders/orders-with-records.ts';
import { orderIds, saveDecision } from '../store/orders/orders.ts';
import { trackingOf } from '../store/orders/order-columns.ts';
import { pagesAfter } from '../store/pages.ts';
import type { Database, Transaction } from '../store/port.ts';
import { compareWithRow, compareWithNewest, settingsOnAbsence } from '../findings/evidence.ts';
import { reconcileAnswer, type LookedUp } from '../findings/judge-answer.ts';
import { forEachConcurrently } from './pass/run.ts';
import { tellLookup, type RecordedLookup } from './pass/outcomes.ts';
import type { FlowDeps } from './pass/deps.ts';
import { isolateFailure } from './pass/isolate.ts';
import { dueLookups } from '../store/orders/due-times.ts';
import type { DueKey } from '../store/find-orders.ts';

const PAGE = 200;
/** The most known statuses that are read, because an exchange may invent any number. */
const MOST_STATUSES = 1_000;
/** An outage begins with the second opening of the breaker, because a few failing orders may open the breaker once. */
const OPENINGS_OF_OUTAGE = 2;

/** `due` looks up due orders. `all` also looks up the orders of `FOLLOWED_STATES` that are not due. */
export type FollowScope = 'due' | 'all';

const NEVER_DUE = new Date(0);

/** Looks up orders that are due at `since`. With `all`, an order that was looked up after `since` counts as done. */
export async function followPass(deps: FlowDeps, scope: FollowScope, signal: AbortSignal, since = deps.clock.now()) {
  if (scope === 'all') await lookUpEach(deps, allFollowed(deps, signal, since), signal);
  else await lookUpDue(deps, () => since, signal);
}

/** Looks up the orders that are due at `until()`, which each round calls anew, because a cron tick moves that time. */
export async function lookUpDue(deps: FlowDeps, until: () => Date, signal: AbortSignal): Promise<void> {
  const { isEveryTick } = deps.settings.pace;
  // With the pace `every-tick`, `tick` moves only when all orders that were due at the last tick were looked up.
  let tick = until();
  const dueUntil = (source: LookupSource) => {
    if (source === 'unknown') return deps.clock.now();
    return isEveryTick && isFollowed(source) ? tick : until();
  };
  const onRound = (sources: readonly LookupSource[]) => {
    if (!sources.some(isFollowed)) tick = until();
  };
  await lookUpEach(deps, ordersToLookUp(deps, dueUntil, signal, onRound), signal);
}

function isFollowed(source: LookupSource): boolean {
  return isNeverLookedUp(source) || isPaced(source);
}

async function lookUpEach(deps: FlowDeps, orders: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const { account, store, settings } = deps;
  let known: ReturnType<typeof readKnown> | undefined;
  await forEachConcurrently(orders, settings.concurrency, async (id) => {
    known ??= readKnown(store.db, account);
    // If this read fails, the pass ends, because the error concerns all orders.
    const accountKnown = await known;
    await isolateFailure(deps, id, () => lookUp(deps, id, signal, false, accountKnown));
  });
}

async function readKnown(db: Database, account: string) {
  // Until a first record sets the merchant of the account, answers are written one after another.
  const hasMerchant = (await readAccountFact(db, { account, name: MERCHANT_ID })) !== undefined;
  const statuses = await seenStatuses(db, { account, limit: MOST_STATUSES });
  return { hasMerchant, statuses: new Set(statuses.map(({ field, value }) => `${field} ${value}`)) };
}

async function* allFollowed(deps: FlowDeps, signal: AbortSignal, since: Date): AsyncGenerator<string> {
  const { account, store } = deps;
  const followed = (fromId = '') =>
    orderIds(store.db, { account, states: FOLLOWED_STATES, fromId, limit: PAGE, notLookedUpSince: since });
  for await (const page of pagesAfter(PAGE, followed)) {
    for (const externalOrderId of page) {
      if (isStopped(deps, signal)) return;
      yield externalOrderId;
    }
  }
  yield* ordersToLookUp(deps, (source) => (isRechecked(source) ? since : NEVER_DUE), signal);
}

function isStopped({ exchange }: FlowDeps, signal: AbortSignal): boolean {
  return signal.aborted || exchange.breaker('lookup').isOpen;
}

/** Looks one order up and records the answer. The answer to a probe also shows if creates may be sent again. */
export async function lookUp(
  deps: FlowDeps,
  externalOrderId: string,
  signal: AbortSignal,
  isProbe = false,
  known?: Awaited<ReturnType<typeof readKnown>>,
): Promise<void> {
  const { account, store, exchange, clock } = deps;
  const lookup = await exchange.lookUpOrder(externalOrderId, signal, isProbe);
  if (lookup === undefined) return;
  const { askedAt, health } = lookup;
  const isFailed = health === 'failed' || health === 'unreachable';
  const isOutage = isFailed && exchange.breaker('lookup').openings >= OPENINGS_OF_OUTAGE;
  const answer = lookup.answer.kind === 'unanswered' ? { ...lookup.answer, isOutage } : lookup.answer;
  const random = clock.random();
  const record = async (tx: Transaction) => {
    const row = await lockFollowed(tx, account, externalOrderId);
    if (row === undefined) return undefined;
    const [before, now] = [trackingOf(row), clock.now()];
    if (!isLookedUp(before, answer) || isOvertaken(before, answer, askedAt, now)) return undefined;
    return await recordAnswer(tx, deps, { row, before, answer, now }, random, known?.statuses);
  };
  const about = known?.hasMerchant === true ? [externalOrderId, ...sharedBy(answer)] : undefined;
  const recorded = await store.writer.write(record, about);
  if (recorded === undefined) {
    // A probe may look up a pending order. If that look-up fails, nothing about the order is recorded.
    if (answer.kind === 'unanswered' && isFailed) deps.observers.tell({ kind: 'exchange.failed', cause: answer.why });
    return;
  }
  const { before, decision } = recorded;
  // A found order shows that the exchange took its create.
  const isUncertain = before.state === 'unknown' || before.state === 'held';
  if (isUncertain && answer.kind === 'found' && decision.tracking.state !== 'disputed') {
    deps.restraints.note({ kind: 'create-accepted' }, before.sentAt ?? askedAt);
  }
  tellLookup(deps, { answer, health }, recorded);
}

/** Names facts that answers may share. Writes that share a name run in turn, so that the second sees the first. */
function sharedBy(answer: LookupAnswer): readonly string[] {
  if (answer.kind === 'absent') return ['absence'];
  if (answer.kind !== 'found') return [];
  const { orderId, transactionHash } = answer.record;
  return [`order ${orderId}`, ...(transactionHash === null ? [] : [`hash ${transactionHash}`])];
}

/** Decides by an answer, and writes the order, its events, its record and its findings in the transaction. */
export async function recordAnswer(
  tx: Transaction,
  deps: FlowDeps,
  { row, before, answer: given, now }: Pick<LookedUp, 'row' | 'before' | 'answer' | 'now'>,
  random: number,
  seen: ReadonlySet<string> = new Set(),
): Promise<RecordedLookup> {
  const settings = given.kind === 'absent' ? await settingsOnAbsence(tx, deps, before, now) : deps.settings;
  const answer = await compareWithNewest(tx, row, given);
  const compared =
    answer.kind === 'found' ? await compareWithRow(tx, deps.settings, row, answer.record, now) : undefined;
  const { evidence, contradictions } = compared ?? {};
  const decision = decideLookup(before, answer, now, random, settings, contradictions);
  await saveDecision(tx, before, decision, now);
  const findings = await reconcileAnswer(tx, deps, { row, before, answer, evidence, decision, now });
  const news = decision.events.flatMap(({ field, newValue: value }) =>
    field.endsWith('.status') && value !== null && !seen.has(`${field} ${value}`)
      ? [{ account: deps.account, field, value, first_seen_at: now.toISOString() }]
      : [],
  );
  return { before, decision, findings, unseen: news.length === 0 ? [] : await rememberStatuses(tx, news) };
}

/** Yields the due orders round by round, each once until it is due again. `onRound` receives all due sources. */
async function* ordersToLookUp(
  deps: FlowDeps,
  until: (source: LookupSource) => Date,
  signal: AbortSignal,
  onRound?: (sources: readonly LookupSource[]) => void,
): AsyncGenerator<string> {
  const { account, store } = deps;
  const places = new Map<LookupSource, DueKey>();
  // Orders of earlier rounds that are read as `newest` again, because they are in flight or could not be written.
  let taken = new Set<string>();
  while (!isStopped(deps, signal)) {
    const placeOf = (source: LookupSource) => ({
      until: until(source),
      after: places.get(source === 'newest' ? 'new' : source),
    });
    // Each round reads anew, so that an order that comes due waits for one round at most.
    const read = await dueLookups(store.db, { account, limit: LOOKUPS_A_ROUND, placeOf });
    const newest = read.filter(({ source }) => source === 'newest').map(({ externalOrderId }) => externalOrderId);
    taken = taken.intersection(new Set(newest));
    const due = read.filter(({ source, externalOrderId }) => !isNeverLookedUp(source) || !taken.has(externalOrderId));
    if (due.length === 0) return;
    onRound?.(due.map(({ source }) => source));
    // An accepted order that was never looked up comes from the source `new` or `newest` instead.
    const round = nextRound(due.filter(({ isNew }) => isNew === 0));
    for (const { externalOrderId } of round) {
      if (isStopped(deps, signal)) return;
      yield externalOrderId;
    }
    taken = taken.union(new Set(round.map(({ externalOrderId }) => externalOrderId)));
    for (const [source, page] of Map.groupBy(read, (one) => one.source)) {
      const left = page.findIndex((one) => one.isNew === 0 && !taken.has(one.externalOrderId));
      const last = left === -1 ? page.at(-1) : page[left - 1];
      if (last !== undefined) places.set(source, placeAfter(last, places.get(source)));
    }
  }
}

/** Skips a due time if the place repeats, because SQLite returns an invalid id in another form than it compares. */
export function placeAfter(last: DueKey, before: DueKey | undefined): DueKey {
  const isStuck = last.nextActionAt === before?.nextActionAt && last.externalOrderId === before.externalOrderId;
  return isStuck ? { nextActionAt: `${last.nextActionAt}~`, externalOrderId: '' } : last;
}
