import type { Merchant } from './merchant.ts';

/** An event of an order, by the columns of `order_events`. */
export interface WrittenEvent {
  readonly external_order_id: string;
  readonly account?: string;
  readonly field?: string;
  readonly old_value?: string | null;
  readonly new_value: string | null;
  readonly observed_at: string;
  readonly source?: string;
  readonly reason?: string | null;
  readonly actor?: string | null;
}

/** Writes events of orders past the program: their chain has no hashes. */
export function eventWriter(database: Merchant): (event: WrittenEvent) => void {
  const insert = database
    .prepare(`insert into events (account, type, subject, field, old_value, new_value, observed_at,
      source, reason, actor, previous_hash, hash)
    values (:account, 'order', :external_order_id, :field, :old_value, :new_value, :observed_at,
      :source, :reason, :actor, '', '') returning id`)
    .pluck();
  const moveHead = database.prepare(`insert into event_heads (account, id, hash) values (?, ?, '')
    on conflict (account) do update set id = excluded.id`);
  const rest = { account: 'default', field: 'state', old_value: null, source: 'lookup', reason: null, actor: null };
  return (event) => {
    const row = { ...rest, ...event };
    moveHead.run(row.account, insert.get(row));
  };
}
