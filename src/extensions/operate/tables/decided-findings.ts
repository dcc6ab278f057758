import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { literals } from '../../../store/statement.ts';
import { DECIDABLE, OF_RECORD, statesToDecide } from '../rules/decided.ts';

const UNSETTLED = [statesToDecide('CREATE_UNKNOWN'), statesToDecide('ID_COLLISION')].map(literals);

/** Returns `isDecided` as SQL for the table `finding`. Decisions after `until` (UTC, ISO 8601) do not count. */
export function hasDecision(finding: string, until?: string): RawBuilder<SqlBool> {
  const of = (column: string) => sql.ref(`${finding}.${column}`);
  const isIn = (column: string) => {
    const [unknown, disputed] = UNSETTLED;
    const state = sql.ref(`decision.${column}`);
    return sql`case when ${of('class')} = 'CREATE_UNKNOWN' then ${state} in (${unknown}) else ${state} in (${disputed}) end`;
  };
  return sql<SqlBool>`(${of('class')} in (${literals(DECIDABLE)}) and coalesce((
    select source = 'operator' and not ${isIn('new_value')} and ${of('first_seen_at')} <= observed_at
      and (new_value = 'abandoned' or ${of('class')} not in (${literals(OF_RECORD)}))
    from events as decision where decision.account = ${of('account')} and type = 'order'
      and subject = ${of('external_order_id')} and field = 'state' and (${isIn('old_value')} or ${isIn('new_value')})
      ${until === undefined ? sql`` : sql`and observed_at <= ${until}`}
    order by id desc limit 1), false))`;
}
