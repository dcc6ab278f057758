import { sql, type Expression } from 'kysely';
import { isNeverLookedUp, LOOKUP_SOURCES, type DueLookup, type LookupSource } from '../../orders/rules/schedule.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from '../../orders/rules/states.ts';
import { isOneOf } from '../dialect.ts';
import { FIRST_DUE, isDueAfter, type DueKey } from '../find-orders.ts';
import type { Database } from '../port.ts';
import { queries, statement, textToFind } from '../statement.ts';

/** When orders of an account are due next, in ms of UTC, by the work that is due; undefined if none is. */
interface AccountDue {
  readonly account: string;
  /** The first create. An order whose create was not recorded is due at once: at 0. */
  readonly create: number | undefined;
  /** The first verification of an unknown outcome. */
  readonly verify: number | undefined;
  /** The first look-up of the others. */
  readonly follow: number | undefined;
}

/** Columns of the first due time of each state that waits for something. */
const CREATED = ['pending', 'invalid', 'sending'] as const;
const FOLLOWED = [...FOLLOWED_STATES, ...RECHECKED_STATES].filter((state) => state !== 'unknown');
const STATES = [...CREATED, 'unknown' as const, ...FOLLOWED];

/** The account of the row of `account_owners` that a query is about. */
export const ofOwner = sql.ref<string>('account_owners.account');

type DueRow = { readonly account: string } & { readonly [S in (typeof STATES)[number]]: string | null };

/** One entry of the index of due orders for each state of an account. */
const dueTimesStatement = statement<{ accounts: string }, DueRow>((v) =>
  queries
    .selectFrom('account_owners')
    .select('account_owners.account')
    .select(STATES.map((state) => firstDue(state).as(state)))
    .where(isOneOf('account_owners.account', v.accounts)),
);

function firstDue(state: OrderState) {
  const orders = queries
    .selectFrom('merchant_orders as due')
    .where('due.account', '=', ofOwner)
    .where('due.state', '=', sql.lit(state));
  // One without a time is in flight, or was.
  if (state === 'sending') return orders.select(sql<string>`min(coalesce(next_action_at, ''))`.as('at'));
  // A range, so that the orders that are never due are not read.
  return orders
    .where('due.next_action_at', '>', sql.lit(''))
    .select((due) => due.fn.min('due.next_action_at').as('at'));
}

/** Reads when orders are due in each of these accounts that ever had an owner. */
export async function dueTimes(db: Database, accounts: readonly string[]): Promise<readonly AccountDue[]> {
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

/** The time of a column in ms of UTC. A text that is no time is due if it sorts before the times of this millennium, as in statements. */
function dueMs(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? (time < '2' ? 0 : Number.POSITIVE_INFINITY) : ms;
}

/** Findings that time alone brings or ends, and records that were not compared yet. */
const judged = () => [
  queries
    .selectFrom('merchant_orders as followed')
    .select('followed.account')
    .where('followed.account', '=', ofOwner)
    .where(
      'followed.state',
      'in',
      FOLLOWED_STATES.map((state) => sql.lit(state)),
    ),
  queries
    .selectFrom('findings')
    .select('findings.account')
    .where('findings.account', '=', ofOwner)
    .where('findings.status', 'in', [sql.lit('open'), sql.lit('acknowledged')]),
  queries
    .selectFrom('order_records')
    .select('order_records.account')
    .where('order_records.account', '=', ofOwner)
    .where('order_records.compared_at', 'is', null),
];
/** Makes the statement that reads in which of some accounts, a JSON array, one of the queries finds a row. */
export const accountsWhere = (rowsOf: () => readonly Expression<unknown>[]) =>
  statement<{ accounts: string }, { account: string }>((v) =>
    queries
      .selectFrom('account_owners')
      .select('account')
      .where(isOneOf('account_owners.account', v.accounts))
      // As a value: SQLite makes a join of `exists`, and may begin it with the rows of all these accounts.
      .where((where) =>
        where.or(rowsOf().map((rows) => where(sql`(select 1 from ${rows} as found limit 1)`, 'is not', null))),
      ),
  );
const judgedStatement = accountsWhere(judged);

/** Reads in which of these accounts the sweep of findings has work. */
export async function accountsToJudge(db: Database, accounts: readonly string[]): Promise<readonly string[]> {
  return (await judgedStatement(db, { accounts: JSON.stringify(accounts) })).rows.map(({ account }) => account);
}

/** True if an order of the account is due ever, or the account has work for a sweep. */
export async function isAnythingAwaited(db: Database, account: string): Promise<boolean> {
  const [times] = await dueTimes(db, [account]);
  if (times !== undefined && [times.create, times.verify, times.follow].some((at) => at !== undefined)) return true;
  return (await accountsToJudge(db, [account])).length > 0;
}

/** The most accounts of one look; the next look continues after them. */
const ACCOUNTS_OF_A_LOOK = 1_000;

/** Accounts with rows to send, each with its first due time in ms of UTC, and the place after which there may be more. */
interface AccountsToSend {
  readonly due: ReadonlyMap<string, number>;
  readonly next: string | undefined;
}

const SENT_STATES = ['pending', 'invalid'] as const;
type SentState = (typeof SENT_STATES)[number];
type Place = { readonly after: string; readonly limit: number };

/** From one account that has such rows to the next, in the indexes that have these rows alone. */
const toSendStatement = statement<Place, { account: string; at: string; state: SentState }>((v) =>
  waitingIn('pending', v).unionAll(waitingIn('invalid', v)),
);

/** By `limit 1`: with `min()` a plan that was made while there were few reads all rows that wait. */
function waitingIn(state: SentState, v: Place) {
  const rows = queries
    .selectFrom('merchant_orders')
    .where('state', '=', sql.lit(state))
    .where('next_action_at', 'is not', null);
  const firstAfter = (account: Expression<string>) =>
    rows.where('account', '>', account).select('account').orderBy('account').limit(1);
  const following = sql<string>`(${firstAfter(sql.ref<string>('waiting.account'))})`;
  const accounts = queries
    .withRecursive('waiting(account)', (db) =>
      db
        .selectFrom(firstAfter(sql`${v.after}`).as('first'))
        .select('account')
        .unionAll(db.selectFrom('waiting').where('account', 'is not', null).select(following.as('account'))),
    )
    .selectFrom('waiting')
    .where('account', 'is not', null)
    .select('account')
    .select(
      rows
        .where('account', '=', sql.ref<string>('waiting.account'))
        .select(sql<string>`next_action_at`.as('at'))
        .orderBy('next_action_at')
        .limit(1)
        .as('at'),
    )
    .select(sql.lit(state).as('state'))
    .limit(v.limit);
  return queries.selectFrom(accounts.as(`of_${state}`)).selectAll();
}

/** Reads which accounts after a place have rows to be sent, due or not: at most `ACCOUNTS_OF_A_LOOK` of each kind of rows. */
export async function accountsToSend(db: Database, after: string): Promise<AccountsToSend> {
  const { rows } = await toSendStatement(db, { after, limit: ACCOUNTS_OF_A_LOOK });
  const due = new Map<string, number>();
  for (const { account, at } of rows)
    due.set(account, Math.min(dueMs(at), due.get(account) ?? Number.POSITIVE_INFINITY));
  const last = SENT_STATES.map((state) => rows.filter((row) => row.state === state))
    .filter(({ length }) => length === ACCOUNTS_OF_A_LOOK)
    .map((page) => page.at(-1)?.account ?? '');
  return { due, next: last.toSorted()[0] };
}

/** The time until which the orders of a source count as due, and the place after which it is read. */
interface SourcePlace {
  readonly until: Date;
  readonly after: DueKey | undefined;
}

/** An order that is due; `isNew` is 1 for an accepted one that was never looked up, which has sources of its own. */
type LookupRow = DueLookup & { readonly isNew: number };

type Values = Readonly<Record<string, string | number>>;

const name = (source: LookupSource, what: string) => `${source} ${what}`;

/** One range of an index for each source, in one statement: a round costs little, however few orders are due. */
const lookupsStatement = statement<Values, LookupRow>((v) => {
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
    .where('account', '=', textToFind(v['account'] as string))
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
