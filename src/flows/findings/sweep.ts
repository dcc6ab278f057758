import type { FindingClassName } from '../../domain/findings/classes.ts';
import { FOLLOWED_STATES } from '../../domain/orders/states.ts';
import { findOverdue, learnStuckAfter, OVERDUE_CLASSES } from '../../domain/findings/age.ts';
import { FIRST_DUE } from '../../store/orders.ts';
import {
  orderAges,
  orderAgesById,
  newestEventId,
  unresolvedFindings,
  unresolvedPage,
  statusChanges,
  type AgedOrder,
  type UnresolvedFinding,
} from '../../store/overdue.ts';
import { countFindings } from '../pass/counters.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { compareNewRecords } from './new-records.ts';
import { recordFindings } from './record-findings.ts';

const PAGE = 200;
/** Orders that one transaction judges: others wait for it. */
const GROUP = 50;
/** What time is usual is learned from the newest events, so many at a time. */
const LEARNED_FROM_EVENTS = 10_000;
const EVENTS_AT_A_TIME = 1_000;
/** A finding that stands is marked as seen no more often than this: 100,000 of them would be written at each sweep. */
const SEEN_AGAIN_AFTER_MS = 24 * 60 * 60_000;

type SweepDeps = Pick<FlowDeps, 'account' | 'store' | 'clock' | 'settings' | 'counters' | 'log'>;

/**
 * Judges what time alone brings, and what an older version left uncompared. Orders are read in pages and judged in short
 * transactions; what happens in between is judged where it happens.
 */
export async function sweep(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  await compareNewRecords(deps, signal);
  const settings = { ...deps.settings, stuckAfter: await usualTime(deps, signal) };
  for (const state of FOLLOWED_STATES) {
    let from = FIRST_DUE;
    while (!signal.aborted) {
      const { account, store, clock } = deps;
      const page = await orderAges(store.db, { account, state, from, limit: PAGE });
      const now = clock.now();
      const overdue = page.filter((order) => findOverdue(order, now, settings).length > 0);
      await judge(deps, await newlyOverdue(deps, overdue, settings, now), settings);
      from = page.at(-1) ?? from;
      if (page.length < PAGE) break;
      await clock.turn();
    }
  }
  await judgeStanding(deps, settings, signal);
}

type SweepSettings = Parameters<typeof findOverdue>[2];

/** How long orders usually stand still, from the newest events alone: the time it takes does not grow with the history. */
async function usualTime({ account, store, clock }: SweepDeps, signal: AbortSignal): Promise<number> {
  const gaps = new Map<string, number>();
  const newest = await newestEventId(store.db);
  const oldest = Math.max(1, newest - LEARNED_FROM_EVENTS + 1);
  for (let fromId = oldest; fromId <= newest && !signal.aborted; fromId += EVENTS_AT_A_TIME) {
    const toId = Math.min(newest, fromId + EVENTS_AT_A_TIME - 1);
    for (const { externalOrderId, at, before } of await statusChanges(store.db, { account, fromId, toId })) {
      // Several statuses that change at one moment are one change.
      if (before !== null) gaps.set(JSON.stringify([externalOrderId, at]), Date.parse(at) - Date.parse(before));
    }
    await clock.turn();
  }
  return learnStuckAfter([...gaps.values()]);
}

/** The overdue orders whose findings are not written down yet as they are, or were last seen long ago. */
async function newlyOverdue(
  { account, store }: SweepDeps,
  overdue: readonly AgedOrder[],
  settings: SweepSettings,
  now: Date,
): Promise<string[]> {
  if (overdue.length === 0) return [];
  const externalOrderIds = overdue.map((order) => order.externalOrderId);
  const standing = await unresolvedFindings(store.db, { account, classes: OVERDUE_CLASSES, externalOrderIds });
  const known = new Map(standing.map((one) => [keyOf(one.externalOrderId, one.class), one]));
  const isKnown = (order: AgedOrder) =>
    findOverdue(order, now, settings).every((finding) => {
      const one = known.get(keyOf(order.externalOrderId, finding.class));
      const isFresh = one !== undefined && now.getTime() - Date.parse(one.lastSeenAt) < SEEN_AGAIN_AFTER_MS;
      return isFresh && one.actual === finding.actual;
    });
  return overdue.filter((order) => !isKnown(order)).map((order) => order.externalOrderId);
}

/** Findings that stand and are no longer true. */
async function judgeStanding(deps: SweepDeps, settings: SweepSettings, signal: AbortSignal): Promise<void> {
  for (const status of ['open', 'acknowledged']) {
    for (const name of OVERDUE_CLASSES) await judgePages(deps, settings, { status, class: name }, signal);
  }
}

async function judgePages(
  deps: SweepDeps,
  settings: SweepSettings,
  which: { status: string; class: FindingClassName },
  signal: AbortSignal,
): Promise<void> {
  const { account, store, clock } = deps;
  let fromId = 0;
  while (!signal.aborted) {
    const page = await unresolvedPage(store.db, { account, ...which, fromId, limit: PAGE });
    await judge(deps, await noLongerTrue(deps, page, settings), settings);
    fromId = page.at(-1)?.id ?? fromId;
    if (page.length < PAGE) return;
    await clock.turn();
  }
}

async function noLongerTrue(
  { account, store, clock }: SweepDeps,
  page: readonly UnresolvedFinding[],
  settings: SweepSettings,
): Promise<string[]> {
  if (page.length === 0) return [];
  const now = clock.now();
  const orders = await orderAgesById(
    store.db,
    account,
    page.map((one) => one.externalOrderId),
  );
  const byId = new Map(orders.map((order) => [order.externalOrderId, order]));
  const isTrue = ({ externalOrderId, class: name }: UnresolvedFinding) => {
    const order = byId.get(externalOrderId);
    return order === undefined || findOverdue(order, now, settings).some((finding) => finding.class === name);
  };
  return page.filter((one) => !isTrue(one)).map((one) => one.externalOrderId);
}

/** Judges orders as they stand in the transaction that writes it down. */
async function judge(deps: SweepDeps, externalOrderIds: readonly string[], settings: SweepSettings): Promise<void> {
  const { account, store, clock, counters, log } = deps;
  for (let first = 0; first < externalOrderIds.length; first += GROUP) {
    const ids = externalOrderIds.slice(first, first + GROUP);
    const found = await store.writer.write(async (tx) => {
      const all = [];
      const now = clock.now();
      for (const order of await orderAgesById(tx, account, ids)) {
        const judged = { found: findOverdue(order, now, settings), classes: OVERDUE_CLASSES, now };
        all.push(...(await recordFindings(tx, deps, order.externalOrderId, judged)));
      }
      return all;
    });
    countFindings(counters, found);
    if (found.length > 0) log.warn({ findings: found.length }, 'new findings of orders that wait for too long');
  }
}

function keyOf(externalOrderId: string, name: string): string {
  return JSON.stringify([externalOrderId, name]);
}
