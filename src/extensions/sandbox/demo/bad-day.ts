import { createApp, type AppParts } from '../../../app.ts';
import type { Clock } from '../../../base/clock.ts';
import { after } from '../../../base/instant.ts';
import { createLog } from '../../../base/log.ts';
import { passesBy } from '../../../daemon.ts';
import { insertMissing } from '../../intake/tables/inserted-orders.ts';
import { Webhooks } from '../../webhooks/webhooks.ts';
import { SCENARIOS } from '../scenario.ts';
import { FIRST_NUMBER, freeAddress, orderOf, type DemoOrder, type Stage } from './stage.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long ago the day begins: longer than the 24 h after which an order that has not appeared is a finding. */
const BEGINS_MS = 25 * HOUR_MS;
const RECEIVER_FAILS_MS = 21 * MINUTE_MS;
const OUTAGE_BEGINS_MS = 8 * MINUTE_MS;

/** How many minutes ago orders with trouble were inserted. A key is a scenario of the exchange or a key of `FAULTS`. */
const TROUBLES = {
  'never-taken-up': [1_480, 700],
  rejected: [900, 450, 52, 33],
  lost: [410, 395, 55],
  'bonus-too-large': [310, 36],
  foreign: [200, 48],
  'decimal-comma': [41, 28],
  // These orders are sent in the last step before the outage, so no look-up of them is answered.
  'post-down': [8.25, 8.25, 8.25],
};
const FAULTS: Readonly<Record<string, Partial<DemoOrder>>> = {
  'bonus-too-large': { bonus: '1000000' },
  'decimal-comma': { asset: '12,50' },
};

/** Returns the clock, the settings and the orders, oldest first, of a bad day. `count` orders have no trouble. */
export async function badDay(count: number, machine: Clock, appParts: AppParts) {
  const recent = Math.round(count * 0.6);
  const spread = (orders: number, fromMs: number, toMs: number) =>
    Array.from({ length: orders }, (_, index) => [fromMs + ((index + 0.5) / orders) * (toMs - fromMs), ''] as const);
  const troubles = Object.entries(TROUBLES).flatMap(([trouble, ago]) =>
    ago.map((minutes) => [minutes * MINUTE_MS, trouble] as const),
  );
  const inserts = [...spread(recent, 0, HOUR_MS), ...spread(count - recent, HOUR_MS, BEGINS_MS), ...troubles]
    .toSorted(([one], [other]) => other - one)
    .map(([agoMs, trouble], index) => {
      return { agoMs, trouble, order: { ...orderOf(`shop-${FIRST_NUMBER + index}`, index), ...FAULTS[trouble] } };
    });
  const troubleOf = new Map(inserts.map(({ order, trouble }) => [order.external_order_id, trouble]));
  const secrets = [`whsec_${Buffer.alloc(32).toString('base64')}`];
  const url = `http://${await freeAddress()}/events`;
  const endpoint = { name: 'shop', url, secrets, events: [], allowPrivate: true };
  return {
    appParts,
    inserts,
    orders: inserts.map(({ order }) => order),
    clock: clockBehind(machine, BEGINS_MS),
    exchange: { speed: 1 / 30, scenarioOf: (id: string) => SCENARIOS[troubleOf.get(id) ?? ''] ?? SCENARIOS.completed },
    settings: { webhooks: { endpoints: [endpoint] } },
  };
}

/** Returns a clock that is `ms` behind `clock`. Until both agree, `sleep` moves the new clock and does not wait. */
function clockBehind(clock: Clock, ms: number) {
  let behindMs = ms;
  return {
    ...clock,
    // Without `boot`, no other process compares its monotonic time with the monotonic times that this clock writes.
    boot: undefined,
    now: () => after(clock.now(), -behindMs),
    monotonic: () => clock.monotonic() + ms - behindMs,
    async sleep(sleepMs: number, signal?: AbortSignal) {
      if (behindMs <= sleepMs || signal?.aborted === true) return await clock.sleep(sleepMs, signal);
      await clock.turn();
      behindMs -= sleepMs;
    },
    catchUp: (leftMs: number) => void (behindMs = Math.min(behindMs, leftMs)),
  };
}

/** Runs the passes of a daemon on the day's clock, from the beginning of the day up to now. */
export async function liveThrough(day: Awaited<ReturnType<typeof badDay>>, stage: Stage): Promise<void> {
  const { config, signal, sandbox } = stage;
  const { clock, appParts, inserts } = day;
  const log = createLog('silent');
  await using app = await createApp(config, { ...appParts, clock, log, store: { synchronous: 'off' } });
  const { account, accountLease, store } = app;
  const webhooks = new Webhooks({ ...day.settings.webhooks, store, clock, log, stop: signal });
  const passes = passesBy(app.sweeps, () => clock.now());
  const waiting = [...inserts];
  for (let agoMs = BEGINS_MS; agoMs >= 0; agoMs -= agoMs > HOUR_MS ? 2 * MINUTE_MS : MINUTE_MS / 4) {
    signal.throwIfAborted();
    clock.catchUp(agoMs);
    if (agoMs === OUTAGE_BEGINS_MS) await sandbox.close();
    const due = waiting.splice(0, waiting.findLastIndex((one) => one.agoMs >= agoMs) + 1).map(({ order }) => order);
    if (due.length > 0) await store.writer.write((tx) => insertMissing(tx, account, due, clock.now()));
    for (const pass of [passes.create, passes.lookup]) await pass(app, signal);
    if (agoMs % HOUR_MS === 0) for (const sweep of app.sweeps) await sweep.run(app, signal);
    await app.eachSecond();
    if (agoMs > RECEIVER_FAILS_MS) continue;
    // Each `take` makes the webhooks look for new events of the account.
    webhooks.take(accountLease);
    await webhooks.eachSecond();
    await webhooks.idle();
  }
}
