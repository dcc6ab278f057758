import { sql, type Kysely } from 'kysely';
import {
  DEFAULTS,
  isChanged,
  MERCHANT_COLUMNS,
  NULL_ACCOUNT,
  OUR_COLUMNS,
  QUICK_MOVES,
  RULES,
  type Rule,
} from '../rules.ts';

/** UTC with milliseconds, as the program writes every time. */
const FORMAT = '%Y-%m-%dT%H:%M:%fZ';
export const NOW = `strftime('${FORMAT}', 'now')`;

const NOTED = `account = ${DEFAULTS['account']} and name = '${NULL_ACCOUNT}'`;

const OF_NEW = 'account = new.account and external_order_id = new.external_order_id';

/** Has the database hold to the rules of orders. */
export async function guardOrders(db: Kysely<unknown>): Promise<void> {
  for (const [name, body] of Object.entries(guards())) {
    await sql.raw(`create trigger merchant_orders_${name} ${body}; end`).execute(db);
  }
}

function guards(): Readonly<Record<string, string>> {
  const merchant = MERCHANT_COLUMNS.join(', ');
  const hasNoTime = `(new.next_action_at is null or new.next_action_at not glob
    '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z')`;
  // Reports go by when a row was inserted: a time of the past as the program writes it is believed, no other.
  const insertedAt = `case when strftime('${FORMAT}', new.created_at) is new.created_at and new.created_at <= ${NOW}
    then new.created_at else ${NOW} end`;
  return {
    sent_is_fixed: `before update of ${merchant} on merchant_orders ${refusedWhen(RULES.fixed)}`,
    sent_is_kept: `before delete on merchant_orders ${refusedWhen(RULES.kept)}`,
    // INSERT OR REPLACE runs no delete trigger; INSERT OR IGNORE still works.
    sent_is_not_replaced: `after insert on merchant_orders ${refusedWhen(RULES.notReplaced)}`,
    // Neither does UPDATE OR REPLACE, of another order's id to that of a sent one.
    sent_keeps_its_id: `before update of account, external_order_id on merchant_orders ${refusedWhen(RULES.idKept)}`,
    account_is_given: `before update of account on merchant_orders ${refusedWhen(RULES.accountGiven)}`,
    // Only here is it seen that the account was null; a note of it is gone with the insert.
    null_account: `before insert on merchant_orders when new.account is null begin
      delete from account_facts where ${NOTED};
      insert into account_facts values (${DEFAULTS['account']}, '${NULL_ACCOUNT}', new.external_order_id, ${NOW})`,
    null_account_noted: `after insert on merchant_orders
      when exists (select 1 from account_facts where ${NOTED} and value = new.external_order_id) begin
      update merchant_orders set state_reason = '${NULL_ACCOUNT}', revision = revision + 1 where ${OF_NEW};
      delete from account_facts where ${NOTED}`,
    begin: `before insert on merchant_orders begin ${[RULES.moved, ...RULES.begin].map(refusal).join('; ')}`,
    moved_is_fixed: `before update of ${merchant} on merchant_orders ${refusedWhen(RULES.moved)}`,
    moved_is_kept: `before delete on merchant_orders ${refusedWhen(RULES.moved)}`,
    // A pending row without a time would never be sent.
    begin_now: `after insert on merchant_orders when new.created_at is not (${insertedAt}) or ${hasNoTime} begin
      update merchant_orders set created_at = ${insertedAt}, revision = revision + 1,
        next_action_at = case when ${hasNoTime} then ${NOW} else next_action_at end
      where ${OF_NEW}`,
    moves: guardOfMoves(RULES.moves),
    corrected: `after update of ${merchant} on merchant_orders when old.state = 'invalid' and (${isChanged()}) begin
      update merchant_orders set next_action_at = ${NOW}, revision = revision + 1 where ${OF_NEW}`,
  };
}

/** Puts the quick rules of moves in the place of the first ones. */
export async function quickenMoves(db: Kysely<unknown>): Promise<void> {
  await sql.raw('drop trigger merchant_orders_moves').execute(db);
  await sql.raw(`create trigger merchant_orders_moves ${guardOfMoves(QUICK_MOVES)}; end`).execute(db);
}

function guardOfMoves(rules: readonly Rule[]): string {
  return `before update of ${Object.keys(OUR_COLUMNS).join(', ')} on merchant_orders begin
      ${rules.map(refusal).join('; ')}`;
}

function refusal({ message, when }: Rule): string {
  return `select raise(abort, '${message}') where ${when}`;
}

function refusedWhen({ message, when }: Rule): string {
  return `when ${when} begin select raise(abort, '${message}')`;
}

/** History is append-only: also against INSERT OR REPLACE, which runs no delete trigger. */
export async function guardEvents(db: Kysely<unknown>): Promise<void> {
  for (const [name, event] of [
    ['no_update', 'before update on events'],
    ['no_delete', 'before delete on events'],
    ['no_replace', 'before insert on events when exists (select 1 from events where id = new.id)'],
  ]) {
    await sql.raw(`create trigger events_${name} ${event} begin ${refusal(RULES.history)}; end`).execute(db);
  }
}
