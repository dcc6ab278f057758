import { sql, type RawBuilder } from 'kysely';
import { isNeverLookedUp, LOOKUP_SOURCES, type DueLookup, type LookupSource } from '../../orders/rules/schedule.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from '../../orders/rules/states.ts';
import { isOneOf } from '../dialect.ts';
import { FIRST_DUE, isDueAfter, type DueKey } from '../find-orders.ts';
import type { Database } from '../port.ts';
import { literals, statement, textToFind } from '../statement.ts';

const CREATED = ['pending', 'invalid', 'sending'] as const;
const FOLLOWED = [...FOLLOWED_STATES, ...RECHECKED_STATES].filter((state) => state !== 'unknown');
const STATES = [...CREATED, 'unknown' as const, ...FOLLOWED];

type DueRow = { readonly account: string } & { readonly [S in (typeof STATES)[number]]: string | null };

const dueTimesStatement = statement<{ accounts: string }, DueRow>(
  (v) => sql`select account, ${sql.join(STATES.map(firstDue))} from account_owners
    where ${isOneOf('account_owners.account', v.accounts)}`,
);

function firstDue(state: OrderState) {
  // A sending order without a due time is or was in flight, so it is due. Other orders need a due time to be due.
  const [at, range] =
    state === 'sending'
      ? [sql`coalesce(next_action_at, '')`, sql``]
      : [sql`next_action_at`, sql`and next_action_at > ''`];
  return sql`(select min(${at}) from merchant_orders as due
    where due.account = account_owners.account and due.state = ${sql.lit(state)} ${range}) as ${sql.ref(state)}`;
}

/** Reads when each account's next create, verification and other look-up (`follow`) are due, in ms of UTC. */
export async function dueTimes(db: Database, accounts: readonly string[]) {
  const { rows } = await dueTimesStatement(db, { accounts: JSON.stringify(accounts) });
  return rows.map((row) => ({
    account: row.account,
    create: firstOf(row, CREATED),
    verify: firstOf(row, ['unknown']),
    follow: firstOf(row, FOLLOWED),
  }));
}

function firstOf(row: DueRow, states: readonly (keyof DueRow)[]): number | undefined {
  const times = states.flatMap((state) => row[state] ?? []);
  if (times.length === 0) return undefined;
  return Math.min(...times.map(dueMs));
}

/** Returns ms of UTC. An unreadable time is due if it sorts before '2', because statements compare times as text. */
function dueMs(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? (time < '2' ? 0 : Number.POSITIVE_INFINITY) : ms;
}

/** Returns a function that reads for which accounts any query finds a row. Queries use `account_owners.account`. */
export function accountsWhere<Given extends object = object>(
  queriesOf: (values: Given) => readonly RawBuilder<unknown>[],
) {
  const find = statement<Given & { accounts: string }, { account: string }>((v) => {
    // SQLite would turn `exists` into a join, and the join may first read the rows of all these accounts.
    const found = queriesOf(v).map((query) => sql`(${query} limit 1) is not null`);
    return sql`select account from account_owners
      where ${isOneOf('account_owners.account', v.accounts)} and (${sql.join(found, sql` or `)})`;
  });
  return async (db: Database, accounts: readonly string[], values = {} as Given): Promise<readonly string[]> => {
    const { rows } = await find(db, { ...values, accounts: JSON.stringify(accounts) });
    return rows.map(({ account }) => account);
  };
}

/** Reads which accounts must be reconciled: they have followed orders, unresolved findings or uncompared records. */
export const accountsToJudge = accountsWhere(() => [
  sql`select 1 from merchant_orders as followed where followed.account = account_owners.account
    and followed.state in (${literals(FOLLOWED_STATES)})`,
  sql`select 1 from findings where findings.account = account_owners.account and status in ('open', 'acknowledged')`,
  sql`select 1 from order_records where order_records.account = account_owners.account and compared_at is null`,
]);

export async function isAnythingAwaited(db: Database, account: string): Promise<boolean> {
  const [times] = await dueTimes(db, [account]);
  if (times !== undefined && [times.create, times.verify, times.follow].some((at) => at !== undefined)) return true;
  return (await accountsToJudge(db, [account])).length > 0;
}

const ACCOUNTS_OF_A_LOOK = 1_000;

const SENT_STATES = ['pending', 'invalid'] as const;
type SentState = (typeof SENT_STATES)[number];
type SentRow = { account: string; at: string; state: SentState };
type Place = { readonly after: string; readonly limit: number };

/** Steps from account to account in the partial indexes of waiting rows, because a scan would read every row. */
const toSendStatement = statement(
  (v: Place) => sql<SentRow>`${waitingIn('pending', v)} union all ${waitingIn('invalid', v)}`,
);

/** Uses `limit 1` instead of `min()`, because for `min()` a plan that was made for few rows reads all waiting rows. */
function waitingIn(state: SentState, v: Place) {
  const rows = sql`from merchant_orders where state = ${sql.lit(state)} and next_action_at is not null`;
  return sql<SentRow>`select * from (
    with recursive waiting(account) as (
      select account from (select account ${rows} and account > ${v.after} order by account limit 1) as first
      union all select (select account ${rows} and account > waiting.account order by account limit 1)
        from waiting where account is not null)
    select account, ${sql.lit(state)} as state,
      (select next_action_at ${rows} and account = waiting.account order by next_action_at limit 1) as "at"
    from waiting where account is not null limit 0 + ${v.limit}) as ${sql.ref(`of_${state}`)}`;
}

/** Reads when accounts with names after `after` have a row to send, in ms of UTC. `next` is the next call's `after`. */
export async function accountsToSend(db: Database, after: string) {
  const { rows } = await toSendStatement(db, { after, limit: ACCOUNTS_OF_A_LOOK });
  const due = new Map<string, number>();
  for (const { account, at } of rows)
    due.set(account, Math.min(dueMs(at), due.get(account) ?? Number.POSITIVE_INFINITY));
  const last = SENT_STATES.map((state) => rows.filter((row) => row.state === state))
    .filter(({ length }) => length === ACCOUNTS_OF_A_LOOK)
    .map((page) => page.at(-1)?.account ?? '');
  return { due, next: last.toSorted()[0] };
}

/** A due order. `isNew` is 1 if the source `accepted` returns an order that `new` or `newest` returns, too. */
type LookupRow = DueLookup & { readonly isNew: number };

type Values = Readonly<Record<string, string | number>>;

const name = (source: LookupSource, what: string) => `${source} ${what}`;

/** One statement reads a range of an index for each source, so a round costs little if few orders are due. */
const lookupsStatement = statement(
  (v: Values) =>
    sql<LookupRow>`${sql.join(
      LOOKUP_SOURCES.map((source) => dueOf(source, v)),
      sql` union all `,
    )}`,
);

function dueOf(source: LookupSource, v: Values) {
  const isFirstLookup = isNeverLookedUp(source);
  const direction = sql.raw(source === 'newest' ? 'desc' : 'asc');
  const after = { nextActionAt: v[name(source, 'time')] as string, externalOrderId: v[name(source, 'id')] as string };
  return sql`select * from (
    select external_order_id as "externalOrderId", next_action_at as "nextActionAt", ${sql.lit(source)} as source,
      ${source === 'accepted' ? sql`case when last_lookup_at is null then 1 else 0 end` : sql`0`} as "isNew"
    from merchant_orders
    where account = ${textToFind(v['account'] as string)} and state = ${sql.lit(isFirstLookup ? 'accepted' : source)}
      and next_action_at <= ${v[name(source, 'until')]} and ${isDueAfter(after)}
      ${isFirstLookup ? sql`and last_lookup_at is null` : sql``}
    order by next_action_at ${direction}, external_order_id ${direction} limit 0 + ${v['limit']}) as due`;
}

/** Reads up to `limit` due orders of each source, the longest due first; the source `newest` has the reverse order. */
export async function dueLookups(
  db: Database,
  query: {
    account: string;
    limit: number;
    placeOf: (source: LookupSource) => { until: Date; after: DueKey | undefined };
  },
): Promise<readonly LookupRow[]> {
  const { account, limit, placeOf } = query;
  const places = LOOKUP_SOURCES.flatMap((source) => {
    const { until, after = FIRST_DUE } = placeOf(source);
    return [
      [name(source, 'until'), until.toISOString()],
      [name(source, 'time'), after.nextActionAt],
      [name(source, 'id'), after.externalOrderId],
    ] as const;
  });
  const { rows } = await lookupsStatement(db, { account, limit, ...Object.fromEntries(places) });
  return rows;
}
