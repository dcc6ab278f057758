import { once } from 'node:events';
import { createApp, type App, type Overrides } from './app.ts';
import type { Config } from './config/config.ts';
import { linksPass } from './flows/clients/links.ts';
import { compareNewRecords } from './flows/findings/new-records.ts';
import { sweep } from './flows/findings/sweep.ts';
import { ClockWatch } from './flows/orders/clock-watch.ts';
import { createPass } from './flows/orders/create.ts';
import { lookUpDue } from './flows/orders/follow.ts';
import { withGracePeriod } from './flows/pass/grace-period.ts';
import { repeatEvery, repeatPass } from './flows/pass/repeat.ts';
import { Cron, Waker } from './flows/pass/waker.ts';
import { serveControl, type ControlSocket } from './http/control/server.ts';
import { controlSocketOf } from './http/control/socket-path.ts';
import { servePhotos } from './http/photos/receiver.ts';
import { countWaiting } from './store/waiting-orders.ts';

/** A second daemon waits this long for the first to go, as when pm2 restarts it. */
const OWNER_PATIENCE_MS = 3_000;
/** What has its own time is seen this late at the most. */
const LOOK_FOR_TIMES_MS = 1_000;
/** What began, lasts or has ended is logged this late at the most. */
const REPORT_MS = 1_000;
/** A merchant key that was changed in its file is in force after this time, or when the exchange refuses the old one. */
const READ_KEY_MS = 60_000;

/**
 * The daemon: runs until `stopping` aborts, then takes nothing new, finishes what is in flight and returns. Throws when
 * it cannot go on.
 */
export async function runDaemon(
  config: Config,
  stopping: AbortSignal,
  onReady: () => void,
  overrides: Overrides = {},
): Promise<void> {
  await using app = await createApp(config, { ownerPatienceMs: OWNER_PATIENCE_MS, ...overrides });
  const failed = new AbortController();
  const stop = AbortSignal.any([stopping, failed.signal]);

  const creates = new Waker();
  const lookups = new Waker();
  const links = new Waker();
  const findings = new Waker();
  const clocks = new Waker();
  const wakeOrders = () => {
    creates.wake();
    lookups.wake();
  };
  const clockWatch = new ClockWatch(app);

  const { listen } = config.photos;
  await using receiver = listen === undefined ? undefined : await servePhotos(app, listen, stop);
  const control = await serveAccount(app, config, creates, stop);
  await using orderTicks = new Cron(app.clock, config.schedule.cron, () => lookups.wake());
  await using linkTicks = new Cron(app.clock, config.links.cron, () => links.wake());
  await using sweepTicks = new Cron(app.clock, config.reconcile.cron, () => findings.wake());
  const findingsPass = config.reconcile.cron === undefined ? compareNewRecords : sweep;

  const tasks = [
    repeatPass(app, creates, stop, () => createPass(app, stop)),
    repeatPass(app, lookups, stop, () => lookUpDue(app, () => orderTicks.tickedAt, stop)),
    repeatPass(app, clocks, stop, () => clockWatch.correct()),
    repeatPass(app, findings, stop, () => findingsPass(app, stop)),
    ...(config.links.cron === undefined ? [] : [repeatPass(app, links, stop, () => linksPass(app, stop))]),
    heedChanges(app, creates, stop),
    repeatEvery(app.clock, READ_KEY_MS, stop, () => app.holds.rereadKey()),
    repeatEvery(app.clock, REPORT_MS, stop, () => app.incidents.report()),
    // Creates that come due, verifications, probes and ends of holds have their own times.
    repeatEvery(app.clock, LOOK_FOR_TIMES_MS, stop, () => {
      clocks.wake();
      wakeOrders();
      for (const ticks of [orderTicks, linkTicks, sweepTicks]) ticks.tickIfOverdue();
    }),
  ];
  for (const task of tasks) task.catch((error: unknown) => failed.abort(error));
  await logReady(app, config);
  onReady();

  if (!stop.aborted) await once(stop, 'abort');
  app.log.info({}, 'stopping: nothing new is taken, requests in flight are finished');
  const results = await withGracePeriod(app, stop, () =>
    Promise.allSettled([...tasks, control.close(), receiver?.close()]),
  );
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  app.incidents.close();
  app.log.info({}, 'stopped');
}

/** Takes note of what other programs commit: new rows, and what persons decide. */
async function heedChanges({ store, holds }: App, creates: Waker, stop: AbortSignal): Promise<void> {
  for await (const _ of store.changes(stop)) {
    await holds.read();
    creates.wake();
  }
}

/** Serves the control socket for the one account of the process. */
async function serveAccount(app: App, config: Config, creates: Waker, stop: AbortSignal): Promise<ControlSocket> {
  const inUse = { app: { ...app, wakeCreates: () => creates.wake() }, [Symbol.dispose]: () => {} };
  const use = async (account: string) => (account === app.account ? inUse : undefined);
  return await serveControl({ ...app, use }, controlSocketOf(config), stop);
}

async function logReady({ store, account, clock, log }: App, { exchange, database }: Config): Promise<void> {
  const waiting = await countWaiting(store.db, { account, now: clock.now() });
  const place = { exchange: exchange.baseUrl, database: database.address };
  log.info({ ...place, ...waiting, pid: process.pid }, 'order-sync is ready');
}
