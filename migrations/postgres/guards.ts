import { sql, type Kysely } from 'kysely';
import { DEFAULTS, isChanged, NULL_ACCOUNT, RULES, type Rule } from '../rules.ts';

/** The time at which the statement began, in UTC with milliseconds, as the program writes every time. */
export const NOW = `to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The code of a refusal, in place of a code of PostgreSQL's own. */
const REFUSED = 'OS001';

const TIME_OF_DAY = String.raw`T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z`;

/**
 * Has the database hold to the rules of orders and of events. The name of each trigger comes last by the alphabet, so that
 * it sees a row as the merchant's own triggers leave it. The functions find their tables whatever the search path of the
 * session is; the one that reads other tables does so with the rights of the tables' owner, which a merchant's role has not.
 */
export async function guardTables(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ path: string }>`select quote_ident(current_schema()) || ', pg_temp' as path`.execute(db);
  for (const { name, on, body, rights = '' } of GUARDS) {
    const settings = `language plpgsql ${rights} set search_path = ${rows[0]?.path}`;
    await sql.raw(`create function order_sync_${name}() returns trigger ${settings} as $$ ${body} $$`).execute(db);
    await sql.raw(`create trigger zz_${name} ${on} execute function order_sync_${name}()`).execute(db);
  }
}

interface Guard {
  readonly name: string;
  readonly on: string;
  readonly body: string;
  readonly rights?: string;
}

const GUARDS: readonly Guard[] = [
  {
    name: 'guard_insert',
    on: 'before insert on merchant_orders for each row',
    // A pending row without a time would never be sent. Reports go by when a row was inserted: a time of the past as the
    // program writes it is believed, no other.
    body: `begin
      ${RULES.begin.map(refusal).join(' ')}
      if new.account is null then new.state_reason := '${NULL_ACCOUNT}'; end if;
      ${setDefaults()}
      new.updated_at := coalesce(new.updated_at, ${NOW});
      if not ${isTime('new.created_at')} or new.created_at > ${NOW} then new.created_at := ${NOW}; end if;
      if not ${looksLikeTime('new.next_action_at')} then new.next_action_at := ${NOW}; end if;
      return new;
    end`,
  },
  {
    name: 'guard_history',
    on: 'after insert on merchant_orders for each row',
    // A plan that was made while the table was small would read all of it, and a table without an index would be worth compiling.
    rights: 'security definer set enable_seqscan = off set jit = off',
    body: `begin ${refusal(RULES.moved)} ${refusal(RULES.notReplaced)} return null; end`,
  },
  {
    name: 'guard_update',
    on: 'before update on merchant_orders for each row',
    body: `begin
      ${[RULES.accountGiven, RULES.fixed, RULES.idKept, ...RULES.moves].map(refusal).join(' ')}
      ${setDefaults()}
      if old.state = 'invalid' and (${isChanged()}) then
        new.next_action_at := ${NOW};
        new.revision := new.revision + 1;
      end if;
      return new;
    end`,
  },
  {
    name: 'guard_delete',
    on: 'before delete on merchant_orders for each row',
    body: `begin ${refusal(RULES.kept)} return old; end`,
  },
  {
    name: 'guard_truncate',
    on: 'before truncate on merchant_orders',
    body: `begin ${refusal({ ...RULES.kept, when: 'true' })} return null; end`,
  },
  {
    name: 'guard_events',
    on: 'before update or delete on events for each row',
    body: `begin ${refusal(RULES.history)} return null; end`,
  },
  {
    name: 'guard_all_events',
    on: 'before truncate on events',
    body: `begin ${refusal(RULES.history)} return null; end`,
  },
];

/** Null stands for a column that was left out. */
function setDefaults(): string {
  const columns = Object.entries(DEFAULTS);
  return columns.map(([column, value]) => `new.${column} := coalesce(new.${column}, ${value});`).join(' ');
}

function refusal({ message, when }: Rule): string {
  return `if ${when} then raise exception using errcode = '${REFUSED}', message = '${message}'; end if;`;
}

/** True for a day that there is, and a time of it; false for null. */
export function isTime(column: string): string {
  const month = `(substr(${column}, 1, 7) || '-01')::date`;
  const lastDay = `to_char(${month} + interval '1 month - 1 day', 'DD')`;
  const shape = String.raw`^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])${TIME_OF_DAY}$`;
  return `coalesce(case when ${column} !~ '${shape}' then false when substr(${column}, 9, 2) <= '28' then true
    else substr(${column}, 9, 2) <= ${lastDay} end, false)`;
}

function looksLikeTime(column: string): string {
  return String.raw`coalesce(${column} ~ '^\d{4}-[01]\d-[0-3]\d${TIME_OF_DAY}$', false)`;
}
