import type { Logger } from 'pino';
import { systemClock, type Clock } from './clock.ts';
import { ConfigError, sqlitePath, type Config } from './config/config.ts';
import { MerchantKey } from './config/merchant-key.ts';
import { ExchangeClient } from './exchange/client.ts';
import { RateWindow, type RateLimit } from './exchange/rate-window.ts';
import { httpTransport, type Transport } from './exchange/transport.ts';
import type { FlowDeps } from './flows/pass/deps.ts';
import { AccountHolds } from './flows/pass/holds.ts';
import { Incidents } from './flows/pass/incidents.ts';
import { CreatesInFlight } from './flows/pass/in-flight.ts';
import { RequestLease, spentByLastOwner } from './flows/pass/lease.ts';
import { recover } from './flows/orders/recover.ts';
import { newCounters } from './flows/pass/counters.ts';
import { createLog } from './log.ts';
import { nextGeneration } from './store/accounts.ts';
import { becomeOwner } from './store/sqlite/owner.ts';
import { openStore, type OpenOptions } from './store/sqlite/store.ts';

/** The one account of this version; the tables are made for several. */
const ACCOUNT = 'default';

/** The replacements of tests, the simulation and the benchmark. */
export interface Overrides {
  readonly clock?: Clock;
  readonly transport?: Transport;
  readonly log?: Logger;
  readonly store?: Partial<OpenOptions>;
  /** Where a process dies without a process: the operating system's lock would outlive it. */
  readonly becomeOwner?: typeof becomeOwner;
  /** The time for which another owner is waited for, in milliseconds. */
  readonly ownerPatienceMs?: number;
}

/** The program, wired: it owns the account until it is disposed of. */
export interface App extends FlowDeps, AsyncDisposable {
  /** Breaks off requests in flight, and no longer waits for results that cannot be written. */
  endGracePeriod(): void;
}

/**
 * Becomes the owner of the account, opens the database, and takes up what the last owner left. Throws `OwnedError` when
 * another process drives the account, `StoreError` when the database cannot be used.
 */
export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const clock = overrides.clock ?? systemClock();
  const log = overrides.log ?? createLog(config);
  const path = sqlitePath(config, 'use sqlite:PATH');
  await using undo = new AsyncDisposableStack();
  const ownership = await (overrides.becomeOwner ?? becomeOwner)(path, clock, overrides.ownerPatienceMs ?? 0);
  undo.defer(() => ownership.release());
  const store = await openStore(path, clock, { expect: 'upgrade', ...overrides.store });
  undo.defer(() => store.close());

  const { outputPosition } = config.exchange;
  const settings = { ...config.create, ...config.follow, ...config.reconcile, outputPosition };
  const { rate, ...asking } = exchangeSettings(config);
  const incidents = new Incidents({ account: ACCOUNT, store, clock, log });
  undo.defer(() => incidents.close());
  const base = { account: ACCOUNT, store, clock, log, incidents, settings, counters: newCounters() };
  const { generation, window } = await takeOver(base, rate);
  const lease = new RequestLease({ ...base, generation, window });
  const key = merchantKey(config, log);
  const holds = new AccountHolds({ ...base, rereadKey: key.reread });
  await holds.open();
  const gracePeriodOver = new AbortController();
  const exchange = new ExchangeClient({
    transport: overrides.transport ?? connect(config, key.current),
    clock,
    ...asking,
    window,
    account: holds,
    lease,
    gracePeriodOver: gracePeriodOver.signal,
  });
  undo.defer(() => exchange.close());
  incidents.watch({ exchange, holds });
  undo.defer(() => {
    // At once or not at all: the next owner waits two seconds for a lease that is left, a locked database lasts longer.
    store.writer.endGracePeriod();
    return lease.release().catch((error: unknown) => log.warn({ cause: String(error) }, 'the lease was not released'));
  });

  const disposal = undo.move();
  return {
    ...base,
    exchange,
    links: config.links,
    photos: config.photos,
    // While half of the orders wait for their answers, the others are claimed and recorded.
    concurrency: config.exchange.concurrency * 2,
    lease,
    holds,
    inFlight: new CreatesInFlight(),
    gracePeriodOver: gracePeriodOver.signal,
    endGracePeriod() {
      store.writer.endGracePeriod();
      gracePeriodOver.abort();
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/** Follows the last owner: takes its place, puts right what it left, and counts what it sent against the rate limit. */
async function takeOver(deps: Parameters<typeof recover>[0], rate: RateLimit) {
  const { account, store, clock, log } = deps;
  // Before the last owner's lease is read: from now on it gets no other.
  const generation = await store.writer.write((tx) => nextGeneration(tx, account));
  const { spent, clockWentBack } = await spentByLastOwner(deps, rate);
  await recover(deps, clockWentBack);
  const window = new RateWindow(rate, spent);
  logWait(log, window.waitMs(clock.monotonic()));
  return { generation, window };
}

/** The settings by which the exchange is asked and its answers are read. */
function exchangeSettings({ exchange: { rate, concurrency, absence }, create: { refusedBy } }: Config) {
  const limit = { requests: rate.requests, intervalMs: rate.interval };
  return { concurrency, rate: limit, reading: { absence, refusedBy } };
}

/** Says so where a start waits for longer than a moment. */
function logWait(log: Logger, waitMs = 0): void {
  const seconds = Math.ceil(waitMs / 1_000);
  if (seconds > 1) log.info({ seconds }, "waiting for the last owner's requests to be out of the rate limit's window");
}

/** The merchant key in force, and a way to read it again, which tells whether there is another one. */
function merchantKey({ exchange }: Config, log: Logger) {
  const key = new MerchantKey(exchange);
  const reread = () => {
    try {
      const isOther = key.reread();
      if (isOther) log.info({}, 'the merchant key was changed');
      return isOther;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.warn({ cause: error.message }, 'the merchant key cannot be read again, the one that was read stays in force');
      return false;
    }
  };
  return { current: () => key.current, reread };
}

function connect({ exchange }: Config, apiKey: () => string): Transport {
  const { baseUrl, timeout: timeoutMs, maxResponseBytes } = exchange;
  if (baseUrl === undefined) throw new Error('the settings were read without the exchange');
  return httpTransport({ baseUrl, apiKey, timeoutMs, maxResponseBytes });
}
