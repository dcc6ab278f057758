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
      owner
        .selectFrom('events')
        .whereRef('events.account', '=', 'owner.account')
        .select((event) => event.fn.max('events.id').as('id'))
        .as('eventId'),
    ]);

/** Reads how far accounts have come; those that never had an owner are left out. */
export async function readPositions(db: Database, accounts: readonly string[]): Promise<ReadonlyMap<string, Position>> {
  const { rows } = await db.executeQuery(compileFor(db, accountPositionsStatement(accounts)));
  return new Map(rows.map(({ account, generation, eventId }) => [account, { generation, eventId: eventId ?? 0 }]));
}

/** Reads how far an account has come. */
export async function readPositionOf(db: Database, account: string): Promise<Position> {
  return (await readPositions(db, [account])).get(account) ?? { generation: 0, eventId: 0 };
}

/** Reads how far the database has come. */
export async function readPosition(db: Database): Promise<Position> {
  const { rows } = await positionStatement(db, {});
  return { generation: rows[0]?.generation ?? 0, eventId: rows[0]?.eventId ?? 0 };
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

/** Says by what a database that is at `position` shows that it is an older copy; undefined where nothing shows it. */
export function signOfRestore(mark: MarkContent | undefined, position: Position): string | undefined {
  if (mark === undefined) {
    return position.eventId === 0 ? undefined : 'has a history, and no mark beside it says how far it had come';
  }
  if (mark.restoring !== undefined)
    return 'was put back to an older state, and db accept-restore did not come to its end';
  if (!isBefore(position, mark)) return undefined;
  return `is older than its mark: it has come to event ${position.eventId} and owner ${position.generation}, and the mark of ${mark.at} names event ${mark.eventId} and owner ${mark.generation}`;
}
