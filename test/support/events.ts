import type { Merchant } from './merchant.ts';

/** An event of an order, by the columns of `order_events`; `type` is another one if it is of something else. */
export interface WrittenEvent {
  readonly external_order_id: string;
  readonly account?: string;
  readonly type?: string;
  readonly field?: string;
  readonly old_value?: string | null;
  readonly new_value: string | null;
  readonly observed_at: string;
  readonly looked_up_before?: string | null;
  readonly exchange_time?: string | null;
  readonly source?: string;
  readonly reason?: string | null;
  readonly actor?: string | null;
}

/** Writes events of orders past the program: their chain has no hashes. */
export function eventWriter(database: Merchant): (event: WrittenEvent) => void {
  const insert = database
    .prepare(`insert into events (account, type, subject, field, old_value, new_value, observed_at,
      looked_up_before, exchange_time, source, reason, actor, previous_hash, hash)
    values (:account, :type, :external_order_id, :field, :old_value, :new_value, :observed_at,
      :looked_up_before, :exchange_time, :source, :reason, :actor, '', '') returning id`)
    .pluck();
  const moveHead = database.prepare(`insert into event_heads (account, id, hash) values (?, ?, '')
    on conflict (account) do update set id = excluded.id`);
  const rest = { account: 'default', type: 'order', field: 'state', old_value: null, source: 'lookup' };
  const nothing = { looked_up_before: null, exchange_time: null, reason: null, actor: null };
  return (event) => {
    const row = { ...rest, ...nothing, ...event };
    moveHead.run(row.account, insert.get(row));
  };
}
