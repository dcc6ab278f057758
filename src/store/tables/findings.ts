import { sql, type Selectable, type Updateable } from 'kysely';
import type { FindingChanges, KnownFinding } from '../../findings/rules/finding.ts';
import { FINDING_CLASSES, type FindingClassName } from '../../findings/rules/classes.ts';
import { insertHappenings, type Happening } from './events.ts';
import type { Database, Transaction } from '../port.ts';
import type { FindingsTable } from '../schema.ts';
import { literals, ofOrder } from '../statement.ts';

/** Sorts by class, as the index does, because a prepared plan that sorts by `id` may read all findings. */
export const findingsOf = ofOrder(
  (v) => sql<KnownFinding>`select id, class, expected, actual, status from findings
    where account = ${v.account} and external_order_id = ${v.externalOrderId} order by class`,
  (rows) => {
    // This version does not judge classes that only another version has.
    const known = rows.filter((row) => Object.hasOwn(FINDING_CLASSES, row.class));
    return known.toSorted((one, other) => one.id - other.id);
  },
);

/** Writes changes of findings about an order or the account. Each opened or resolved finding adds an event. */
export async function saveFindings(
  tx: Transaction,
  order: { account: string; externalOrderId: string | null },
  { opened, reopened, seenAgain, resolved }: FindingChanges,
  now: Date,
): Promise<void> {
  const at = now.toISOString();
  const change = async (id: number, values: Updateable<FindingsTable>) =>
    await tx.updateTable('findings').set(values).where('account', '=', order.account).where('id', '=', id).execute();
  for (const { class: name, expected, actual } of opened) {
    await sql`insert into findings (account, external_order_id, class, severity, expected, actual, first_seen_at, last_seen_at)
      values (${order.account}, ${order.externalOrderId}, ${name}, ${FINDING_CLASSES[name].severity}, ${expected}, ${actual},
        ${at}, ${at})`.execute(tx);
  }
  for (const { id, expected, actual } of reopened) {
    const anew = { status: 'open', resolved_at: null, changed_by: null, reason: null, changed_at: null };
    await change(id, { expected, actual, last_seen_at: at, ...anew });
  }
  for (const { id, expected, actual } of seenAgain) await change(id, { expected, actual, last_seen_at: at });
  for (const { id } of resolved) await change(id, { status: 'resolved', resolved_at: at });
  const happenings = [
    ...[...opened, ...reopened].map((finding) => happeningOf('finding.opened', order, finding)),
    ...resolved.map((finding) => ({
      ...happeningOf('finding.resolved', order, finding),
      wasAcknowledged: finding.status === 'acknowledged',
    })),
  ];
  await insertHappenings(tx, happenings, now);
}

export function happeningOf(
  type: 'finding.opened' | 'finding.resolved' | 'finding.acknowledged',
  { account, externalOrderId }: { account: string; externalOrderId: string | null },
  { class: field, expected, actual }: { class: string; expected: string | null; actual: string | null },
): Happening {
  const values = { old_value: expected, new_value: actual };
  return { account, type, subject: externalOrderId ?? '', field, ...values, source: 'reconciliation' };
}

export type FindingRow = Selectable<FindingsTable>;

const EXPLAINING = (Object.keys(FINDING_CLASSES) as FindingClassName[]).filter(
  (name) => FINDING_CLASSES[name].severity === 'info',
);

/** Counts the open findings, except severity `info`. Filters by class, because the index has no severity. */
export async function countOpenFindings(db: Database, account: string): Promise<number> {
  const { rows } = await sql<{ findings: number }>`select count(*) as findings from findings
    where account = ${account} and status = 'open' and class not in (${literals(EXPLAINING)})`.execute(db);
  return rows[0]?.findings ?? 0;
}
