import { sql } from 'kysely';
import { isNeverLookedUp, LOOKUP_SOURCES, type DueLookup, type LookupSource } from '../domain/orders/rounds.ts';
import { FIRST_DUE, isDueAfter, type DueKey } from './find-orders.ts';
import type { Database } from './port.ts';
import { queries, statement } from './statement.ts';

/** The time until which the orders of a source count as due, and the place after which it is read. */
export interface SourcePlace {
  readonly until: Date;
  readonly after: DueKey | undefined;
}

/** An order that is due; `isNew` is 1 for an accepted one that was never looked up, which has sources of its own. */
type DueRow = DueLookup & { readonly isNew: number };

type Values = Readonly<Record<string, string | number>>;

const name = (source: LookupSource, what: string) => `${source} ${what}`;

/** One range of an index for each source, in one statement: a round costs little, however few orders are due. */
const dueStatement = statement<Values, DueRow>((v) => {
  const [first, ...rest] = LOOKUP_SOURCES.map((source) => queries.selectFrom(dueOf(source, v).as('due')).selectAll());
  if (first === undefined) throw new Error('there is a source');
  return rest.reduce((all, one) => all.unionAll(one), first);
});

function dueOf(source: LookupSource, v: Values) {
  const direction = source === 'newest' ? 'desc' : 'asc';
  const due = queries
    .selectFrom('merchant_orders')
    .select(['external_order_id as externalOrderId', sql<string>`next_action_at`.as('nextActionAt')])
    .select(sql.lit<LookupSource>(source).as('source'))
    .select(
      source === 'accepted'
        ? sql<number>`case when last_lookup_at is null then 1 else 0 end`.as('isNew')
        : sql.lit<number>(0).as('isNew'),
    )
    .where('account', '=', v['account'] as string)
    .where('state', '=', sql.lit(isNeverLookedUp(source) ? 'accepted' : source))
    .where('next_action_at', '<=', v[name(source, 'until')] as string)
    .where(
      isDueAfter({ nextActionAt: v[name(source, 'time')] as string, externalOrderId: v[name(source, 'id')] as string }),
    )
    .orderBy('next_action_at', direction)
    .orderBy('external_order_id', direction)
    .limit(v['limit'] as number);
  return isNeverLookedUp(source) ? due.where('last_lookup_at', 'is', null) : due;
}

/** Reads up to `limit` due orders of each source, the oldest first; of `newest` the newest first. */
export async function dueLookups(
  db: Database,
  query: { account: string; limit: number; placeOf: (source: LookupSource) => SourcePlace },
): Promise<readonly DueRow[]> {
  const { account, limit, placeOf } = query;
  const places = LOOKUP_SOURCES.flatMap((source) => {
    const { until, after = FIRST_DUE } = placeOf(source);
    return [
      [name(source, 'until'), until.toISOString()],
      [name(source, 'time'), after.nextActionAt],
      [name(source, 'id'), after.externalOrderId],
    ] as const;
  });
  const { rows } = await dueStatement(db, { account, limit, ...Object.fromEntries(places) });
  return rows;
}
