import { once } from 'node:events';
import type { Logger } from 'pino';
import { Accounts } from './accounts/accounts.ts';
import type { Passes } from './accounts/account.ts';
import type { App, Overrides } from './app.ts';
import { systemClock, type Clock } from './base/clock.ts';
import type { Config } from './settings/config.ts';
import { groupsOf, settingsInForce } from './settings/rate-groups.ts';
import { programVersion } from './base/version.ts';
import { linksPass } from './extensions/clients/links.ts';
import { sweep, sweepWithoutFindings } from './findings/sweep.ts';
import { createPass } from './orders/create.ts';
import { lookUpDue } from './orders/follow.ts';
import { purgeByAge, purgeKeptAnswers } from './extensions/intake/retention.ts';
import { Activities } from './extensions/health/activity.ts';
import { Patience, repeatEvery, withGracePeriod } from './orders/pass/run.ts';
import { learnFirst } from './extensions/pace/learn-pace.ts';
import type { StatusSources } from './extensions/health/status/read-status.ts';
import { reachOf } from './extensions/api/reach.ts';
import { serveControl } from './extensions/api/server.ts';
import { sendHeartbeats } from './extensions/health/ops/readiness.ts';
import { serveOps } from './extensions/health/ops/server.ts';
import { receivePhotos } from './extensions/clients/photo-receiver.ts';
import { purgeDeadLetters, Webhooks } from './extensions/webhooks/webhooks.ts';
import { messageOf } from './base/text.ts';
import { createLog } from './base/log.ts';
import { readHolds } from './store/tables/account-holds.ts';
import { hasStandbys, NO_TIME_LINE, readTimeLine, UNPROVED_STANDBYS } from './store/tables/fail-overs.ts';
import { assertNotNewer } from './store/migrations.ts';
import { isPassing } from './store/errors.ts';
import { openAsOwner, type OwnedStore, type OwnerOptions } from './store/open.ts';
import type { Store } from './store/port.ts';
import { countWaiting } from './store/find-orders.ts';
import { schedule, type ScheduledTask } from 'node-cron';

/** A second daemon waits this long for the first to go, as when pm2 restarts it. */
const OWNER_PATIENCE_MS = 3_000;
/** How often restrained accounts are tried, and incidents logged. */
const SECOND_MS = 1_000;
/** A key that was changed in its file is in force after this time, or when the exchange refuses the old one. */
const READ_KEY_MS = 60_000;
const READ_VERSION_MS = 5_000;
/** Another process may own all accounts for now. */
const LONGEST_BEGIN_MS = 5_000;
const MOST_NAMED = 20;

interface Shared extends Pick<App, 'store' | 'clock' | 'log' | 'gracePeriodOver'> {
  readonly config: Config;
  readonly patience: Patience;
  readonly activities: Activities;
  readonly stop: AbortSignal;
}

/** Runs until `stopping` aborts, then finishes the requests in flight. Throws if the daemon cannot go on. */
export async function runDaemon(
  config: Config,
  stopping: AbortSignal,
  onReady: () => void,
  overrides: Overrides = {},
): Promise<void> {
  const { clock = systemClock(), log = createLog(config), ownerPatienceMs: patienceMs = OWNER_PATIENCE_MS } = overrides;
  const reach = await reachOf(config, clock);
  const worker = { ...reach, settingsOf: settingsInForce(config) };
  const gracePeriodOver = new AbortController();
  const opening = { patienceMs, worker, ...overrides.store };
  await using owned = await openUnlessStopped({ config, clock, log }, opening, stopping, gracePeriodOver);
  if (owned === undefined || stopping.aborted) return log.info({}, 'stopped');
  const { store, ownership } = owned;
  await tellOfMarks(config, store, log);
  const failed = new AbortController();
  const stop = AbortSignal.any([stopping, failed.signal]);
  const patience = new Patience({ store, clock, log });
  const activities = new Activities(clock);
  const ending = { stop, gracePeriodOver: gracePeriodOver.signal };
  const shared: Shared = { config, store, clock, log, patience, activities, ...ending };
  const accounts = new Accounts({
    ...shared,
    connect: overrides.connect,
    passes: passesBy(config, () => orderTicks.tickedAt),
    tickedAt: () => orderTicks.tickedAt,
    onFailure: (error) => failed.abort(error),
  });
  await using orderTicks = new Cron(clock, config.schedule.cron, () => accounts.due.tick());
  await using linkTicks = new Cron(clock, config.links.cron, () => accounts.due.sweep('links'));
  await using sweepTicks = new Cron(clock, config.reconcile.cron, () => accounts.due.sweep('findings'));
  const webhooks = new Webhooks({ ...shared, ...config.webhooks });
  await using photos = await receivePhotos({ ...shared, photos: config.photos }, stop);
  await using undo = new AsyncDisposableStack();
  const ops = undo.adopt(await serveOps({ ...shared, ...shownBy(accounts) }, stop), endBy(failed));
  const control = undo.adopt(await serveControl(controlled(accounts, shared, ops), reach.socket, stop), endBy(failed));
  using _ = await reach.publish();
  undo.move();
  const tasks = [
    unlessStopped(stop, () =>
      ownership.share(groupsOf(config), (lease) => [accounts, webhooks].forEach((one) => one.take(lease)), stop),
    ),
    accounts.heedChanges(),
    photos.waiting,
    reach.relay(shared, stop),
    sendHeartbeats({ ...shared, accounts }, stop),
    ...lookAfter(accounts, { webhooks, photos }, shared, [orderTicks, linkTicks, sweepTicks]),
  ];
  for (const task of tasks) task.catch((error: unknown) => failed.abort(error));
  gracePeriodOver.signal.addEventListener('abort', () => accounts.endGracePeriod());
  await withGracePeriod({ clock, endGracePeriod: () => gracePeriodOver.abort() }, stop, async () => {
    await unlessStopped(stop, () => begun(accounts, shared)).catch((error: unknown) => failed.abort(error));
    if (!stop.aborted) onReady();
    if (!stop.aborted) await once(stop, 'abort');
    log.info({}, 'stopping: nothing new is taken, requests in flight are finished');
    await Promise.allSettled([...tasks, accounts.ended(), control.close(), photos.close(), ops.close()]);
  });
  if (failed.signal.aborted) throw failed.signal.reason;
  log.info({}, 'stopped');
}

/** Undefined if the process is asked to stop while another program keeps the database from opening. */
async function openUnlessStopped(
  { config, clock, log }: Pick<Shared, 'config' | 'clock' | 'log'>,
  options: OwnerOptions,
  stopping: AbortSignal,
  gracePeriodOver: AbortController,
): Promise<OwnedStore | undefined> {
  const endWaiting = () => gracePeriodOver.abort();
  stopping.addEventListener('abort', endWaiting);
  try {
    return await openAsOwner(config.database, clock, { ...options, hurry: gracePeriodOver.signal });
  } catch (error) {
    const isOfStop = isPassing(error) || (error instanceof Error && error.name === 'AbortError');
    if (!stopping.aborted || !isOfStop) throw error;
    log.info({ cause: messageOf(error) }, 'the database is not waited for any longer');
    return undefined;
  } finally {
    stopping.removeEventListener('abort', endWaiting);
  }
}

/** Does the work; an error of the database is ignored once the process stops. */
async function unlessStopped(stop: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!stop.aborted || !isPassing(error)) throw error;
  }
}

/** Closes a server if the rest cannot begin: it would keep the process alive. */
function endBy(failed: AbortController): (one: { close(): Promise<void> }) => Promise<void> {
  return async (one) => {
    failed.abort();
    await one.close();
  };
}

function shownBy(accounts: Accounts) {
  const heedDecision = (name: string) => accounts.heedDecision(name);
  return { accounts, heedDecision, version: programVersion() };
}

function controlled(accounts: Accounts, shared: Shared, ops: StatusSources['ops']) {
  const facts = { pid: process.pid, version: programVersion(), startedAt: shared.clock.now().toISOString() };
  const status = () => ({ ...shared, ops, accounts, process: facts });
  return { ...shared, use: (name: string) => accounts.use(name), status };
}

function lookAfter(
  accounts: Accounts,
  { webhooks, photos }: { readonly webhooks: Webhooks; readonly photos: Awaited<ReturnType<typeof receivePhotos>> },
  { config, store, clock, log, stop }: Shared,
  crons: readonly Cron[],
): readonly Promise<void>[] {
  const { retention } = config;
  const purges = { keptAnswers: purgeKeptAnswers, deadLetters: purgeDeadLetters, photos: photos.purge };
  return [
    webhooks.run(),
    accounts.due.wakeInTime(stop),
    repeatEvery(clock, READ_VERSION_MS, stop, () => assertNotNewer(store)),
    repeatEvery(clock, READ_KEY_MS, stop, () => accounts.rereadKeys()),
    purgeByAge({ store, clock, log, retention, purges }, () => accounts.names, stop),
    repeatEvery(clock, SECOND_MS, stop, async () => {
      for (const ticks of crons) ticks.tickIfOverdue();
      tellMissed(crons, log);
      await accounts.eachSecond();
    }),
  ];
}

export function passesBy({ reconcile }: Config, tickedAt: () => Date): Passes {
  return {
    create: createPass,
    lookup: async (app, stop) => {
      await learnFirst(app, stop);
      await lookUpDue(app, tickedAt, stop);
    },
    links: linksPass,
    findings: reconcile.cron === undefined ? sweepWithoutFindings : sweep,
    clock: (app) => app.wrongTimes.correct(true),
    uncorrected: (app) => app.wrongTimes.correctLeft(),
  };
}

/** On PostgreSQL the marks are of this machine: one that has none drives a database that was put back as any other. */
async function tellOfMarks({ database }: Config, { db, mark }: Store, log: Logger): Promise<void> {
  if (database.kind !== 'postgres') return;
  if ((await readTimeLine(db)) === null) log.warn({ database: database.address }, NO_TIME_LINE);
  if (database.synchronousStandbys === 0 && (await hasStandbys(db))) {
    log.warn({ database: database.address }, UNPROVED_STANDBYS);
  }
  if (!(await mark.isMissing())) return;
  const advice = 'after a restore stop all workers and run: order-sync db accept-restore --account all';
  log.warn({ marks: mark.path, advice }, 'no mark here of any account: an older state is noticed from now on');
}

/** Waits for the first accounts, up to a limit, and for the database; then logs that the daemon is ready. */
async function begun(accounts: Accounts, shared: Shared): Promise<void> {
  const { clock, patience, stop } = shared;
  const limit = clock.sleep(LONGEST_BEGIN_MS, stop).catch(() => undefined);
  await Promise.race([accounts.begun, limit]);
  for (let isSaid = false; !isSaid && !stop.aborted;) {
    await patience.with(async () => {
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
    const holds = (await readHolds(store.db, only.name)).map(({ kind, reason }) => `${kind}: ${reason}`);
    const held = holds.length > 0 && { holds };
    log.info({ exchange: only.exchange.baseUrl, ...facts, ...waiting, ...held }, 'order-sync is ready');
    return;
  }
  const { names, waiting } = accounts;
  const counts = { accounts: names.length, configured: config.accounts.length, waiting: waiting.length };
  log.info({ ...facts, ...counts, firstWaiting: waiting.slice(0, MOST_NAMED) }, 'order-sync is ready');
}

const OVERDUE_MS = 10_000;

/** Ticks at the times of a cron expression in UTC, or never without one, until it is disposed of. */
export class Cron implements AsyncDisposable {
  /** Ticks that were missed since they were last logged. */
  missed = 0;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #onTick: () => void;
  readonly #task: ScheduledTask | undefined;
  #overdueAt = 0;
  #tickedAt = new Date(0);

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, expression: string | undefined, onTick: () => void) {
    this.#clock = clock;
    this.#onTick = onTick;
    if (expression === undefined) return;
    this.#task = schedule(expression, () => this.#tick(), { timezone: 'UTC', noOverlap: true });
    // Without a listener node-cron writes a line of its own for each missed tick.
    this.#task.on('execution:missed', () => void (this.missed += 1));
    this.#expectNext();
  }

  /** The time of the last tick; long ago before the first one. It is not ahead of a clock that was set back since. */
  get tickedAt(): Date {
    const now = this.#clock.now();
    if (this.#tickedAt > now) this.#tickedAt = now;
    return this.#tickedAt;
  }

  /** Ticks if node-cron has not, as when the system's clock was set back. */
  tickIfOverdue(): void {
    if (this.#task !== undefined && this.#clock.monotonic() > this.#overdueAt) this.#tick();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task?.destroy();
  }

  #tick(): void {
    this.#tickedAt = this.#clock.now();
    this.#expectNext();
    this.#onTick();
  }

  #expectNext(): void {
    this.#overdueAt = this.#clock.monotonic() + (this.#task?.msToNext() ?? 0) + OVERDUE_MS;
  }
}

export function tellMissed(crons: readonly Cron[], log: Logger): void {
  const missed = crons.reduce((all, cron) => all + cron.missed, 0);
  for (const cron of crons) cron.missed = 0;
  if (missed > 0)
    log.warn({ missed }, 'the process stood still, or its clock was set forward: ticks of the schedule were missed');
}
