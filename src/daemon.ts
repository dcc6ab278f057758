import { schedule, type ScheduledTask } from 'node-cron';
import { createApp, type App, type Overrides } from './app.ts';
import type { Config } from './config/config.ts';
import { KeyRefusedError } from './exchange/refusals.ts';
import { createPass } from './flows/orders/create.ts';
import { withGracePeriod } from './flows/pass/grace-period.ts';
import { followPass } from './flows/orders/follow.ts';
import { linksPass } from './flows/clients/links.ts';
import { compareNewRecords } from './flows/findings/new-records.ts';
import { sweep } from './flows/findings/sweep.ts';
import { serveControl } from './http/control/server.ts';
import { servePhotos } from './http/photos/receiver.ts';
import { controlSocketPath } from './http/control/socket-path.ts';
import { StoreError } from './store/errors.ts';

/** A new row is seen within this time: well below the 250 ms promised, and each look costs. */
const LOOK_FOR_ROWS_MS = 100;
/** Wakes the passes when cron has not: after the system's clock was set back, for one. */
const WATCHDOG_MS = 10_000;
/** A second daemon waits this long for the first to go, as when pm2 restarts it. */
const OWNER_PATIENCE_MS = 3_000;

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
  const creating = new Waker();
  const following = new Waker();
  const wakeAll = () => {
    creating.wake();
    following.wake();
  };

  const { listen } = config.photos;
  await using receiver = listen === undefined ? undefined : await servePhotos(app, listen, stop);
  const served = { ...app, wakeCreates: () => creating.wake() };
  const control = await serveControl(served, controlSocketPath(config.database.path), stop);
  const cron = schedule(config.schedule.cron, wakeAll, { timezone: 'UTC', noOverlap: true });
  const linking = config.links.cron === undefined ? undefined : new SlowCron(app, config.links.cron);
  const sweeping = config.reconcile.cron === undefined ? undefined : new SlowCron(app, config.reconcile.cron);
  const sweepOnce = sweeping === undefined ? compareNewRecords : sweep;
  const tasks = [
    ...(linking === undefined ? [] : [repeat(app, linking.waker, stop, () => linksPass(app, stop))]),
    repeat(app, sweeping?.waker ?? new Waker(), stop, () => sweepOnce(app, stop)),
    repeat(app, creating, stop, () => createPass(app, stop)),
    repeat(app, following, stop, () => followPass(app, 'due', stop)),
    watchDatabase(app, stop, () => creating.wake()),
    every(app, WATCHDOG_MS, stop, () => {
      wakeAll();
      linking?.watch();
      sweeping?.watch();
    }),
  ].map((task) =>
    task.catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  app.log.info({ database: config.database.path, pid: process.pid }, 'order-sync is ready');
  onReady();

  await aborted(stop);
  app.log.info({}, 'stopping: nothing new is taken, requests in flight are finished');
  const results = await withGracePeriod(app, stop, () =>
    Promise.allSettled([
      ...tasks,
      control.close(),
      receiver?.close(),
      cron.destroy(),
      linking?.stop(),
      sweeping?.stop(),
    ]),
  );
  const reason = results.find((result) => result.status === 'rejected');
  if (reason !== undefined) throw reason.reason;
  app.log.info({}, 'stopped');
}

/** Runs a pass each time it is woken; a full disk or a locked database is waited out, anything else ends the daemon. */
async function repeat(app: App, waker: Waker, stop: AbortSignal, pass: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    try {
      await pass();
    } catch (error) {
      const passes = error instanceof StoreError && (error.problem === 'disk' || error.problem === 'busy');
      if (!passes || !app.store.isInPlace()) throw error;
      app.log.error({ problem: error.message }, 'the database cannot be written; nothing is sent until it can');
    }
    if (app.exchange.key.refusedAt !== undefined && !app.exchange.key.wasTaken) {
      throw new KeyRefusedError('the exchange refuses the key (401); set exchange.apiKey and start again');
    }
    await waker.next(stop);
  }
}

/** Sees what other programs commit, and that the file is still the one that is open. */
async function watchDatabase(app: App, stop: AbortSignal, onCommit: () => void): Promise<void> {
  let version = app.store.dataVersion();
  await every(app, LOOK_FOR_ROWS_MS, stop, () => {
    if (!app.store.isInPlace()) {
      throw new StoreError(
        'disk',
        `${app.store.path} was moved or deleted while it was open; put it back and start again`,
      );
    }
    const now = app.store.dataVersion();
    if (now !== version) onCommit();
    version = now;
  });
}

async function every(app: App, ms: number, stop: AbortSignal, work: () => void): Promise<void> {
  while (!stop.aborted) {
    await app.clock.sleep(ms, stop).catch(() => undefined);
    if (!stop.aborted) work();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Wakes by a cron that is slower than the watchdog: that one wakes only where a tick is overdue. */
class SlowCron {
  readonly waker = new Waker();
  readonly #app: App;
  readonly #task: ScheduledTask;
  #overdueAt: number;

  constructor(app: App, cron: string) {
    this.#app = app;
    this.#task = schedule(cron, () => this.#tick(), { timezone: 'UTC', noOverlap: true });
    this.#overdueAt = this.#nextOverdueAt();
  }

  watch(): void {
    if (this.#app.clock.monotonic() > this.#overdueAt) this.#tick();
  }

  async stop(): Promise<void> {
    await this.#task.destroy();
  }

  #tick(): void {
    this.#overdueAt = this.#nextOverdueAt();
    this.waker.wake();
  }

  #nextOverdueAt(): number {
    return this.#app.clock.monotonic() + (this.#task.msToNext() ?? 0) + WATCHDOG_MS;
  }
}

/** Remembers that it was woken while nobody waited. */
class Waker {
  #isWoken = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  async next(stop: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resolve = resolve;
    const onStop = () => resolve();
    stop.addEventListener('abort', onStop);
    if (!this.#isWoken && !stop.aborted) await promise;
    stop.removeEventListener('abort', onStop);
    this.#isWoken = false;
  }
}
