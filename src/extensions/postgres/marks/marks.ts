import { sql } from 'kysely';
import type { Clock } from '../../../base/clock.ts';
import { recordStop } from '../../../store/tables/account-stops.ts';
import { forgetAccountFact, readAccountFact, setAccountFact } from '../../../store/tables/accounts.ts';
import { StoreError, unusable } from '../../../store/errors.ts';
import type { FollowingMark } from '../../../store/group-writer.ts';
import {
  GAP_MS,
  isBefore,
  MarkFollower,
  MOST_AT_ONCE,
  readMark,
  readPositionOf,
  readPositions,
  readSignOfRestore,
} from '../../../store/mark.ts';
import { pagesAfter } from '../../../store/pages.ts';
import type { Database, Mark, MarkContent, Position, Transaction, Work } from '../../../store/port.ts';
import type { AccountWithMark, MarksFile } from './file.ts';

/** The fact that stops an account for all workers. Its value is the mark, which other workers may lack. */
const FOUND_OLDER = 'restore.found';
/** The fact with the mark that was known when a person accepted an older state. Machines may still have this mark. */
const ACCEPTED = 'restore.accepted';

/** Reads the id by which marks know the database, whatever its address. Throws `StoreError` if there is no id. */
export async function readIdentity(db: Database, address: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from database_identity`.execute(db);
  if (rows[0] !== undefined) return rows[0].id;
  const advice =
    'restore all tables of a dump, or run in psql: insert into database_identity values (gen_random_uuid())';
  throw unusable(`${address} has no row in database_identity, by which its marks are found; ${advice}`);
}

interface MarksDeps {
  readonly address: string;
  readonly db: Database;
  readonly clock: Clock;
  readonly file: MarksFile;
  /** Runs work in a transaction of an account, without owning the account. */
  readonly write: (account: string, work: Work<void>) => Promise<void>;
}

export class AccountMarks extends MarkFollower {
  readonly #deps: MarksDeps;

  constructor(deps: MarksDeps) {
    super(deps.clock, GAP_MS);
    this.#deps = deps;
  }

  of(account: string): AccountMark {
    return new AccountMark(account, this, this.#deps);
  }

  /** Stops, for all workers, each account that is older than its mark on this machine. Throws `StoreError`. */
  async compare(): Promise<void> {
    const { db, file } = this.#deps;
    const read = async (last?: AccountWithMark) => file.page(last?.[0] ?? '', MOST_AT_ONCE);
    for await (const marks of pagesAfter<AccountWithMark>(MOST_AT_ONCE, read)) {
      for (const account of await suspected(db, marks)) await this.of(account).stopIfOlder();
    }
  }

  override async close(): Promise<void> {
    await super.close();
    this.#deps.file.close();
  }

  protected override async writePositions(accounts: readonly string[]): Promise<boolean> {
    const { db, file, clock } = this.#deps;
    const positions = await readPositions(db, accounts).catch(() => undefined);
    if (positions !== undefined) file.advance(positions, clock.now());
    return positions !== undefined;
  }
}

/** Returns accounts that may be older than their marks. Returns none after a promotion: the next owner handles that. */
async function suspected(db: Database, marks: readonly AccountWithMark[]): Promise<readonly string[]> {
  if (marks.length === 0) return [];
  // Of an unreadable mark only the account is known, so the other columns are null and the account is not found.
  const contents = JSON.stringify(marks.map(([account, mark]) => ({ account, ...mark })));
  const { rows } = await sql<{ account: string }>`select o.account from account_owners o
    join json_to_recordset(${contents}::json) as m (account text, generation bigint, "eventId" bigint, hash text, "timeLine" text)
      on o.account = m.account
    where (split_part(m."timeLine", '/', 1) <> split_part(order_sync_time_line(), '/', 1)
        or o.time_line is not distinct from order_sync_time_line() and coalesce(m."timeLine", o.time_line) is not distinct from o.time_line)
      and (o.generation < m.generation or (m."eventId" > 0 and not exists (select from events e
        where e.account = m.account and e.id = m."eventId" and e.hash = coalesce(m.hash, e.hash))))`.execute(db);
  return rows.map(({ account }) => account);
}

/** The mark of one account. A missing mark proves nothing, because another machine may have it. */
export class AccountMark implements Mark, FollowingMark {
  readonly account: string;
  readonly path: string;
  readonly #marks: AccountMarks;
  readonly #deps: MarksDeps;
  #isChecked = false;

  constructor(account: string, marks: AccountMarks, deps: MarksDeps) {
    this.account = account;
    this.path = deps.file.path;
    this.#marks = marks;
    this.#deps = deps;
  }

  async read(db: Database = this.#deps.db): Promise<MarkContent | undefined> {
    const found = await this.#readFact(db, FOUND_OLDER);
    if (found !== undefined) return found;
    const mark = this.#deps.file.read(this.account);
    const accepted = mark === undefined ? undefined : await this.#readFact(db, ACCEPTED);
    return mark === undefined || (accepted !== undefined && !isBefore(accepted, mark)) ? undefined : mark;
  }

  async position(): Promise<Position> {
    return await readPositionOf(this.#deps.db, this.account);
  }

  async sign(): Promise<string | undefined> {
    return (await this.#signOf(this.#deps.db)).sign;
  }

  async isMissing(): Promise<boolean> {
    if (this.#deps.file.page('', MOST_AT_ONCE).some(([, mark]) => mark !== undefined)) return false;
    return (await this.#deps.db.selectFrom('event_heads').select('id').limit(1).executeTakeFirst()) !== undefined;
  }

  async write(content: MarkContent): Promise<void> {
    const { account } = this;
    await this.#deps.write(account, async (tx) => {
      if (content.restoring !== undefined) return await this.#keepFact(tx, FOUND_OLDER, content);
      const mark = await this.read(tx);
      if (mark !== undefined) await this.#keepFact(tx, ACCEPTED, mark);
      await forgetAccountFact(tx, { account, name: FOUND_OLDER });
    });
    this.#deps.file.replace(account, content);
  }

  assertWritten(): void {
    this.#marks.assertWritten();
  }

  async compareAll(): Promise<void> {
    await this.#marks.compare();
  }

  async assertNotOlder(tx: Transaction): Promise<void> {
    if (this.#isChecked) return;
    this.#deps.file.open();
    const { mark, sign } = await this.#signOf(tx);
    if (mark !== undefined && sign !== undefined) throw this.#older(sign, mark);
    this.#isChecked = true;
  }

  committed(): void {
    this.#marks.committed(this.account);
  }

  async lostCommit(tx: Transaction): Promise<OlderStateError> {
    const { generation, eventId } = await readPositionOf(tx, this.account);
    // No event has this hash, so no later event matches the lost commit.
    const lost = { generation, eventId: eventId + 1, hash: '', at: this.#deps.clock.now().toISOString() };
    return this.#older('was put back to an older state while a process used it', lost);
  }

  /** If the database is in an older state, stops the account for all workers and ends its ownership. */
  async stopIfOlder(): Promise<void> {
    const { account } = this;
    if ((await this.#readFact(this.#deps.db, FOUND_OLDER)) !== undefined) return;
    const { mark, sign } = await this.#signOf(this.#deps.db);
    if (mark === undefined || sign === undefined) return;
    await this.#deps.write(account, async (tx) => {
      await this.#stop(tx, sign, mark);
      await sql`update account_owners set generation = generation + 1, holder = null
        where account = ${account}`.execute(tx);
    });
  }

  async #stop(tx: Transaction, sign: string, mark: MarkContent): Promise<void> {
    await this.#keepFact(tx, FOUND_OLDER, mark);
    const [reason, now] = [`the database ${sign}`, this.#deps.clock.now()];
    await recordStop(tx, this.account, { kind: 'older-state', reason, actor: null, now });
  }

  #older(sign: string, mark: MarkContent): OlderStateError {
    const { address, write } = this.#deps;
    const advice = `if it was put back, run: order-sync db accept-restore --account ${this.account}`;
    const message = `the account ${this.account} in ${address} ${sign}; ${advice}`;
    return new OlderStateError(message, () => write(this.account, (tx) => this.#stop(tx, sign, mark)));
  }

  async #signOf(db: Database) {
    const mark = await this.read(db);
    return { mark, sign: mark && (await readSignOfRestore(db, mark, this.account)) };
  }

  async #readFact(db: Database, name: string): Promise<MarkContent | undefined> {
    const value = await readAccountFact(db, { account: this.account, name });
    return value === undefined ? undefined : readMark(value);
  }

  async #keepFact(tx: Transaction, name: string, content: MarkContent): Promise<void> {
    const value = JSON.stringify(content);
    await setAccountFact(tx, { account: this.account, name, value, now: this.#deps.clock.now() });
  }
}

export class OlderStateError extends StoreError {
  /** Stops the account for all workers. Call it after the rollback of the transaction that found the older state. */
  readonly stopForAll: () => Promise<void>;
  constructor(message: string, stopForAll: () => Promise<void>) {
    super('unusable', message);
    this.stopForAll = stopForAll;
  }
}
