import { once } from 'node:events';
import { hostname } from 'node:os';
import type { Clock } from '../../../base/clock.ts';
import type { PostgresDatabase } from '../place/settings.ts';
import { WorkerView, type SeenWorker } from './heartbeats.ts';
import { readOwners, releaseAll, leaveWorkers, setUnits } from './workers.ts';
import { OwnedError } from '../../../store/errors.ts';
import type { WorkerOptions } from '../../../store/open.ts';
import type { AccountGroup, AccountLease, Ownership, Store } from '../../../store/port.ts';
import { openConnections, type Connections } from '../connection.ts';
import { unlessOfDatabase } from '../errors.ts';
import { Primary } from '../hosts/primary.ts';
import { Leases, type LeasesDeps, Worker, type WorkerFacts } from './leases.ts';
import { settingsInForce } from './settings.ts';
import { Sharing } from './sharing.ts';

const BEAT_MS = 1_000;
const FAILED_BEAT_MS = 200;
const LOOK_MS = 50;

/** After this time without an answer, the server is asked over another connection. */
const ANSWER_TIMEOUT_MS = 2_000;

export function openOwnership(
  place: PostgresDatabase,
  { db, mark }: Pick<Store, 'db' | 'mark'>,
  clock: Clock,
  { accounts = [], ...reached }: WorkerOptions,
  primary = new Primary(place),
): PostgresOwnership {
  const heartbeats = openConnections(place, { max: 1, answerTimeoutMs: ANSWER_TIMEOUT_MS, primary });
  const isReplicated = place.synchronousStandbys > 0;
  const settingsOf = settingsInForce(accounts, place.synchronousStandbys);
  const facts = { host: hostname(), ...reached, listens: place.notify && reached.instance !== undefined };
  return new PostgresOwnership({ heartbeats, primary, isReplicated, db, mark, clock, settingsOf, facts });
}

interface OwnershipDeps extends Omit<LeasesDeps, 'view'> {
  readonly heartbeats: Connections;
  readonly facts: WorkerFacts;
  readonly mark: Pick<Store['mark'], 'compareAll'>;
}

/** Ownership by heartbeat: an account is free once it is released, or another worker has declared its owner over. */
export class PostgresOwnership implements Ownership {
  readonly #deps: OwnershipDeps;
  readonly #view = new WorkerView();
  readonly #leases: Leases;
  readonly #stopping = new AbortController();
  #worker: Worker | undefined;
  #compared: Worker | undefined;
  #sharing: Sharing | undefined;
  #beating: Promise<Worker> | undefined;
  #balancing: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: OwnershipDeps) {
    this.#deps = deps;
    this.#leases = new Leases({ ...deps, view: this.#view });
  }

  async take(group: AccountGroup, patienceMs: number, signal?: AbortSignal): Promise<readonly AccountLease[]> {
    const { clock, db } = this.#deps;
    const deadline = clock.monotonic() + patienceMs;
    for (;;) {
      signal?.throwIfAborted();
      const worker = await this.#beat();
      this.#running ??= this.#keepBeating();
      const owners = await readOwners(db, group);
      const holders = group.flatMap((account) => owners.get(account)?.holder ?? []);
      const owner = this.#view.workers.find(({ holder }) => holder !== worker.holder && holders.includes(holder));
      const leases = owner === undefined ? await this.#leases.claim(worker, [group], owners) : [];
      // If the claim lacks an account, its row was locked or another worker was faster.
      if (owner === undefined && leases.length === group.length) return leases;
      // An owner whose heartbeat has ended is declared over soon, so the wait may exceed `patienceMs`.
      const isAlive = owner === undefined || owner.seenUntil.getTime() > this.#view.databaseTime(clock.monotonic());
      if (isAlive && clock.monotonic() >= deadline) throw ownedBy(owner, group);
      await clock.sleep(LOOK_MS, signal);
    }
  }

  async share(groups: readonly AccountGroup[], onTaken: (lease: AccountLease) => void, stop: AbortSignal) {
    const { db, clock } = this.#deps;
    this.#sharing = new Sharing(groups, { db, clock, view: this.#view, leases: this.#leases, onTaken });
    if (this.#worker !== undefined) await setUnits(db, this.#worker.holder, this.#sharing.text);
    await this.#beat();
    this.#running ??= this.#keepBeating();
    if (!stop.aborted) await Promise.race([once(stop, 'abort'), this.#running]);
    this.#sharing = undefined;
    // Other workers leave no share of the free accounts to a worker without units.
    await setUnits(db, this.#worker?.holder ?? '', null).catch(unlessOfDatabase);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#leases.endAll();
    const { heartbeats, db } = this.#deps;
    try {
      await this.#running;
      await this.#balancing;
      const worker = await this.#beating?.catch(() => undefined);
      const { holder } = worker ?? this.#worker ?? {};
      if (holder === undefined) return;
      await releaseAll(db, holder);
      await leaveWorkers(db, holder);
    } catch (error) {
      // The heartbeat that could not be deleted ends by itself.
      unlessOfDatabase(error);
    } finally {
      await heartbeats[Symbol.asyncDispose]();
    }
  }

  async #keepBeating(): Promise<void> {
    const { clock } = this.#deps;
    const stop = this.#stopping.signal;
    while (!stop.aborted) {
      const next = clock.monotonic() + BEAT_MS;
      let waitMs = FAILED_BEAT_MS;
      try {
        const worker = await this.#beat();
        worker.failure = undefined;
        this.#balance(worker);
        const ms = clock.monotonic();
        // If a worker is not trusted after a renewal, another server may take the writes now. The worker renews again.
        waitMs = worker.isTrusted() ? Math.min(next - ms, this.#view.nextOverMs(ms)) : 0;
      } catch (error) {
        unlessOfDatabase(error);
        if (this.#worker !== undefined) this.#worker.failure = error;
      }
      await clock.sleep(Math.max(waitMs, LOOK_MS), stop).catch(() => undefined);
    }
  }

  #beat(): Promise<Worker> {
    this.#beating ??= this.#beatOnce().finally(() => (this.#beating = undefined));
    return this.#beating;
  }

  async #beatOnce(): Promise<Worker> {
    const { heartbeats, facts } = this.#deps;
    for (;;) {
      const deps = { ...this.#deps, db: heartbeats.db, view: this.#view };
      this.#worker ??= await Worker.enter(deps, { ...facts, units: this.#sharing?.text });
      const worker = this.#worker;
      if (await worker.beat(this.#leases.size)) return worker;
      this.#worker = undefined;
      this.#leases.lose(worker);
    }
  }

  /** Runs beside the heartbeats, because heartbeats must not wait and balancing many accounts takes long. */
  #balance(worker: Worker): void {
    const work = async () => {
      await this.#leases.flushReleases();
      await this.#sharing?.balance(worker, this.#stopping.signal);
      // Before this worker began, other workers may have continued from an older state of the database.
      if (this.#sharing === undefined || this.#compared === worker) return;
      await this.#deps.mark.compareAll();
      this.#compared = worker;
    };
    this.#balancing ??= work()
      .catch(unlessOfDatabase)
      .finally(() => (this.#balancing = undefined));
  }
}

function ownedBy(owner: SeenWorker | undefined, group: AccountGroup): OwnedError {
  const accounts = `the ${group.length === 1 ? 'account' : 'accounts'} ${group.join(', ')}`;
  if (owner === undefined) return new OwnedError(`another program has ${accounts} locked; find its open transaction`);
  const worker = `the worker ${owner.holder} on ${owner.host}`;
  return new OwnedError(`${worker} drives ${accounts}; wait until it has ended, or stop it`);
}
