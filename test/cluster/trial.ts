import { setTimeout as wait } from 'node:timers/promises';
import { decide, judgeDoubt, settleAll } from '../windtunnel/doubt.ts';
import { createdBy, takenUp, until } from '../windtunnel/promoted.ts';
import { settled } from '../windtunnel/tunnel.ts';
import type { Promised } from './cells.ts';
import { DISTURBANCES, type RowName } from './disturbances.ts';
import { DATABASES } from './patroni.ts';
import { WORKERS, type World } from './world.ts';

/** The result of a trial. */
export interface TrialResult {
  readonly failOvers: number;
  readonly orders: number;
  /** Orders that were created twice, of the orders that the surviving server has. */
  readonly twice: number;
  /** Rows of the shop that went with the log, and how many of them were sent. */
  readonly lostRows: number;
  readonly lostRowsSent: number;
  readonly inDoubt: number;
  readonly notSent: number;
  /** Orders that a person was asked about, of which the exchange knew nothing. */
  readonly held: number;
  /** Statuses that the exchange has shown, and of which there is no event. */
  readonly unrecordedStatuses: number;
  /** The longest time without a request, from the loss on. */
  readonly pauseMs: number;
  readonly violations: readonly string[];
}

const BURST = 30;
const INSERT_EVERY_MS = 200;
/** This many creates show that the account has an owner. */
const FIRST_CREATES = 8;

/** Does what a row says to a world once, heals it, has a person decide and all orders settle, and judges. */
export async function tryOnce(world: World, row: RowName, number: number, promised: Promised): Promise<TrialResult> {
  const { scene, account } = world;
  const { judge, say } = scene;
  const before = { timeLine: world.lastPrimary().timeLine, created: createdBy(world).size };
  const known = new Set((await scene.ground.shop.rows()).map(({ id }) => id));
  const inserted = new Set<string>();
  const isOver = new AbortController();
  const inserting = insertInto(world, number, inserted, isOver.signal);
  await until(world, 'the first creates', async () => createdBy(world).size >= before.created + FIRST_CREATES);

  let lostAt: number | undefined;
  await DISTURBANCES[row]({ world, number, lost: () => void (lostAt ??= performance.now()) });
  await heal(world);
  await takenUp(world);
  await until(world, 'creates after it', nextCreates(world));
  const pauseMs = lostAt === undefined ? 0 : judge.longestPauseMs(lostAt);
  isOver.abort();
  await inserting;
  const lost = await lostRows(world, inserted);
  for (const id of inserted) if (!lost.includes(id)) judge.inserted(account, id);
  const failOvers = world.lastPrimary().timeLine - before.timeLine;
  const inDoubt = await judgeDoubt(world, { mayBe: promised.doubt === 'counted', failOvers: Math.max(1, failOvers) });
  const notSent = await decide(world, { isLong: false });
  const held = await settleAll(world, () => settled(scene));
  const verdict = await judge.judge({ shop: scene.ground.shop, exchangeOf: scene.exchangeOf, isBrokenOff: false });
  const unrecordedStatuses = await judgeStatuses(world);
  const exchange = scene.exchangeOf(account);
  const result = {
    failOvers,
    orders: verdict.orders - known.size,
    twice: exchange.census().duplicated.filter((id) => inserted.has(id) && !lost.includes(id)).length,
    lostRows: lost.length,
    lostRowsSent: lost.filter((id) => exchange.preOrdersOf(id).length > 0).length,
    inDoubt,
    notSent,
    held,
    unrecordedStatuses,
    pauseMs: Math.round(pauseMs),
  };
  if (promised.lostRows === 'none' && lost.length > 0) judge.fail(`${lost.length} rows are lost`);
  say(JSON.stringify(result));
  const violations = judge.takeViolations();
  // Nothing is promised there.
  return { ...result, violations: promised.twice === 'counted' ? [] : violations };
}

/** The shop inserts many orders, and then one after the other until it is over. */
async function insertInto({ scene, account }: World, number: number, inserted: Set<string>, isOver: AbortSignal) {
  for (let one = 1; !isOver.aborted; one += 1) {
    const id = `${account}:${number}-${one}`;
    if (await scene.ground.shop.insert(account, id)) inserted.add(id);
    if (one > BURST) await wait(INSERT_EVERY_MS, undefined, { signal: isOver }).catch(() => undefined);
  }
}

/** Everything is there again, and runs. */
async function heal(world: World): Promise<void> {
  const { cluster, network, machines, start, clock, scene } = world;
  network.heal();
  clock?.set('+0');
  for (const name of DATABASES) if (!cluster.on(name).areAllRunning) cluster.bringBack(name);
  for (const name of WORKERS) if (!machines.has(name)) start(name);
  const { name } = await cluster.healthy();
  scene.say(`all machines are back, ${name} is the primary`);
}

function nextCreates(world: World): () => Promise<boolean> {
  const before = createdBy(world).size;
  return async () => createdBy(world).size > before;
}

/** Rows that the shop was told were inserted, and that the surviving server lacks. */
async function lostRows({ scene }: World, inserted: ReadonlySet<string>): Promise<readonly string[]> {
  const there = new Set((await scene.ground.shop.rows()).map(({ id }) => id));
  return [...inserted].filter((id) => !there.has(id));
}

/** The events of an order tell its statuses in the order in which the exchange has shown them, to the last. Returns how many they lack. */
async function judgeStatuses({ query, scene }: World): Promise<number> {
  const told = new Map<string, string[]>();
  const events = await query<{ id: string; before: string | null; after: string }>(
    `select external_order_id as id, old_value as before, new_value as after
      from order_events e where field = 'order.status' order by account, e.id`,
  );
  for (const { id, before, after } of events) {
    const statuses = told.get(id) ?? [];
    if ((statuses.at(-1) ?? null) !== before)
      scene.judge.fail(`${id}: an event says ${before}, it was ${statuses.at(-1)}`);
    told.set(id, [...statuses, after]);
  }
  let lacking = 0;
  for (const [id, statuses] of told) {
    const shown = scene.judge.statuses.get(id) ?? [];
    const places = statuses.map((status) => shown.indexOf(status));
    const isInOrder = places.every((place, at) => place >= 0 && place > (places[at - 1] ?? -1));
    if (!isInOrder || statuses.at(-1) !== shown.at(-1))
      scene.judge.fail(`${id}: ${statuses.join()} was told, ${shown.join()} was shown`);
    lacking += shown.length - statuses.length;
  }
  return lacking;
}
