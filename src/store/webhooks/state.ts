import { sql, type Expression } from 'kysely';
import type { Database } from '../port.ts';
import { readFeed } from '../feed.ts';
import { accountsBehind } from './cursors.ts';

/** Rows are counted, and accounts looked at, no further than this. */
const MOST_COUNTED = 10_000;
const MOST_LOOKED_AT = 50;
/** No name of an account comes after it. */
const LAST = '~';

/** How an endpoint does. */
export interface WebhookState {
  readonly name: string;
  /** When it took the last event. */
  readonly takenAt: string | null;
  /** It has taken no event since then; null while it takes them. */
  readonly failingSince: string | null;
  /** While it takes none: when one tries it again. */
  readonly nextTryAt: string | null;
  readonly cause: string | null;
  /** When the oldest event was recorded that it has not been offered, or has not taken; null where there is none. */
  readonly oldestWaiting: string | null;
  /** Orders, links and accounts whose events wait behind one that it has refused. */
  readonly parked: number;
  /** Events that it has refused to the end, and that were not delivered since. */
  readonly deadLetters: number;
}

/** Reads how endpoints do, in a few statements each; of one that was never driven there is nothing. */
export async function readWebhooks(db: Database, names: readonly string[]): Promise<readonly WebhookState[]> {
  if (names.length === 0) return [];
  const columns = [
    'name',
    'taken_at as takenAt',
    'failing_since as failingSince',
    'next_try_at as nextTryAt',
    'cause',
  ] as const;
  const rows = await db.selectFrom('webhook_endpoints').select(columns).where('name', 'in', names).execute();
  const states = [];
  for (const row of rows) {
    const parked = db.selectFrom('webhook_parked').select(sql.lit(1).as('one')).where('endpoint', '=', row.name);
    const dead = db
      .selectFrom('webhook_dead_letters')
      .select(sql.lit(1).as('one'))
      .where('endpoint', '=', row.name)
      .where('delivered_at', 'is', null);
    states.push({
      ...row,
      oldestWaiting: await oldestWaiting(db, row.name),
      parked: await counted(db, parked.limit(MOST_COUNTED)),
      deadLetters: await counted(db, dead.limit(MOST_COUNTED)),
    });
  }
  return states;
}

async function oldestWaiting(db: Database, endpoint: string): Promise<string | null> {
  const behind = await accountsBehind(db, { endpoint, from: '', to: LAST });
  const times: string[] = [];
  for (const { account, eventId } of behind.slice(0, MOST_LOOKED_AT)) {
    const [first] = await readFeed(db, { account, afterId: eventId, limit: 1 });
    if (first !== undefined) times.push(first.observed_at);
  }
  return times.toSorted()[0] ?? null;
}

async function counted(db: Database, rows: Expression<unknown>): Promise<number> {
  const found = await sql<{ rows: number | bigint }>`select count(*) as rows from (${rows}) as found`.execute(db);
  return Number(found.rows[0]?.rows ?? 0);
}
