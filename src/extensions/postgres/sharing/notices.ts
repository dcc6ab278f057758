import { sql } from 'kysely';
import type { Clock } from '../../../base/clock.ts';
import { StoreError } from '../../../store/errors.ts';
import { Looks } from '../../../store/orders/looks.ts';
import type { Database } from '../../../store/port.ts';
import type { Connections } from '../connection.ts';

/** How often the database is looked at if no notice arrives, as behind a pooler that passes none on. */
const LOOK_MS = 1_000;
/** The channel of the trigger of migration 0003 and of `wakeOwner`. A notice bears the schema that it is about. */
const CHANNEL = 'order_sync';

interface ChangesDeps {
  readonly db: Database;
  readonly clock: Pick<Clock, 'sleep'>;
  /** By it persons' decisions reach this process. */
  readonly instance: string | undefined;
  /** For notices alone; undefined if the process looks only now and then. */
  readonly notices: Connections | undefined;
}

/** Yields when others may have written: after each notice, and each second without one; see `Store.changes`. */
export async function* changesOf(
  { db, clock, instance, notices }: ChangesDeps,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const looks = new Looks(clock);
  const listener = notices === undefined ? undefined : new Listener(notices, () => looks.hint());
  using _ = { [Symbol.dispose]: () => listener?.close() };
  for (;;) {
    void listener?.listen();
    await looks.next(LOOK_MS, signal);
    if (signal.aborted) return;
    yield instance === undefined ? [] : await takeWoken(db, instance).catch(noneOfDatabase);
  }
}

/** Takes the accounts of a process that others have changed since it last asked. */
export async function takeWoken(db: Database, instance: string): Promise<readonly string[]> {
  const { rows } = await sql<{ account: string }>`delete from account_wakes w
    using (select account from account_wakes
      where holder in (select holder from workers where instance = ${instance}) for update skip locked) waiting
    where w.account = waiting.account returning w.account`.execute(db);
  return rows.map(({ account }) => account);
}

/**
 * Has the owner of an account look at it at once, if there is one: somebody else has changed it. To be called in the transaction
 * of the change, which has the account's row locked: the owner passes over the row until the change is committed.
 */
export async function wakeOwner(tx: Database, account: string): Promise<void> {
  await sql`insert into account_wakes (account, holder)
    select account, holder from account_owners where account = ${account} and holder is not null
    on conflict (account) do update set holder = excluded.holder`.execute(tx);
  await sql`select pg_notify('order_sync', current_schema())`.execute(tx);
}

/** Returns no accounts if the database fails: the caller's next statement reports the failure. */
function noneOfDatabase(error: unknown): readonly string[] {
  if (error instanceof StoreError) return [];
  throw error;
}

class Listener {
  readonly #connections: Connections;
  readonly #onNotice: () => void;
  #state: 'idle' | 'listening' | 'closed' = 'idle';
  #end: (() => void) | undefined;

  constructor(connections: Connections, onNotice: () => void) {
    this.#connections = connections;
    this.#onNotice = onNotice;
  }

  /** Begins to listen unless it does already. A failure costs speed alone: the periodic look goes on, and the next call tries again. */
  async listen(): Promise<void> {
    if (this.#state !== 'idle') return;
    this.#state = 'listening';
    try {
      const lent = await this.#connections.lend();
      this.#end = () => lent.release(true);
      if (this.#state !== 'listening') return this.#end();
      const { rows } = await lent.exec(`select current_schema() as name`);
      const schema = String(rows[0]?.['name']);
      await lent.listen(CHANNEL, {
        onNotice: (about) => {
          if (about === schema) this.#onNotice();
        },
        onEnd: () => this.#ended(),
      });
      // Rows may have been written before it listened.
      this.#onNotice();
    } catch {
      this.#ended();
    }
  }

  close(): void {
    this.#ended();
    this.#state = 'closed';
  }

  #ended(): void {
    if (this.#state === 'closed') return;
    this.#state = 'idle';
    this.#end?.();
    this.#end = undefined;
  }
}
