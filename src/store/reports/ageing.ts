import Database from 'better-sqlite3';
import type { AgeGroup, OldestOrder } from '../../reports/ageing.ts';

/** Which orders are looked at, and as of when; times are compared with `created_at`. */
export interface AgeingScope {
  readonly account: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly asOf: string;
}

/** Where every order of the scope stood at `asOf`, and since when. */
export interface Ageing extends Disposable {
  readonly orders: number;
  /** One a state and order status, of all pairs together. */
  byStatus(): readonly AgeGroup[];
  /** One a state, order status and pair. */
  byPair(): readonly AgeGroup[];
  /** Those that have stood the longest in one of these states, the longest first. */
  oldest(states: readonly string[], limit: number): readonly OldestOrder[];
}

/** So many orders are read at a time: no read holds the write-ahead log for long. */
const PAGE = 10_000;

/** As the events tell it: the same for a moment, whatever has happened since, also between two pages. */
const stand = (isBehind: '>' | '>=') => `insert into temp.standing
  select external_order_id, coalesce(from_currency, '?') || '/' || coalesce(to_currency, '?'),
    coalesce((${last('new_value')} and field = 'state' order by id desc limit 1), 'pending'),
    (${last('new_value')} and field = 'order.status' order by id desc limit 1),
    coalesce((${last('observed_at')} and field in ('state', 'order.status') order by id desc limit 1), created_at)
  from merchant_orders o
  where account = @account and external_order_id ${isBehind} @id and created_at <= @asOf
    and (@from is null or created_at >= @from) and (@to is null or created_at < @to)
  order by external_order_id limit ${PAGE}`;

function last(column: string): string {
  return `select ${column} from order_events e
    where e.account = o.account and e.external_order_id = o.external_order_id and e.observed_at <= @asOf`;
}

function readAll(sqlite: Database.Database, scope: AgeingScope): void {
  const newest = sqlite.prepare<[], string>('select id from temp.standing order by rowid desc limit 1').pluck();
  // An order's id may be empty text.
  let { changes } = sqlite.prepare(stand('>=')).run({ ...scope, id: '' });
  const next = sqlite.prepare(stand('>'));
  while (changes === PAGE) ({ changes } = next.run({ ...scope, id: newest.get() }));
}

/** The smallest age that so many in a hundred do not exceed: one of the ages themselves. */
function ranked(columns: string, pair: string): string {
  return `select state, status, ${pair} as pair, orders,
      max(iif(rank = (orders * 50 + 99) / 100, since, null)) as p50,
      max(iif(rank = (orders * 90 + 99) / 100, since, null)) as p90,
      max(iif(rank = (orders * 99 + 99) / 100, since, null)) as p99,
      max(iif(rank = orders, since, null)) as longest
    from (select state, status, pair, since, count(*) over (partition by ${columns}) as orders,
        row_number() over (partition by ${columns} order by since desc) as rank
      from temp.standing)
    group by ${columns} order by state, status, pair`;
}

/** Reads where orders stand, into a file without a name where it is too much for memory. */
export function readAgeing(path: string, scope: AgeingScope): Ageing {
  const sqlite = new Database(path, { readonly: true, fileMustExist: true });
  try {
    sqlite.pragma('temp_store = file');
    sqlite.exec('create temp table standing (id text, pair text, state text, status text, since text)');
    readAll(sqlite, scope);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  const all = (sql: string) => sqlite.prepare<[], AgeGroup>(sql).all();
  return {
    orders: sqlite.prepare<[], number>('select count(*) from temp.standing').pluck().get() ?? 0,
    byStatus: () => all(ranked('state, status', 'null')),
    byPair: () => all(ranked('state, status, pair', 'pair')),
    oldest: (states, limit) =>
      sqlite
        .prepare<unknown[], OldestOrder>(
          `select id, pair, state, status, since from temp.standing
            where state in (select value from json_each(?)) order by since, id limit ?`,
        )
        .all(JSON.stringify(states), limit),
    [Symbol.dispose]: () => void sqlite.close(),
  };
}
