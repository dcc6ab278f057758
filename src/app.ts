import type { Logger } from 'pino';
import { systemClock, type Clock } from './base/clock.ts';
import { groupOf, type Config } from './settings/config.ts';
import { keyPlace, merchantKey } from './settings/settings-file.ts';
import { DEFAULT_ACCOUNT } from './accounts/rules/name.ts';
import { messageOf } from './base/text.ts';
import { ExchangeClient } from './exchange/client.ts';
import { RateWindow, type RateLimit } from './exchange/transport/rate-window.ts';
import type { Transport } from './exchange/transport/http.ts';
import { httpTransport, type Connect } from './exchange/transport/transport.ts';
import { type FlowDeps, flowSettings, type Sweep, type SweepMaker } from './orders/pass/deps.ts';
import { NO_GUARD, type GuardMaker } from './orders/pass/guard.ts';
import { AccountRestraints } from './orders/pass/restraints.ts';
import { CreatesInFlight } from './orders/pass/in-flight.ts';
import { RateGroup, RequestLease, spentByLastOwner } from './orders/pass/lease.ts';
import { openListeners, type Listen } from './orders/pass/process-events.ts';
import type { FollowPace, PaceMaker } from './orders/pass/pace.ts';
import { ReadProgress, SentIntents } from './orders/pass/sent-intents.ts';
import { takeUpFailOvers } from './orders/fail-over.ts';
import { WrongTimes } from './orders/correct-times.ts';
import { recover } from './orders/recover.ts';
import { newCounters } from './orders/pass/outcomes.ts';
import { createLog } from './base/log.ts';
import { OwnedError } from './store/errors.ts';
import { openAsOwner, type OwnerOptions } from './store/open.ts';
import type { AccountLease, Store } from './store/port.ts';

/** The parts that extensions add to an account. The core works without any of them. */
export interface AppParts {
  readonly makePaces?: PaceMaker | undefined;
  readonly makeGuard?: GuardMaker | undefined;
  readonly listeners?: readonly Listen[] | undefined;
  readonly sweeps?: readonly SweepMaker[] | undefined;
}

/** Replacements for tests, the simulation and the benchmark, and the parts of extensions. */
export interface Overrides extends AppParts {
  readonly clock?: Clock;
  readonly connect?: Connect;
  readonly log?: Logger;
  readonly store?: OwnerOptions;
  readonly ownerPatienceMs?: number;
  readonly account?: string;
}

/** The program, wired for one account until this object is disposed of. */
export interface App extends FlowDeps, AsyncDisposable {
  readonly config: Config;
  readonly exchange: ExchangeClient;
  readonly accountLease: AccountLease;
  readonly wrongTimes: WrongTimes;
  readonly sweeps: readonly Sweep[];
  eachSecond(): Promise<void>;
  endGracePeriod(): void;
}

interface AccountDeps extends AppParts {
  readonly store: Store;
  readonly accountLease: AccountLease;
  readonly clock: Clock;
  readonly log: Logger;
  readonly connect?: Connect | undefined;
  readonly rateGroup?: RateGroup | undefined;
  readonly intents?: SentIntents | undefined;
  /** The pace of an earlier wiring in this process. That wiring has recovered the last owner's orders. */
  readonly pace?: FollowPace | undefined;
}

/** Owns an account until the app is disposed of. Throws `StoreError`, or `OwnedError` if another process owns it. */
export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const { clock = systemClock(), ownerPatienceMs: patienceMs = 0, account = DEFAULT_ACCOUNT } = overrides;
  const log = overrides.log ?? createLog(config.log.level);
  await using undo = new AsyncDisposableStack();
  const opening = { patienceMs, worker: { accounts: config.accounts }, ...overrides.store };
  const { store, ownership } = undo.use(await openAsOwner(config.database, clock, opening));
  const accountLeases = await ownership.take(groupOf(config, account), patienceMs);
  const accountLease = accountLeases.find((one) => one.account === account);
  if (accountLease === undefined)
    throw new OwnedError(`this process cannot become the owner of the account ${account}`);
  const rateGroup = accountLeases.length > 1 ? new RateGroup(accountLeases, overrides.makePaces) : undefined;
  const owned = store.forAccount(account, accountLease);
  const app = undo.use(await startApp(config, { ...overrides, store: owned, accountLease, clock, log, rateGroup }));
  const endWaiting = () => [store, owned].forEach(({ writer }) => writer.endGracePeriod());
  // Disposal runs `endWaiting` first, so `lease.release` waits for no locked database. An unreleased lease ends in 2 s.
  undo.defer(endWaiting);
  const disposal = undo.move();
  return {
    ...app,
    endGracePeriod() {
      endWaiting();
      app.endGracePeriod();
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

export async function startApp(config: Config, deps: AccountDeps): Promise<App> {
  const { store, accountLease, clock, log } = deps;
  const { account } = accountLease;
  await using undo = new AsyncDisposableStack();
  const paceOf = deps.rateGroup?.paceOf ?? deps.makePaces?.(1);
  const settings = flowSettings(config, deps.pace ?? paceOf?.(config));
  const { concurrency, timeout: timeoutMs, absence } = config.exchange;
  const { tell, eachSecond } = undo.use(await openListeners({ account, store, clock, log }, deps.listeners));
  const observers = { counters: newCounters(), tell };
  const written = { account, config, store, clock, log, settings, observers };
  const base = { ...written, wrongTimes: await WrongTimes.open(written) };
  const { window, ...taken } = await takeOver(
    { ...deps, ...base },
    { ...config.exchange.rate, intervalMs: config.exchange.rate.interval },
  );
  const ending = new AbortController();
  const gracePeriodOver = ending.signal;
  const lease = new RequestLease({ ...base, accountLease, window, concurrency, timeoutMs, gracePeriodOver });
  const key = keyOf(config, log);
  const restraints = new AccountRestraints({ ...base, key });
  await restraints.open();
  const guard = (await deps.makeGuard?.({ account, config, restraints }, store.db)) ?? NO_GUARD;
  const exchange = new ExchangeClient({
    transport: deps.connect?.(account, key.current) ?? connectBy(config, key.current),
    clock,
    concurrency,
    reading: { absence, refusedBy: config.create.refusedBy },
    window,
    account: restraints,
    tell,
    lease,
    gracePeriodOver,
  });
  undo.defer(() => exchange.close());
  tell({ kind: 'account.wired', live: { exchange, restraints, accountLease } });
  undo.defer(() =>
    lease.release().catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'the lease was not released')),
  );
  const disposal = undo.move();
  return {
    ...base,
    exchange,
    accountLease,
    sweeps: (deps.sweeps ?? []).map((make) => make(config)),
    restraints,
    creates: { lease, guard, inFlight: new CreatesInFlight(concurrency), ...taken },
    gracePeriodOver,
    eachSecond,
    endGracePeriod() {
      store.writer.endGracePeriod();
      ending.abort();
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/** Recovers orders that the last owner left in flight, and counts that owner's requests against the rate limit. */
async function takeOver(
  deps: Parameters<typeof recover>[0] & Pick<AccountDeps, 'accountLease' | 'rateGroup' | 'pace' | 'intents'>,
  rate: RateLimit,
) {
  const { clock, log, accountLease, rateGroup, intents = new SentIntents() } = deps;
  const isTakenUp = deps.pace !== undefined;
  if (!isTakenUp && accountLease.differsIn.length > 0) {
    log.warn(
      { settings: accountLease.differsIn },
      'the last owner of the account had other settings; from now on the settings of this process apply',
    );
  }
  const last = await spentByLastOwner(deps, rate);
  if (!isTakenUp) await recover(deps, last.clockWentBack);
  const { newestAt, unmarked } = await takeUpFailOvers({ ...deps, intents });
  intents.owned.set(accountLease.account, { generation: accountLease.generation, at: accountLease.now() });
  // A fail-over may have lost the record of requests that count against the rate limit.
  const at = clock.monotonic() - Math.max(0, accountLease.now().getTime() - (newestAt ?? 0));
  const lost = newestAt === undefined ? [] : [{ at, requests: rate.requests }];
  const shared = await rateGroup?.windowOf(deps, rate, last.spent, lost);
  const window = shared ?? new RateWindow(rate, [...last.spent, ...lost]);
  const seconds = Math.ceil((window.waitMs(clock.monotonic()) ?? 0) / 1_000);
  if (seconds > 1) log.info({ seconds }, "waiting for the last owner's requests to be out of the rate limit's window");
  return { window, intents, unmarked, readProgress: new ReadProgress(accountLease, clock, rate) };
}

function keyOf({ exchange }: Config, log: Logger) {
  const { current, reread: readAgain } = merchantKey(exchange, ({ message: cause }) =>
    log.warn({ cause }, 'the merchant key cannot be read again; the program continues with the earlier key'),
  );
  const reread = () => {
    const isOther = readAgain();
    if (isOther) log.info({}, 'the merchant key was changed');
    return isOther;
  };
  return { current, reread, place: keyPlace(exchange) };
}

function connectBy({ exchange }: Config, apiKey: () => string): Transport {
  const { baseUrl, timeout: timeoutMs, maxResponseBytes } = exchange;
  if (baseUrl === undefined) throw new Error('the settings were read without the exchange');
  return httpTransport({ baseUrl, apiKey, timeoutMs, maxResponseBytes });
}
