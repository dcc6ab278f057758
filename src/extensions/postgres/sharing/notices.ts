import { sql } from 'kysely';
import type { Clock } from '../../../base/clock.ts';
import { Looks } from '../../../store/orders/looks.ts';
import { assertNotNewer } from '../../../store/migrations.ts';
import type { Database, Store } from '../../../store/port.ts';
import type { Connections, Lent } from '../connection.ts';
import { unlessOfDatabase } from '../errors.ts';

/** How often the database is read if no notices arrive, such as behind a pooler. */
const LOOK_MS = 1_000;
/** How often the database is read while notices arrive, because an insert beside another insert sends no notice. */
const LOOK_HEARING_MS = 5_000;
/** The trigger of migration 0003 and `wakeOwner` notify this channel. The payload is the schema of the tables. */
const CHANNEL = 'order_sync';

interface ChangesDeps extends Pick<Store, 'address' | 'db' | 'migrations'> {
  readonly clock: Pick<Clock, 'sleep'>;
  /** The id of this process in `workers`, by which `takeWoken` finds the accounts of this process. */
  readonly instance: string | undefined;
  /** Connections for notices alone; undefined if the process only reads at intervals. */
  readonly notices: Connections | undefined;
}

/** After each notice, and at intervals, yields the accounts that other processes woke; see `Store.changes`. */
export async function* changesOf(deps: ChangesDeps, signal: AbortSignal) {
  const { db, clock, instance = '', notices } = deps;
  const looks = new Looks(clock);
  using listener = notices === undefined ? undefined : new Listener(notices, db, () => looks.hint());
  let known: number | undefined;
  for (;;) {
    void listener?.listen();
    await looks.next(listener?.isHearing === true ? LOOK_HEARING_MS : LOOK_MS, signal);
    if (signal.aborted) return;
    // Reads over the listening connection, because a failure shows that no notices arrive on it any more.
    const woken = await takeWoken(listener?.lent?.db ?? db, instance).catch(unlessOfDatabase);
    if (woken === undefined) listener?.end();
    else if (woken.migrations !== known) {
      await assertNotNewer(deps);
      known = woken.migrations;
    }
    yield woken?.accounts ?? [];
  }
}

/** Takes this process's accounts that other processes have woken since the last call. Also counts the migrations. */
export async function takeWoken(db: Database, instance: string) {
  const { rows } = await sql<{ account: string | null; migrations: number }>`with woken as (delete from account_wakes w
    using (select account from account_wakes
      where holder in (select holder from workers where instance = ${instance}) for update skip locked) waiting
    where w.account = waiting.account returning w.account)
    select woken.account, (select count(*) from kysely_migration) as migrations
    from (select 1) as one left join woken on true`.execute(db);
  return { accounts: rows.flatMap(({ account }) => account ?? []), migrations: rows[0]?.migrations };
}

/** Wakes the owner of an account. `tx` has locked the account's row, so the owner stays the same until the commit. */
export async function wakeOwner(tx: Database, account: string): Promise<void> {
  await sql`insert into account_wakes (account, holder)
    select account, holder from account_owners where account = ${account} and holder is not null
    on conflict (account) do update set holder = excluded.holder`.execute(tx);
  await sql`select pg_notify('order_sync', current_schema())`.execute(tx);
}

class Listener implements Disposable {
  readonly #connections: Connections;
  readonly #others: Database;
  readonly #onNotice: () => void;
  /** True once a notice has arrived on the connection. */
  isHearing = false;
  #isListening = false;
  lent: Lent | undefined;

  /** Over the connections `others`, the listener sends itself a notice, which shows that notices arrive. */
  constructor(connections: Connections, others: Database, onNotice: () => void) {
    this.#connections = connections;
    this.#others = others;
    this.#onNotice = onNotice;
  }

  async listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    try {
      const lent = await this.#connections.lend();
      if (!this.#isListening) return lent.release(true);
      this.lent = lent;
      const { rows } = await lent.exec<{ name: string }>(`select current_schema() as name`);
      const schema = rows[0]!.name;
      await lent.listen(CHANNEL, {
        onNotice: (about) => {
          if (about !== schema) return;
          if (this.lent === lent) this.isHearing = true;
          this.#onNotice();
        },
        onEnd: () => {
          if (this.lent === lent) this.end();
        },
      });
      await sql`select pg_notify(${CHANNEL}, ${schema})`.execute(this.#others);
      // Rows may have been written before the listening began.
      this.#onNotice();
    } catch {
      this.end();
    }
  }

  end(): void {
    this.#isListening = false;
    this.isHearing = false;
    this.lent?.release(true);
    this.lent = undefined;
  }

  [Symbol.dispose](): void {
    this.end();
  }
}
