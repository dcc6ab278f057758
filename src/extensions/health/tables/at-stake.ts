import { sql, type RawBuilder } from 'kysely';
import type { OrderState } from '../../../orders/rules/states.ts';
import { exactSum, indexedBy } from '../../../store/dialect.ts';
import type { Database } from '../../../store/port.ts';
import { hasDecision } from '../../operate/tables/decided-findings.ts';
import type { AmountRow } from '../../reports/reconciliation/rows.ts';
import { partOf } from '../../reports/tables/summary.ts';

export const MOST_AT_STAKE = 1_000;

/** The orders that a problem is about: in a state, inserted since a time if given, or with findings of a class. */
export type Concerned =
  | { readonly state: OrderState; readonly since?: string }
  | { readonly class: string; readonly status: 'open' | 'undecided' | 'decided' };

/** Returns exact sums; for a class, without orders decided or counted by their state. `db` must be of a snapshot. */
export async function sumsAtStake(db: Database, account: string, concerned: Concerned) {
  const { rows } = await sql<AmountRow & { state: OrderState; sum: string }>`
    select from_currency, to_currency, asset_position, state, ${exactSum('asset')} as sum
    from (${'state' in concerned ? inState(account, concerned.state) : withFinding(account, concerned.class)}) as concerned
    group by from_currency, to_currency, asset_position, state`.execute(db);
  return rows.map(({ sum, ...row }) => partOf(row, sum));
}

function inState(account: string, state: OrderState): RawBuilder<unknown> {
  return sql`select from_currency, to_currency, asset_position, state, asset
    from merchant_orders ${indexedBy('merchant_orders_due')}
    where account = ${account} and state = ${state} limit ${MOST_AT_STAKE}`;
}

function withFinding(account: string, name: string): RawBuilder<unknown> {
  return sql`select from_currency, to_currency, asset_position, state, asset
    from (select distinct external_order_id as id from (select * from findings
      where account = ${account} and status = 'open' and class = ${name} limit ${MOST_AT_STAKE}) as few
      where not ${hasDecision('few')}) as found
    join merchant_orders on account = ${account} and external_order_id = found.id
    where state not in ('disputed', 'held', 'unknown')`;
}
