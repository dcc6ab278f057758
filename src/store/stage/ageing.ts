import Database from 'better-sqlite3';
import type { AgeGroup, OldestOrder } from '../../reports/ageing.ts';

/** Orders with their states and since when they have them, grouped in a temporary database that is gone afterwards. */
export interface AgeingStage extends Disposable {
  readonly orders: number;
  add(order: OldestOrder): void;
  /** The ages of each state and order status, of all pairs together. */
  byStatus(): readonly AgeGroup[];
  /** The ages of each state, order status and pair. */
  byPair(): readonly AgeGroup[];
  /** The orders that have had one of these states the longest, the longest first. */
  oldest(states: readonly string[], limit: number): readonly OldestOrder[];
}

/** Opens an empty stage. SQLite keeps it in memory while it is small and in a file without a name after that. */
export function openAgeingStage(): AgeingStage {
  const sqlite = new Database('');
  sqlite.pragma('journal_mode = off');
  sqlite.exec('begin; create table stands (id text, pair text, state text, status text, since text)');
  const insert = sqlite.prepare('insert into stands values (@id, @pair, @state, @status, @since)');
  const groups = (columns: string, pair: string) => sqlite.prepare<[], AgeGroup>(ranked(columns, pair)).all();
  let orders = 0;
  return {
    get orders() {
      return orders;
    },
    add(order) {
      insert.run(order);
      orders += 1;
    },
    byStatus: () => groups('state, status', 'null'),
    byPair: () => groups('state, status, pair', 'pair'),
    oldest: (states, limit) =>
      sqlite
        .prepare<unknown[], OldestOrder>(
          `select id, pair, state, status, since from stands
            where state in (select value from json_each(?)) order by since, id limit ?`,
        )
        .all(JSON.stringify(states), limit),
    [Symbol.dispose]: () => void sqlite.close(),
  };
}

/** A percentile is the smallest age that so many in a hundred do not exceed: one of the ages themselves. */
function ranked(columns: string, pair: string): string {
  return `select state, status, ${pair} as pair, orders,
      max(iif(rank = (orders * 50 + 99) / 100, since, null)) as p50,
      max(iif(rank = (orders * 90 + 99) / 100, since, null)) as p90,
      max(iif(rank = (orders * 99 + 99) / 100, since, null)) as p99,
      max(iif(rank = orders, since, null)) as longest
    from (select state, status, pair, since, count(*) over (partition by ${columns}) as orders,
        row_number() over (partition by ${columns} order by since desc) as rank
      from stands)
    group by ${columns} order by state, status, pair`;
}
