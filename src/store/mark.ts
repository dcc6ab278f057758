import { sql } from 'kysely';
import type { Clock } from '../base/clock.ts';
import { markOfCopy } from './dialect.ts';
import { StoreError } from './errors.ts';
import type { Database, MarkContent, Position } from './port.ts';
import { queries, statement } from './statement.ts';
import { eventHash } from './tables/chain.ts';

export const RESTORE_ADVICE =
  'if a copy was put back, run: order-sync db accept-restore; if the file was only moved, move its mark beside it';

interface PositionRow {
  readonly generation: number | null;
  readonly eventId: number | null;
  readonly hash: string | null;
  readonly timeLine?: string | null;
}

const positionStatement = statement(
  () => sql<PositionRow>`select (select max(id) from events) as "eventId",
    (select hash from events where id = (select max(id) from events)) as hash,
    (select sum(generation) from account_owners) as generation`,
);

const accountPositions = (accounts: readonly string[]) =>
  sql<PositionRow & { account: string }>`select account, generation, time_line as "timeLine",
    (select max(id) from events where events.account = owner.account) as "eventId",
    (select hash from events as newest where newest.account = owner.account order by newest.id desc limit 1) as hash
    from account_owners as owner where account in (${sql.join(accounts)})`;

export async function readPositions(db: Database, accounts: readonly string[]): Promise<ReadonlyMap<string, Position>> {
  const { rows } = await accountPositions(accounts).execute(db);
  return new Map(rows.map(({ account, ...row }) => [account, positionOf(row)]));
}

export async function readPositionOf(db: Database, account: string): Promise<Position> {
  return (await readPositions(db, [account])).get(account) ?? { generation: 0, eventId: 0 };
}

export async function readPosition(db: Database): Promise<Position> {
  const { rows } = await positionStatement(db, {});
  return positionOf(rows[0]);
}

function positionOf(row?: PositionRow): Position {
  const { generation, eventId, hash, timeLine } = row ?? {};
  return { generation: generation ?? 0, eventId: eventId ?? 0, hash: hash ?? undefined, timeLine };
}

const copyStatement = statement(() => queries.selectNoFrom(markOfCopy().as('copy')));

/** A time-line begins with the server's system identifier. Under another identifier the database is a restored copy. */
function isPromoted(from: MarkContent['timeLine'], to: Position['timeLine']): boolean {
  const [system] = from?.split('/') ?? [];
  return system !== undefined && from !== to && system === (to?.split('/')[0] ?? system);
}

export function isBefore(position: Position, other: Position): boolean {
  return position.eventId < other.eventId || position.generation < other.generation;
}

export function readMark(text: string): MarkContent | undefined {
  try {
    const mark = JSON.parse(text) as MarkContent;
    const isSound = Number.isSafeInteger(mark.generation) && Number.isSafeInteger(mark.eventId);
    return isSound && typeof mark.at === 'string' ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the sign (see mark.md) of an older copy, or of one that continued since; undefined without a sign. */
export async function readSignOfRestore(db: Database, mark: MarkContent | undefined, account?: string) {
  const position = account === undefined ? await readPosition(db) : await readPositionOf(db, account);
  // After a promotion, the next owner looks up the orders whose creates the standby may lack.
  if (mark !== undefined && isPromoted(mark.timeLine, position.timeLine)) return undefined;
  // A copy from before the first event looks like a new database, but its pending orders may have been sent since.
  if (mark === undefined && position.eventId === 0 && (await copyStatement(db, {})).rows[0]?.copy === 1) {
    return 'is a copy that db backup made, and no mark beside it says what was sent since';
  }
  const sign = signOfRestore(mark, position);
  if (sign !== undefined || mark?.hash === undefined) return sign;
  const { eventId: id, hash, at } = mark;
  const found = await eventHash(db, account, id);
  if (found === hash) return undefined;
  return `has ${found === undefined ? 'no' : 'another'} event ${id}, which the mark of ${at} names: the database continued from an older state, or the event was changed`;
}

function signOfRestore(mark: MarkContent | undefined, position: Position): string | undefined {
  if (mark === undefined) {
    return position.eventId === 0 ? undefined : 'has a history, and no mark beside it says how far it had come';
  }
  if (mark.restoring !== undefined) return 'was put back to an older state, and db accept-restore did not complete';
  if (!isBefore(position, mark)) return undefined;
  return `is older than its mark: it ends at event ${position.eventId} after ${position.generation} owners, and the mark of ${mark.at} names event ${mark.eventId} and ${mark.generation} owners`;
}

/** The wait between two writes of a mark, because each write costs two syncs. */
export const GAP_MS = 100;
const TRY_AGAIN_MS = 1_000;
export const MOST_AT_ONCE = 500;

/** Writes marks after commits, late by at most `gapMs` plus two writes. A mark is never ahead of the database. */
export abstract class MarkFollower {
  protected readonly clock: Clock;
  readonly #gapMs: number;
  readonly #closing = new AbortController();
  readonly #behind = new Set<string>();
  #writing: Promise<void> | undefined;
  #failure: StoreError | undefined;

  constructor(clock: Clock, gapMs: number) {
    this.clock = clock;
    this.#gapMs = gapMs;
  }

  /** Writes the newest positions of accounts into their marks. Returns false if the database cannot be read. */
  protected abstract writePositions(accounts: readonly string[]): Promise<boolean>;

  committed(account = '*'): void {
    this.#behind.add(account);
    this.#writing ??= this.#follow();
  }

  assertWritten(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#behind.size > 0) {
      const accounts = [...this.#behind].slice(0, MOST_AT_ONCE);
      for (const account of accounts) this.#behind.delete(account);
      let isWritten = false;
      try {
        isWritten = await this.writePositions(accounts);
        this.#failure = undefined;
      } catch (error) {
        if (error instanceof StoreError) this.#failure = error;
      }
      if (!isWritten && signal.aborted) break;
      if (!isWritten) for (const account of accounts) this.#behind.add(account);
      const waitMs = isWritten ? this.#gapMs : TRY_AGAIN_MS;
      if (waitMs > 0) await this.clock.sleep(waitMs, signal).catch(() => undefined);
    }
    // Nothing is awaited after the last look at `#behind`, so no commit is missed.
    this.#writing = undefined;
  }
}
