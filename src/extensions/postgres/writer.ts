import { randomUUID } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Clock } from '../../base/clock.ts';
import { OwnedError, RowLockedError, StoreError } from '../../store/errors.ts';
import type { Transactions } from '../../store/group-writer.ts';
import type { AccountLease, Transaction, Work } from '../../store/port.ts';
import { MOST_STALE, type Connections, type Lent } from './connection.ts';
import { isConnectionLost, isLockedOut, isStale, isWorthRetry } from './errors.ts';
import { OlderStateError, type AccountMark } from './marks/marks.ts';
import { wakeOwner } from './sharing/notices.ts';
import type { ReplicatedCommit, Standbys } from './standbys.ts';

/** How long failed work is retried, such as after a lost connection or on a full server. */
const RETRY_FOR_MS = 2_000;
const RETRY_WAIT_MS = 50;
const ASK_AGAIN_MS = 250;

/** On a new time-line, event ids continue after the next multiple of this. A promoted standby lacks fewer events. */
const EVENTS_OF_A_TIME_LINE = 1_000_000_000;

/** A writer waits up to 3 s for the account's row. A stalled writer loses the row in 2 s, so the next one has it. */
const BEGIN = `begin isolation level read committed;
  set local lock_timeout = '3s'; set local statement_timeout = '30s';
  set local idle_in_transaction_session_timeout = '2s'`;

/** Shortens waits for a merchant's locks, which delay the whole account. Raises a weak `synchronous_commit`. */
const ONCE_LOCKED = `set_config('lock_timeout', '200ms', true),
        case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
          then set_config('synchronous_commit', 'on', true) end`;

const PROMOTED = 'the server was promoted, and this worker has not renewed its heartbeat there yet; wait a second';

interface TransactionDeps {
  readonly address: string;
  /** The time-line of this process's newest commit, for which the event ids were numbered. */
  readonly numbering: { timeLine?: string | null | undefined };
  readonly connections: Pick<Connections, 'lend'>;
  readonly clock: Clock;
  readonly standbys: Standbys;
}

interface OwnerWriting {
  readonly lease: Pick<AccountLease, 'generation' | 'claim' | 'walked' | 'timeLine'>;
  readonly mark: Pick<AccountMark, 'lostCommit'>;
}

type OwnerRow = Readonly<Record<'last_commit' | 'time_line' | 'server', string | null>> & {
  readonly generation: number;
};

/** `unknown` means that the connection was lost during the commit. */
type Attempt<Result> =
  | { readonly kind: 'committed'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: StoreError }
  | { readonly kind: 'unknown'; readonly name: string; readonly result: Result; readonly failure: StoreError };

/**
 * Each transaction locks the account's row first. A transaction of the owner has a name, which it writes into the row.
 * By this name the owner later finds out that the transaction was committed, or that an older copy was put back.
 */
export class AccountTransactions implements Transactions {
  readonly #deps: TransactionDeps;
  readonly #account: string;
  readonly #owner: OwnerWriting | undefined;
  #timeLine: string | null | undefined;
  /** The names of the owner's last commit and of later commits with an unknown result; at first the claim's name. */
  #last: string[];
  #intents: ReplicatedCommit | undefined;

  constructor(deps: TransactionDeps, account: string, owner?: OwnerWriting) {
    this.#deps = deps;
    this.#account = account;
    this.#owner = owner;
    const claim = owner?.lease.claim;
    this.#last = claim === undefined ? [] : [claim.name];
    this.#timeLine = claim?.timeLine;
  }

  isInPlace(): boolean {
    return true;
  }

  get failure(): StoreError | undefined {
    return this.#deps.standbys.failure;
  }

  isReplicated(signal: AbortSignal): true | Promise<boolean> {
    const intents = this.#intents;
    if (intents === undefined || intents.isProved === true) return true;
    return this.#deps.standbys.prove(intents, signal);
  }

  async runDeferred(tx: Transaction): Promise<void> {
    await tx.run?.(CompiledQuery.raw('set constraints all immediate'));
  }

  async run<Result>(work: Work<Result>, signal: AbortSignal, onFailure: (failure: StoreError) => void) {
    const { clock } = this.#deps;
    const deadline = clock.monotonic() + RETRY_FOR_MS;
    for (let stale = 0; ;) {
      const attempt = await this.#attempt(work).catch(async (error: unknown) => {
        // If `stopForAll` fails, a later transaction finds the older state again.
        if (error instanceof OlderStateError) await error.stopForAll().catch(() => undefined);
        throw error;
      });
      if (attempt.kind === 'committed') return attempt.result;
      if (attempt.kind === 'unknown' && (await this.#wasCommitted(attempt, signal, onFailure))) {
        if (this.#deps.standbys.areRequired) this.#intents = this.#newIntents();
        return attempt.result;
      }
      if (isStale(attempt.failure) && ++stale > MOST_STALE) throw attempt.failure;
      if (signal.aborted || clock.monotonic() >= deadline) throw attempt.failure;
      await clock.sleep(RETRY_WAIT_MS, signal).catch(() => undefined);
    }
  }

  async #attempt<Result>(work: Work<Result>): Promise<Attempt<Result>> {
    const { standbys, connections, numbering } = this.#deps;
    const name = randomUUID();
    let lent: Lent | undefined;
    try {
      lent = await connections.lend();
      await this.#lockAccount(lent, name);
      const result = await work(lent.db).catch((error: unknown) => {
        throw isLockedOut(error) ? new RowLockedError({ cause: error }) : error;
      });
      if (this.#owner === undefined) await wakeOwner(lent.db, this.#account);
      const failure = await this.#commit(lent);
      if (failure !== undefined) {
        lent.release(true);
        return { kind: 'unknown', name, result, failure };
      }
      this.#last = [name];
      numbering.timeLine = this.#timeLine;
      if (standbys.areRequired && (lent.db.intents?.length ?? 0) > 0) {
        this.#intents = this.#newIntents();
        // This proof covers all intents of the commit. If the proof fails, `isReplicated` tries again for each create.
        await standbys.judge(lent, this.#intents).catch(() => false);
      }
      lent.release();
      return { kind: 'committed', result };
    } catch (error) {
      await lent?.rollBack();
      if (error instanceof StoreError && isWorthRetry(error)) return { kind: 'failed', failure: error };
      throw error;
    }
  }

  /** Returns an error if the commit may have been done. Throws if it was not done. */
  async #commit(lent: Lent): Promise<StoreError | undefined> {
    using _ = this.#deps.standbys.waiting();
    try {
      const { command } = await lent.exec('commit');
      if (command === 'ROLLBACK')
        throw new Error('a statement failed and the work continued, so the server rolled the transaction back');
      return undefined;
    } catch (error) {
      if (error instanceof StoreError && isConnectionLost(error)) return error;
      throw error;
    }
  }

  #newIntents(): ReplicatedCommit {
    return { account: this.#account, isLast: (name) => this.#last.includes(name) };
  }

  async #lockAccount(lent: Lent, name: string): Promise<void> {
    const account = pg.escapeLiteral(this.#account);
    if (this.#owner === undefined) {
      const { rows } = await lent.exec<Pick<OwnerRow, 'time_line'>>(`${BEGIN};
        insert into account_owners (account, generation) values (${account}, 0) on conflict (account) do nothing;
        select order_sync_time_line() as time_line, ${ONCE_LOCKED}
        from (select from account_owners where account = ${account} for update) as locked`);
      return await this.#numberEvents(lent, rows[0]?.time_line ?? null);
    }
    const { lease, mark } = this.#owner;
    const { generation, walked, timeLine } = lease;
    // Time-lines are not compared if the role cannot read them.
    const onLine = timeLine ? `and order_sync_time_line() = ${pg.escapeLiteral(timeLine)}` : '';
    const names = this.#last.map((one) => pg.escapeLiteral(one)).join(', ');
    const isLast = names === '' ? '' : `and last_commit in (${names})`;
    const { rows } = await lent.exec<Pick<OwnerRow, 'time_line'>>(`${BEGIN};
      update account_owners set last_commit = '${name}', time_line = order_sync_time_line(),
        walked = ${walked === undefined ? 'null' : pg.escapeLiteral(walked)}
      where account = ${account} and generation = ${generation} ${onLine} ${isLast}
      returning time_line, ${ONCE_LOCKED}`);
    if (rows[0] !== undefined) return await this.#numberEvents(lent, rows[0].time_line);
    const owner = await this.#ownerRow(lent);
    this.#assertNotFollowed(owner, generation);
    const server = owner?.server;
    if (server !== (timeLine ?? server)) throw new StoreError('busy', PROMOTED, { cause: new Error(PROMOTED) });
    // After a promotion the next owner handles the lost commits. A database that was put back stops the account.
    if (server !== (this.#timeLine ?? server) || server !== (owner?.time_line ?? server)) {
      throw new OwnedError(`a promoted standby lacks the last commits of the account ${this.#account}`);
    }
    throw await mark.lostCommit(lent.db);
  }

  /** Raises event ids on a new time-line, because readers may have read events that a promoted standby lacks. */
  async #numberEvents(lent: Lent, timeLine: string | null): Promise<void> {
    const { numbering } = this.#deps;
    this.#timeLine = timeLine;
    if (numbering.timeLine === timeLine) return;
    const line = timeLine === null ? 'null' : pg.escapeLiteral(timeLine);
    await lent.exec(`with noted as (update database_identity set time_line = ${line},
        time_line_since = to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        where time_line is distinct from ${line} returning id),
      numbers as (select pg_get_serial_sequence('events', 'id')::regclass as ids,
        coalesce(('x' || right(${line}, 8))::bit(32)::bigint, 1) as promotions from noted)
      select setval(ids, greatest(coalesce(pg_sequence_last_value(ids), 0) / ${EVENTS_OF_A_TIME_LINE} + 1, promotions - 1)
        * ${EVENTS_OF_A_TIME_LINE}) from numbers`);
  }

  async #ownerRow(lent: Lent): Promise<OwnerRow | undefined> {
    const { rows } = await lent.exec<OwnerRow>(
      `select generation, last_commit, time_line, order_sync_time_line() as server from account_owners
        where account = ${pg.escapeLiteral(this.#account)} for update`,
    );
    return rows[0];
  }

  /** Throws `OwnedError` if a later owner has the account. A lower generation means that the database was put back. */
  #assertNotFollowed(owner: OwnerRow | undefined, generation: number): void {
    if (owner === undefined || owner.generation <= generation) return;
    throw new OwnedError(`another process has taken over the account ${this.#account}`);
  }

  /** Reads the account's row, which stays locked until the server has ended the transaction of the lost connection. */
  async #wasCommitted(
    { name, failure }: { readonly name: string; readonly failure: StoreError },
    signal: AbortSignal,
    onFailure: (failure: StoreError) => void,
  ): Promise<boolean> {
    const { address, clock, connections } = this.#deps;
    const message = `it is not known whether ${address} has committed the last change; check before you repeat it`;
    const unknown = (cause: unknown) => new StoreError('busy', message, { cause });
    // Only an owner's commits have names. Any other writer reports that the result is unknown.
    if (this.#owner === undefined) throw unknown(failure);
    onFailure(failure);
    for (;;) {
      try {
        const owner = await this.#askOnce(connections);
        if (owner?.last_commit === name) {
          this.#last = [name];
          return true;
        }
        this.#assertNotFollowed(owner, this.#owner.lease.generation);
        return false;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        onFailure(error);
      }
      if (signal.aborted) {
        // Any of these commits may be the newest commit now.
        if (this.#last.length > 0) this.#last.push(name);
        throw unknown(failure);
      }
      await clock.sleep(ASK_AGAIN_MS, signal).catch(() => undefined);
    }
  }

  async #askOnce(connections: Pick<Connections, 'lend'>) {
    const lent = await connections.lend();
    try {
      await lent.exec(BEGIN);
      return await this.#ownerRow(lent);
    } finally {
      await lent.rollBack();
    }
  }
}
