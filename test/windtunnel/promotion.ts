import { setTimeout as wait } from 'node:timers/promises';
import { breakOff, decide, judgeDoubt, settleAll, watchCreates } from './doubt.ts';
import { startPair } from './pair.ts';
import {
  createdBy,
  IS_SYNCHRONOUS,
  isTrue,
  loseMachine,
  startEnded,
  startOn,
  takenUp,
  until,
  type PromotionPlan,
  type Try,
} from './promoted.ts';
import { setScene } from './scene.ts';
import { insertOrders, settle } from './tunnel.ts';

/** The result of a promotion. */
export interface PromotionResult {
  readonly orders: number;
  /** Orders that were created twice, of the orders that the promoted server had. */
  readonly twice: number;
  /** Rows of the shop that the promoted server lacked, and how many of them were sent. */
  readonly lostRows: number;
  readonly lostRowsSent: number;
  /** Orders that may have been sent, by the finding of the fail-over, and how many of them a person found were not. */
  readonly inDoubt: number;
  readonly notSent: number;
  /** Orders in flight when their process was killed, of which the exchange knew nothing. */
  readonly heldInFlight: number;
  /** Until the next request after the loss. */
  readonly nextRequestMs: number | undefined;
  /** Creates a second while a long backlog continues. */
  readonly createsPerSecond: number | undefined;
  readonly violations: readonly string[];
}

const INSERT_EVERY_MS = 400;
/** This many creates show that the account has an owner. */
const FIRST_CREATES = 10;
/** One worker reconnects later than the other by this. */
const LATE_MS = 6_000;
/** Both servers are used for this long. */
const SPLIT_MS = 6_000;
/** A request whose intent was proved may be on its way when the standby is cut off. */
const ON_ITS_WAY_MS = 1_000;

/**
 * Has two real workers drive an account on a primary with a streaming standby that is behind, and promotes that. Judges by what the
 * exchange got whether an order was sent twice, and by the rows whether each order that may have been sent is known as that.
 */
export async function runPromotion(
  bin: string,
  plan: PromotionPlan,
  say: (text: string) => void,
): Promise<PromotionResult> {
  await using undo = new AsyncDisposableStack();
  const { name, seed } = plan;
  const pair = await startPair(bin, IS_SYNCHRONOUS[name]);
  const owners = isSplit(plan) ? 2 : 1;
  const scene = await setScene(undo, { groundIn: () => pair, accounts: 1, owners, seed, say });
  const [account = ''] = scene.accounts;
  const places = { pair, scene, machines: new Map() };
  const tried: Try = {
    ...places,
    plan,
    account,
    inserted: new Set(),
    query: async (sql) => (await pair.pool.query(sql)).rows,
    startEnded: () => startEnded(places),
  };
  for (const machine of [0, 1] as const) await startOn(tried, machine).ready;
  await insertBacklog(tried);
  const isOver = new AbortController();
  undo.defer(() => isOver.abort());
  const noting = { inserted: (_account: string, id: string) => void tried.inserted.add(id) };
  const inserting = insertOrders({ ...scene, judge: noting }, INSERT_EVERY_MS, isOver.signal);

  await until(tried, 'the first creates', async () => createdBy(tried).size >= FIRST_CREATES);
  await fallBehind(tried);
  await lose(tried);
  await pair.promote();
  say('the standby is promoted');
  const lost = await lostRows(tried);
  await switchOver(tried);
  const inDoubt = await judgeDoubt(tried, { mayBe: !IS_SYNCHRONOUS[name] });
  const createsPerSecond = name === 'long' ? await watchCreates(tried) : undefined;
  const notSent = await decide(tried, { isLong: name === 'long' });
  isOver.abort();
  await inserting;
  for (const id of tried.inserted) if (!lost.includes(id)) scene.judge.inserted(account, id);
  const heldInFlight = name === 'long' ? await breakOff(tried) : await settleAll(tried, () => settle(scene, 1));
  await scene.workers.stop();
  const verdict = await scene.verdict({ isBrokenOff: name === 'long' });
  const exchange = scene.exchangeOf(account);
  return {
    orders: verdict.orders,
    twice: exchange.census().duplicated.filter((id) => !lost.includes(id)).length,
    lostRows: lost.length,
    lostRowsSent: lost.filter((id) => exchange.preOrdersOf(id).length > 0).length,
    inDoubt,
    notSent,
    heldInFlight,
    nextRequestMs: verdict.takeOverMs[0],
    createsPerSecond,
    // Nothing is promised there.
    violations: name === 'unfenced' ? [] : verdict.violations,
  };
}

function isSplit({ name }: PromotionPlan): boolean {
  return name === 'split' || name === 'unfenced';
}

async function insertBacklog({ pair, plan, account }: Try): Promise<void> {
  await pair.pool.query(
    `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency)
      select $1, $1 || ':waits-' || lpad(n::text, 6, '0'), '1.5', 'BTC', 'EUR' from generate_series(1, $2::int) n`,
    [account, plan.backlog],
  );
}

/** Cuts the standby off for as long as it is behind. */
async function fallBehind(tried: Try): Promise<void> {
  const { plan, pair, scene } = tried;
  const { name, behindMs } = plan;
  if (behindMs === 0) return;
  await pair.standby.disconnect();
  scene.say(`the standby is cut off for ${behindMs} ms`);
  await wait(Math.min(behindMs, ON_ITS_WAY_MS));
  const before = createdBy(tried).size;
  await wait(Math.max(0, behindMs - ON_ITS_WAY_MS));
  const created = createdBy(tried).size - before;
  if (IS_SYNCHRONOUS[name] && created > 0) scene.judge.fail(`${created} creates left without the standby`);
  if (name !== 'synchronous') return;
  await pair.standby.connect();
  const waiting = createdBy(tried).size;
  await until(tried, 'creates once the standby is back', async () => createdBy(tried).size > waiting);
}

/** The primary is lost, and the worker that drives the account. */
async function lose(tried: Try): Promise<void> {
  const { plan, pair, scene, account, machines } = tried;
  const { judge, say } = scene;
  if (isSplit(plan)) return;
  const { rows } = await pair.pool.query<{ holder: string }>('select holder from account_owners');
  const isSecond = rows[0]?.holder.includes(`:${machines.get(1)?.process.pid}:`) === true;
  const isKilled = plan.name !== 'late';
  judge.interrupted();
  judge.killed([account], performance.now());
  await Promise.all([pair.crash(), isKilled ? loseMachine(tried, isSecond ? 1 : 0) : undefined]);
  judge.interrupted();
  say(isKilled ? 'the primary and the owner are lost' : 'the primary is lost');
}

/** Rows that a shop was told were inserted, and that the promoted server lacks. */
async function lostRows({ pair, inserted }: Try): Promise<readonly string[]> {
  const all = [...inserted];
  const there = new Set((await pair.shop.rows()).map(({ id }) => id));
  return all.filter((id) => !there.has(id));
}

/** Has the workers reach the promoted server, each in its time. */
async function switchOver(tried: Try): Promise<void> {
  const { plan, pair, scene } = tried;
  const { ways, standby } = pair;
  // While both servers are used the way of the second worker alone leads to the promoted one.
  const first = plan.name === 'late' && scene.random() < 0.5 ? 0 : 1;
  scene.say(`the worker of machine ${first} reconnects`);
  ways[first].leadTo(standby.port);
  if (plan.name === 'late') await wait(LATE_MS);
  if (isSplit(plan)) {
    await takenUp(tried);
    await wait(SPLIT_MS);
    await loseMachine(tried, 0);
    await pair.crash();
  }
  ways[1 - first]?.leadTo(standby.port);
  await takenUp(tried);
  if (plan.name === 'late' && first === 1) await reported(tried);
}

/** Resolves once the late worker has named what it had sent. */
async function reported(tried: Try): Promise<void> {
  const select = `select not exists (select from account_facts
    where name like 'fail-over.%' and value not like '%"reportedAt"%') as is`;
  await until(tried, 'the word of the late worker', () => isTrue(tried, select));
}
