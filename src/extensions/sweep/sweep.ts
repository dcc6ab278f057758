import { resolveFailOvers } from '../../store/tables/fail-overs.ts';
import { accountsToJudge, isAnythingAwaited } from '../../store/orders/due-times.ts';
import { forgetCompared, uncomparedIds } from './tables/order-records.ts';
import { unresolvedFindings, unresolvedPage } from './tables/findings.ts';
import { findOverdue, judgedIn, OVERDUE_CLASSES, type OverdueSettings } from '../../findings/rules/age.ts';
import type { FindingClassName } from '../../findings/rules/classes.ts';
import { outcomeOf } from '../../orders/rules/lookup.ts';
import { FOLLOWED_STATES } from '../../orders/rules/states.ts';
import { orderAges, orderAgesById, type AgedOrder, readFollowed } from '../../store/orders/orders-with-records.ts';
import { isolateFailure } from '../../orders/pass/isolate.ts';
import { countFindings } from '../../orders/pass/outcomes.ts';
import type { FlowDeps, SweepMaker } from '../../orders/pass/deps.ts';
import type { OverdueLookups } from '../../orders/pass/process-events.ts';
import { recordFindings, type NewFindings } from '../../findings/record-findings.ts';
import { NO_TURNS } from '../../orders/rules/record-change.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import { readAccountFact, setAccountFact } from '../../store/tables/accounts.ts';
import { trackingOf } from '../../store/orders/order-columns.ts';
import { readOrder, saveDecision } from '../../store/orders/orders.ts';
import { keepOrderRecord, keepUncompared, readRecord } from '../../store/tables/order-records.ts';
import { pagesAfter, partsOf } from '../../store/pages.ts';
import type { Transaction, Work } from '../../store/port.ts';
import { readEvidence } from '../../findings/evidence.ts';
import { judgeRecord, logUnjudged, type JudgeDeps } from '../../findings/judge-answer.ts';

const PAGE = 200;
/** The most orders that one transaction compares or judges. Other writers wait until the transaction ends. */
const GROUP = 50;
/** A sweep writes a finding that stays true no more often than this, because there may be 100,000 findings. */
const SEEN_AGAIN_AFTER_MS = 24 * 60 * 60_000;

/** Overdue look-ups are logged if the oldest has waited for longer than the sum of this and `overdueAfterMs`. */
const WORTH_TELLING_MS = 10 * 60_000;

/** Compares new records, learns the pace of look-ups, and judges the findings that depend on time. */
export async function sweep(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  await compareNewRecords(deps, signal);
  if (!(await isAnythingAwaited(deps.store.db, deps.account))) {
    return await resolveFailOvers(deps.store, deps.account, deps.clock.now());
  }
  const lesson = await deps.settings.pace.beginLesson(deps, signal);
  const settings = { ...deps.settings, stuckAfter: lesson.stuckAfter };
  for await (const page of orderAges(deps, FOLLOWED_STATES, signal)) {
    const now = deps.clock.now();
    lesson.see(page, now);
    const overdue = page.filter((order) => findOverdue(order, now, settings).length > 0);
    await judgeChanged(deps, overdue, settings);
  }
  const waiting = lesson.end();
  deps.observers.tell({ kind: 'followed.read', overdue: waiting });
  logOverdue(deps, waiting);
  await resolveFailOvers(deps.store, deps.account, deps.clock.now());
  for await (const { ids } of unresolvedOrders(deps, OVERDUE_CLASSES, signal)) {
    await judgeChanged(deps, await orderAgesById(deps.store.db, deps.account, ids), settings);
  }
}

/** Sweeps at start, in `sync`, and at ticks of `reconcile.cron`. Without it, a daemon runs `sweepWithoutFindings`. */
export const findingsSweep: SweepMaker = ({ reconcile: { cron } }) => ({
  name: 'findings',
  cron,
  isAtStart: true,
  isAsking: false,
  accounts: accountsToJudge,
  run: async (deps, stop, since) => {
    if (stop.aborted) return;
    await (cron === undefined && since === undefined ? sweepWithoutFindings : sweep)(deps, stop);
  },
});

export async function sweepWithoutFindings(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  await compareNewRecords(deps, signal);
  await deps.settings.pace.learn(deps, signal);
}

function logOverdue({ clock, exchange, restraints, log, settings }: FlowDeps, overdue: OverdueLookups | undefined) {
  if (overdue === undefined || restraints.stoppedForMs('lookup') > 0 || exchange.breaker('lookup').openings > 0) return;
  const { orders, since } = overdue;
  if (clock.now().getTime() - since.getTime() <= WORTH_TELLING_MS + settings.pace.overdueAfterMs) return;
  log.warn({ overdue: orders, since }, 'look-ups are overdue: more came due than could be made in time');
}

/** Yields the orders, in any state, with unresolved findings of these classes. Each page is of a single class. */
async function* unresolvedOrders(deps: FlowDeps, classes: readonly FindingClassName[], signal: AbortSignal) {
  const { account, store, clock } = deps;
  for (const name of classes) {
    for (const status of ['open', 'acknowledged']) {
      const read = (last?: Awaited<ReturnType<typeof unresolvedPage>>[number]) =>
        unresolvedPage(store.db, { account, class: name, status, fromId: last?.id ?? 0, limit: GROUP });
      for await (const page of pagesAfter(GROUP, read)) {
        if (signal.aborted) return;
        if (page.length > 0) yield { name, ids: page.map(({ externalOrderId }) => externalOrderId) };
        await clock.turn();
      }
    }
  }
}

/** Judges orders whose recorded findings differ from the present findings, or were last seen a day ago or earlier. */
async function judgeChanged(deps: FlowDeps, orders: readonly AgedOrder[], settings: OverdueSettings): Promise<void> {
  if (orders.length === 0) return;
  const { account, store, clock } = deps;
  const now = clock.now();
  const externalOrderIds = orders.map(({ externalOrderId }) => externalOrderId);
  const recorded = await unresolvedFindings(store.db, { account, classes: OVERDUE_CLASSES, externalOrderIds });
  const ofOrder = Map.groupBy(recorded, ({ externalOrderId }) => externalOrderId);
  const changed = orders.filter((order) => {
    const classes: readonly string[] = judgedIn(order.state, OVERDUE_CLASSES);
    const known = (ofOrder.get(order.externalOrderId) ?? []).filter((one) => classes.includes(one.class));
    const found = findOverdue(order, now, settings);
    const isRecorded = found.every(({ class: name, actual }) => {
      const one = known.find((finding) => finding.class === name);
      return one?.actual === actual && now.getTime() - Date.parse(one.lastSeenAt) < SEEN_AGAIN_AFTER_MS;
    });
    return !isRecorded || found.length < known.length;
  });
  for (const group of partsOf(changed, GROUP)) {
    const ids = group.map(({ externalOrderId }) => externalOrderId);
    await recordTogether(deps, 'new findings of orders that wait for too long', async (tx) => {
      const at = clock.now();
      return await Array.fromAsync(await orderAgesById(tx, account, ids), ({ externalOrderId, ...order }) => {
        const found = findOverdue(order, at, settings);
        const classes = judgedIn(order.state, OVERDUE_CLASSES);
        return recordFindings(tx, { account, externalOrderId }, { found, classes, now: at });
      });
    });
  }
}

async function recordTogether(deps: FlowDeps, message: string, work: Work<readonly NewFindings[]>): Promise<void> {
  const { store, observers, log } = deps;
  const found = (await store.writer.write(work)).flat();
  countFindings(observers.counters, found);
  if (found.length > 0) log.warn({ findings: found.length }, message);
}

const SETTINGS_FACT = 'reconcile.settings';

/** Compares the records that were not compared yet. If settings of the comparison changed, compares all records. */
export async function compareNewRecords(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  await forgetOtherSettings(deps, signal);
  const { account, store, clock } = deps;
  const uncompared = (fromId = '') => uncomparedIds(store.db, { account, fromId, limit: GROUP });
  for await (const ids of pagesAfter(GROUP, uncompared)) {
    if (signal.aborted || ids.length === 0) return;
    // The next sweep compares an order whose row was locked or could not be written.
    const written: string[] = [];
    const correct = (id: string) => store.writer.write((tx) => correctOutcome(tx, deps, id), [id]);
    await Promise.all(ids.map((id) => isolateFailure(deps, id, () => correct(id).then(() => void written.push(id)))));
    await recordTogether(deps, 'stored records were compared, and there are new findings', (tx) =>
      Array.fromAsync(written, (id) => compareStored(tx, deps, id, clock.now())),
    );
    await clock.turn();
  }
}

/** Corrects the outcome of a final order, which other settings may have decided. */
async function correctOutcome(tx: Transaction, { account, settings, clock }: FlowDeps, externalOrderId: string) {
  const row = await readOrder(tx, account, externalOrderId);
  if (row?.state !== 'final' || row.order_status === null) return;
  const before = trackingOf(row);
  const outcome = outcomeOf({ orderStatus: row.order_status }, settings);
  if (outcome === before.outcome) return;
  await saveDecision(tx, before, { tracking: { ...before, outcome }, events: [] }, clock.now());
}

/** Compares a stored record with its order, as if the record were the first of the order. */
async function compareStored(tx: Transaction, deps: JudgeDeps, externalOrderId: string, now: Date) {
  const { account } = deps;
  const row = await readFollowed(tx, account, externalOrderId);
  const stored = await readRecord(tx, account, externalOrderId);
  if (row === undefined || stored === undefined) return [];
  const { body, receivedAt } = stored;
  try {
    const view = readRecordView(body);
    const compared = { account, externalOrderId, body, receivedAt, comparedAt: now.toISOString(), ...NO_TURNS };
    await keepOrderRecord(tx, compared, view);
    const order = trackingOf(row);
    const received = new Date(receivedAt);
    // With `has_findings: 1`, the pre-order is read even if an earlier record was compared with the pre-order.
    const evidence = view && (await readEvidence(tx, { ...row, has_findings: 1 }, view, received));
    const judged = { row, view, evidence, earlier: null, before: order, after: order, receivedAt: received, now };
    const { found: foundAgain, classes } = await judgeRecord(tx, deps, judged);
    return await recordFindings(tx, order, { found: [], foundAgain, classes: judgedIn(order.state, classes), now });
  } catch (error) {
    logUnjudged(deps, externalOrderId, error);
    await keepUncompared(tx, { account, externalOrderId, body, receivedAt });
    return [];
  }
}

async function forgetOtherSettings(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  const { account, store, clock, settings } = deps;
  const { tolerance, outputPosition, finalStatuses, openStatuses, succeededStatuses, ignore } = settings;
  const value = JSON.stringify({ tolerance, outputPosition, finalStatuses, openStatuses, succeededStatuses, ignore });
  const fact = { account, name: SETTINGS_FACT, value, now: clock.now() };
  const known = await readAccountFact(store.db, fact);
  if (known === value) return;
  let fromId: string | undefined = known === undefined ? undefined : '';
  while (fromId !== undefined) {
    if (signal.aborted) return;
    const page: { account: string; fromId: string; limit: number } = { account, fromId, limit: PAGE };
    fromId = await store.writer.write((tx) => forgetCompared(tx, page));
    await clock.turn();
  }
  for await (const { name, ids } of unresolvedOrders(deps, ignore, signal)) {
    await store.writer.write(async (tx) => {
      const judged = { found: [], classes: [name], now: clock.now() };
      for (const externalOrderId of ids) await recordFindings(tx, { account, externalOrderId }, judged);
    });
  }
  if (!signal.aborted) await store.writer.write((tx) => setAccountFact(tx, fact));
}
