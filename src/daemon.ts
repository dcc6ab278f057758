import { once } from 'node:events';
import type { Logger } from 'pino';
import { Accounts } from './accounts/accounts.ts';
import { Cron, tellMissed } from './accounts/cron.ts';
import type { Passes } from './accounts/account.ts';
import type { App, AppParts, Overrides } from './app.ts';
import { systemClock, type Clock } from './base/clock.ts';
import { groupsOf, type Config } from './settings/config.ts';
import { createWhileWoken } from './orders/create.ts';
import { lookUpDue } from './orders/follow.ts';
import type { Listen } from './orders/pass/process-events.ts';
import type { Sweep } from './orders/pass/deps.ts';
import { patientlyWith, repeatEvery, withGracePeriod, type Patiently } from './orders/pass/run.ts';
import { messageOf } from './base/text.ts';
import { createLog } from './base/log.ts';
import { readHolds } from './store/tables/account-holds.ts';
import { isPassing } from './store/errors.ts';
import { openAsOwner, type OwnedStore, type OwnerOptions, type WorkerOptions } from './store/open.ts';
import type { AccountLease } from './store/port.ts';
import { countWaiting } from './store/find-orders.ts';

/** How long a daemon waits for an earlier daemon to end, for example after a restart by pm2. */
const OWNER_PATIENCE_MS = 3_000;
const SECOND_MS = 1_000;
/** How often the key files are read again. A file is also read when the exchange refuses the key. */
const READ_KEY_MS = 60_000;
const LONGEST_BEGIN_MS = 5_000;
const MOST_NAMED = 20;

/** Functions that extensions of a daemon offer to each other. An extension adds its fields to this declaration. */
export interface Services {}

interface Shared extends Pick<App, 'store' | 'clock' | 'log' | 'gracePeriodOver'> {
  readonly config: Config;
  readonly patiently: Patiently;
  readonly stop: AbortSignal;
}

export interface ServiceDeps extends Shared {
  readonly accounts: Accounts;
  readonly parts: AppParts;
  /** The functions that earlier services have added. */
  readonly services: Services;
}

/** The part of an extension that runs in a daemon. */
export interface Service {
  /** The daemon opens the listeners for each account, before the account begins to work. */
  readonly listeners?: readonly Listen[];
  readonly take?: (lease: AccountLease) => void;
  /** Resolves after `stop` aborts. The daemon ends if the promise rejects. */
  readonly work?: Promise<void>;
  /** Stops new work of the service. Resolves once the service has ended. */
  readonly close?: () => Promise<void>;
}

export interface ServiceMaker {
  /** Called before the database is opened. Returns the facts by which other processes reach this process. */
  prepare?(config: Config, clock: Clock): Promise<WorkerOptions>;
  /** Throws if the service cannot start and the daemon must not work without it. */
  start(deps: ServiceDeps): Promise<Service>;
}

/** Runs until `stopping` aborts, then finishes the requests in flight. Throws if the daemon cannot continue. */
export async function runDaemon(
  config: Config,
  stopping: AbortSignal,
  onReady: () => void,
  { services: makers = [], ...overrides }: Overrides & { readonly services?: readonly ServiceMaker[] } = {},
): Promise<void> {
  const { clock = systemClock(), log = createLog(config.log.level) } = overrides;
  const { ownerPatienceMs: patienceMs = OWNER_PATIENCE_MS } = overrides;
  const worker: WorkerOptions = { accounts: config.accounts };
  for (const maker of makers) Object.assign(worker, await maker.prepare?.(config, clock));
  const gracePeriodOver = new AbortController();
  const opening = { patienceMs, worker, ...overrides.store };
  await using owned = await openUnlessStopped({ config, clock, log }, opening, stopping, gracePeriodOver);
  if (owned === undefined || stopping.aborted) return log.info({}, 'stopped');
  const { store, ownership } = owned;
  const failed = new AbortController();
  const stop = AbortSignal.any([stopping, failed.signal]);
  const patiently = patientlyWith({ store, clock, log });
  const ending = { stop, gracePeriodOver: gracePeriodOver.signal };
  const shared: Shared = { config, store, clock, log, patiently, ...ending };
  const listeners = [...(overrides.listeners ?? [])];
  // `parts` lacks the store, clock and log of `overrides`, because code that spreads `parts` would use them by mistake.
  const { makePaces, makeGuard, sweeps: added } = overrides;
  const parts: AppParts = { makePaces, makeGuard, sweeps: added, listeners };
  const sweeps = (overrides.sweeps ?? []).map((make) => make(config));
  const accounts = new Accounts({
    ...shared,
    connect: overrides.connect,
    parts,
    sweeps,
    passes: passesBy(sweeps, () => orderTicks.tickedAt),
    tickedAt: () => orderTicks.tickedAt,
    onFailure: (error) => failed.abort(error),
  });
  await using crons = new AsyncDisposableStack();
  const orderTicks = crons.use(new Cron(clock, config.schedule.cron, () => accounts.due.tick()));
  const sweepTicks = sweeps.map(({ name, cron }) => crons.use(new Cron(clock, cron, () => accounts.due.sweep(name))));
  const services = await startServices(makers, { ...shared, accounts, parts, services: {} }, failed);
  listeners.push(...services.flatMap((service) => service.listeners ?? []));
  const take = (lease: AccountLease) => [accounts, ...services].forEach((one) => one.take?.(lease));
  const tasks = [
    unlessStopped(stop, () => ownership.share(groupsOf(config), take, stop)),
    accounts.heedChanges(),
    accounts.due.wakeInTime(stop),
    repeatEvery(clock, READ_KEY_MS, stop, () => accounts.rereadKeys()),
    repeatEvery(clock, SECOND_MS, stop, () => eachSecond(accounts, [orderTicks, ...sweepTicks], log)),
  ];
  for (const task of tasks) task.catch((error: unknown) => failed.abort(error));
  gracePeriodOver.signal.addEventListener('abort', () => accounts.endGracePeriod());
  await withGracePeriod({ clock, endGracePeriod: () => gracePeriodOver.abort() }, stop, async () => {
    await unlessStopped(stop, () => begun(accounts, shared)).catch((error: unknown) => failed.abort(error));
    if (!stop.aborted) onReady();
    if (!stop.aborted) await once(stop, 'abort');
    log.info({}, 'stopping: no new work begins, requests in flight are finished');
    const ends = services.flatMap((service) => [service.work, service.close?.()]);
    await Promise.allSettled([...tasks, accounts.ended(), ...ends]);
  });
  if (failed.signal.aborted) throw failed.signal.reason;
  log.info({}, 'stopped');
}

/** Returns undefined if the process must stop while it waits for the database. */
async function openUnlessStopped(
  { config, clock, log }: Pick<Shared, 'config' | 'clock' | 'log'>,
  options: OwnerOptions,
  stopping: AbortSignal,
  gracePeriodOver: AbortController,
): Promise<OwnedStore | undefined> {
  const endWaiting = () => gracePeriodOver.abort();
  stopping.addEventListener('abort', endWaiting);
  try {
    const warn = (text: string) => log.warn({ database: config.database.address }, text);
    const inform = (text: string) => log.info({ database: config.database.address }, text);
    return await openAsOwner(config.database, clock, { ...options, warn, inform, hurry: gracePeriodOver.signal });
  } catch (error) {
    const isOfStop = isPassing(error) || (error instanceof Error && error.name === 'AbortError');
    if (!stopping.aborted || !isOfStop) throw error;
    log.info({ cause: messageOf(error) }, 'the process stops, so it no longer waits for the database');
    return undefined;
  } finally {
    stopping.removeEventListener('abort', endWaiting);
  }
}

async function unlessStopped(stop: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!stop.aborted || !isPassing(error)) throw error;
  }
}

/** Starts services in order. If a service cannot start, closes the earlier services, so that the process can end. */
async function startServices(makers: readonly ServiceMaker[], deps: ServiceDeps, failed: AbortController) {
  const services: Service[] = [];
  try {
    for (const maker of makers) {
      const service = await maker.start(deps);
      service.work?.catch((error: unknown) => failed.abort(error));
      services.push(service);
    }
    return services;
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(services.map(async ({ close }) => await close?.()));
    throw error;
  }
}

async function eachSecond(accounts: Accounts, crons: readonly Cron[], log: Logger): Promise<void> {
  for (const ticks of crons) ticks.tickIfOverdue();
  tellMissed(crons, log);
  await accounts.eachSecond();
}

export function passesBy(sweeps: readonly Sweep[], tickedAt: () => Date): Passes {
  return {
    create: createWhileWoken,
    lookup: async (app, stop) => {
      await app.settings.pace.learnFirst(app, stop);
      await lookUpDue(app, tickedAt, stop);
    },
    clock: (app) => app.wrongTimes.correct(true),
    uncorrected: (app) => app.wrongTimes.correctLeft(),
    ...Object.fromEntries(sweeps.map((sweep) => [sweep.name, (app: App, stop: AbortSignal) => sweep.run(app, stop)])),
  };
}

/** Waits up to `LONGEST_BEGIN_MS` for the first accounts, and then for the database. Logs that the daemon is ready. */
async function begun(accounts: Accounts, shared: Shared): Promise<void> {
  const { clock, patiently, stop } = shared;
  const limit = clock.sleep(LONGEST_BEGIN_MS, stop).catch(() => undefined);
  await Promise.race([accounts.begun, limit]);
  for (let isSaid = false; !isSaid && !stop.aborted;) {
    await patiently(async () => {
      await sayReady(accounts, shared);
      isSaid = true;
    });
    if (!isSaid) await clock.sleep(SECOND_MS, stop).catch(() => undefined);
  }
}

async function sayReady(accounts: Accounts, { config, store, clock, log }: Shared): Promise<void> {
  const [only] = config.accounts;
  const facts = { database: config.database.address, pid: process.pid };
  if (accounts.isOnly && only !== undefined) {
    const waiting = await countWaiting(store.db, { account: only.name, now: clock.now() });
    const stored = await readHolds(store.db, only.name);
    const holds = stored.map(({ kind, since, reason }) => `${kind} since ${since.toISOString()}: ${reason}`);
    const held = holds.length > 0 && { holds };
    log.info({ exchange: only.exchange.baseUrl, ...facts, ...waiting, ...held }, 'order-sync is ready');
    return;
  }
  const { names, waiting } = accounts;
  const counts = { accounts: names.length, configured: config.accounts.length, waiting: waiting.length };
  log.info({ ...facts, ...counts, firstWaiting: waiting.slice(0, MOST_NAMED) }, 'order-sync is ready');
}
