import { sql } from 'kysely';
import { markOfCopy } from './dialect.ts';
import type { Database, MarkContent, Position } from './port.ts';
import { compileFor, queries, statement } from './statement.ts';

/** What to do about a database that shows the sign of a restore. */
export const RESTORE_ADVICE =
  'if a copy was put back, run: order-sync db accept-restore; if the file was only moved, move its mark beside it';

const positionStatement = statement(() =>
  queries.selectNoFrom((select) => [
    select
      .selectFrom('events')
      .select((event) => event.fn.max('id').as('id'))
      .as('eventId'),
    select
      .selectFrom('events as newest')
      .select('newest.hash')
      .where('newest.id', '=', (event) => event.selectFrom('events').select((one) => one.fn.max('id').as('id')))
      .as('hash'),
    select
      .selectFrom('account_owners')
      .select((owner) => owner.fn.sum<number>('generation').as('owners'))
      .as('generation'),
  ]),
);

const accountPositionsStatement = (accounts: readonly string[]) =>
  queries
    .selectFrom('account_owners as owner')
    .where('account', 'in', accounts)
    .select((owner) => [
      'account',
      'generation',
      'time_line as timeLine',
      owner
        .selectFrom('events')
        .whereRef('events.account', '=', 'owner.account')
        .select((event) => event.fn.max('events.id').as('id'))
        .as('eventId'),
      owner
        .selectFrom('events as newest')
        .select('newest.hash')
        .whereRef('newest.account', '=', 'owner.account')
        .orderBy('newest.id', 'desc')
        .limit(sql.lit(1))
        .as('hash'),
    ]);

const hashStatement = statement((v: { id: number }) =>
  queries.selectFrom('events').select('hash').where('id', '=', v.id),
);
const hashOfAccountStatement = statement((v: { account: string; id: number }) =>
  queries.selectFrom('events').select('hash').where('account', '=', v.account).where('id', '=', v.id),
);

/** Reads how far accounts have come; those that never had an owner are left out. */
export async function readPositions(db: Database, accounts: readonly string[]): Promise<ReadonlyMap<string, Position>> {
  const { rows } = await db.executeQuery(compileFor(db, accountPositionsStatement(accounts)));
  return new Map(rows.map(({ account, ...row }) => [account, positionOf(row)]));
}

/** Reads how far an account has come. */
export async function readPositionOf(db: Database, account: string): Promise<Position> {
  return (await readPositions(db, [account])).get(account) ?? { generation: 0, eventId: 0 };
}

/** Reads how far the database has come. */
export async function readPosition(db: Database): Promise<Position> {
  const { rows } = await positionStatement(db, {});
  return positionOf(rows[0]);
}

function positionOf(row?: {
  generation: number | null;
  eventId: number | null;
  hash: string | null;
  timeLine?: string | null;
}): Position {
  const { generation, eventId, hash, timeLine } = row ?? {};
  const position = { generation: generation ?? 0, eventId: eventId ?? 0, hash: hash ?? undefined };
  return timeLine === undefined ? position : { ...position, timeLine };
}

const copyStatement = statement(() => queries.selectNoFrom(markOfCopy().as('copy')));

/** A copy from before the first event looks like a new database, but what waits in it may have been sent since. */
async function isCopy(db: Database): Promise<boolean> {
  return (await copyStatement(db, {})).rows[0]?.copy === 1;
}

/** True when a database that is at `position` has not come as far as `other`. */
export function isBefore(position: Position, other: Position): boolean {
  return position.eventId < other.eventId || position.generation < other.generation;
}

/** Reads the text of a mark; undefined where it is none. */
export function readMark(text: string): MarkContent | undefined {
  try {
    const mark = JSON.parse(text) as MarkContent;
    const isSound = Number.isSafeInteger(mark.generation) && Number.isSafeInteger(mark.eventId);
    return isSound && typeof mark.at === 'string' ? mark : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads by what a database, or an account in it, shows that it is an older copy, or went on from one: then it has another
 * event where the mark names one. Undefined where nothing shows it.
 */
export async function readSignOfRestore(
  db: Database,
  mark: MarkContent | undefined,
  account?: string,
): Promise<string | undefined> {
  const position = account === undefined ? await readPosition(db) : await readPositionOf(db, account);
  // A standby was promoted since, and the next owner took up the commits that it lacks.
  if (mark?.timeLine !== undefined && mark.timeLine !== position.timeLine) return undefined;
  if (mark === undefined && position.eventId === 0 && (await isCopy(db))) {
    return 'is a copy that db backup made, and no mark beside it says what was sent since';
  }
  const sign = signOfRestore(mark, position);
  if (sign !== undefined || mark?.hash === undefined) return sign;
  const { eventId: id, hash, at } = mark;
  const { rows } = await (account === undefined
    ? hashStatement(db, { id })
    : hashOfAccountStatement(db, { account, id }));
  if (rows[0]?.hash === hash) return undefined;
  return `has ${rows.length === 0 ? 'no' : 'another'} event ${id}, which the mark of ${at} names: it went on from an older state, or was changed`;
}

/** Says by what a database that is at `position` shows that it is an older copy; undefined where nothing shows it. */
function signOfRestore(mark: MarkContent | undefined, position: Position): string | undefined {
  if (mark === undefined) {
    return position.eventId === 0 ? undefined : 'has a history, and no mark beside it says how far it had come';
  }
  if (mark.restoring !== undefined)
    return 'was put back to an older state, and db accept-restore did not come to its end';
  if (!isBefore(position, mark)) return undefined;
  return `is older than its mark: it has come to event ${position.eventId} and owner ${position.generation}, and the mark of ${mark.at} names event ${mark.eventId} and owner ${mark.generation}`;
}
