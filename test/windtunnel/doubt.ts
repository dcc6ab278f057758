import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createdBy, until, type Driven, type Try } from './promoted.ts';

/** As what an order stands that was or may have been sent. */
const KNOWN: readonly string[] = ['sending', 'unknown', 'held', 'accepted', 'open', 'final'];
const REASON = ['--reason', 'as the exchange says'];
const WATCHED_MS = 10_000;
/** Of 20 requests a second creates have their half, and a slow machine takes its time. */
const LEAST_A_SECOND = 4;
/** This many further creates show that a long backlog continues. */
const FURTHER = 100;

/**
 * Every order that may have been sent stands as sent or in doubt, and all that are in doubt stand under one finding. Returns how many
 * the findings tell. Unless there may be a doubt, one is a broken promise; each fail-over may have a finding.
 */
export async function judgeDoubt(
  tried: Driven,
  { mayBe, failOvers = 1 }: { readonly mayBe: boolean; readonly failOvers?: number },
): Promise<number> {
  const { scene } = tried;
  const created = createdBy(tried);
  const forgotten = (await scene.ground.shop.rows()).filter(
    ({ id, state }) => created.has(id) && !KNOWN.includes(state),
  );
  for (const { id, state } of forgotten)
    scene.judge.fail(`${id} may have been sent before the promotion, and is ${state}`);
  const { orders, findings, told } = await readDoubt(tried);
  if (findings > failOvers || (orders > 0 && findings === 0)) {
    scene.judge.fail(`${orders} orders are in doubt under ${findings} findings`);
  }
  if (!mayBe && findings > 0) scene.judge.fail(`${told} orders are in doubt needlessly`);
  scene.say(`${told} orders may have been sent, ${orders} are in doubt`);
  return told;
}

/** Returns how many creates a second continue beside the orders in doubt. */
export async function watchCreates(tried: Driven): Promise<number> {
  const before = createdBy(tried).size;
  await until(tried, 'creates of the backlog', async () => createdBy(tried).size > before);
  const [first, at] = [createdBy(tried).size, performance.now()];
  await wait(WATCHED_MS);
  const perSecond = ((createdBy(tried).size - first) * 1_000) / (performance.now() - at);
  if (perSecond < LEAST_A_SECOND) tried.scene.judge.fail(`${perSecond} creates a second of a long backlog`);
  return Math.round(perSecond);
}

/** A person asks the exchange about the orders in doubt, and decides. Returns how many of them were not sent. */
export async function decide(tried: Driven, { isLong }: { readonly isLong: boolean }): Promise<number> {
  const { scene, account } = tried;
  const { workers, judge, folder } = scene;
  const failOver = await failOverIn(tried);
  if (failOver === undefined) return 0;
  const command = ['db', 'accept-restore', '--account', account, '--failover', failOver, ...REASON];
  const sent = async () => (await inDoubt(tried)).filter((id) => createdBy(tried).has(id));
  if (isLong) {
    // This many are looked up for long: the person does not wait for that.
    const file = join(folder, 'sent.txt');
    writeFileSync(file, (await sent()).join('\n'));
    await workers.run([...command, '--sent', '--file', file]);
  } else {
    await until(tried, 'the orders in doubt that the exchange has', async () => (await sent()).length === 0);
  }
  const unsent = await inDoubt(tried);
  const code = await workers.run([...command, '--not-sent']);
  // There may have been another one before.
  if (code === 0 && (await failOverIn(tried)) !== undefined) return unsent.length + (await decide(tried, { isLong }));
  // The lost owner may say only now that it had sent an order. The order is looked up, and found.
  await until(tried, 'the orders that the lost owner names late', async () => (await sent()).length === 0);
  const left = await readDoubt(tried);
  if (code !== 0 || left.orders + left.findings > 0) {
    judge.fail(`the decision ended with ${code}, and left ${left.orders} orders and ${left.findings} findings`);
  }
  scene.say(`${unsent.length} orders were not sent`);
  return unsent.length;
}

/** All come to rest. A person decides about orders that were in flight when their process was killed. Returns how many. */
export async function settleAll(tried: Driven, settle: () => Promise<void>): Promise<number> {
  const { scene, account } = tried;
  const { shop } = scene.ground;
  await settle();
  const held = (await shop.rows()).filter(({ state }) => state === 'held');
  for (const { id } of held) {
    if (createdBy(tried).has(id)) scene.judge.fail(`${id} is held, and the exchange has it`);
    const decision = ['--as', 'not-created', '--i-know-it-may-duplicate', '--account', account, ...REASON];
    await scene.workers.run(['orders', 'resolve', id, ...decision]);
  }
  if (held.length > 0) await settle();
  const left = (await shop.rows()).filter(({ state }) => state !== 'final');
  for (const { id, state } of left) scene.judge.fail(`${id} is ${state} at the end`);
  return held.length;
}

/** It is enough that a long backlog continues after the decision, with a worker of one machine more. No order is held. */
export async function breakOff(tried: Try): Promise<number> {
  const { scene, machines } = tried;
  machines.clear();
  await scene.workers.stop();
  await scene.workers.start();
  const before = createdBy(tried).size;
  await until(tried, 'further creates', async () => createdBy(tried).size >= before + FURTHER);
  return 0;
}

/** The fail-over that a person must decide on, as the finding names it; undefined if there is none. */
async function failOverIn({ query }: Driven): Promise<string | undefined> {
  const rows = await query<{ id: string }>(
    `select substring(expected from '\\d+$') as id from findings where class = 'FAIL_OVER' and status = 'open'`,
  );
  return rows[0]?.id;
}

async function inDoubt({ query }: Driven): Promise<readonly string[]> {
  const select = `select external_order_id as id from merchant_orders where fail_over is not null`;
  return (await query<{ id: string }>(select)).map(({ id }) => id);
}

/** The orders in doubt, the open findings about them, and how many orders these tell. */
async function readDoubt({ query }: Driven): Promise<Readonly<Record<'orders' | 'findings' | 'told', number>>> {
  const rows = await query<Readonly<Record<'orders' | 'findings' | 'told', number>>>(
    `select (select count(*)::int from merchant_orders where fail_over is not null) as orders, count(*)::int as findings,
      coalesce(sum(substring(actual from '\\d+$')::int), 0)::int as told
      from findings where class = 'FAIL_OVER' and status = 'open'`,
  );
  return rows[0] ?? { orders: 0, findings: 0, told: 0 };
}
