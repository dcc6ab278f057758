import { preOrderIdsIn } from '../../../exchange/ids.ts';
import { readRecordView } from '../../../exchange/record-view.ts';
import { newestTroubles } from '../../../store/tables/account-stops.ts';
import { queries } from '../../../store/statement.ts';
import type { Snapshot, Store, Database } from '../../../store/port.ts';
import { allRows } from '../../../store/pages.ts';
import type { RestraintView } from '../../../accounts/rules/restraints.ts';

/** The data of one order in one snapshot of the database. Times are UTC, ISO 8601. */
export type StoryEvidence = NonNullable<Awaited<ReturnType<typeof readStory>>>;
export type StoryOrder = StoryEvidence['order'];
export type StoryEvent = StoryEvidence['events'][number];
export type StoryFinding = StoryEvidence['findings'][number];

export async function readStory(store: Pick<Store, 'snapshot'>, account: string, externalOrderId: string) {
  await using snapshot = await store.snapshot();
  return await readEvidence(snapshot, account, externalOrderId);
}

export async function readEvidence(snapshot: Snapshot, account: string, externalOrderId: string) {
  const ofOrder = { account, external_order_id: externalOrderId };
  const orders = queries
    .selectFrom('merchant_orders')
    .select(['account', 'external_order_id', 'revision', 'pre_order_id', 'verifications', 'outcome'])
    .select(['asset', 'asset_position', 'from_currency', 'to_currency'])
    .select(['created_at', 'updated_at', 'next_action_at', 'last_lookup_at', 'adopted_at', 'sent_at', 'absent_at'])
    .where((order) => order.and(ofOrder));
  const events = queries
    .selectFrom('order_events')
    .select(['field', 'old_value', 'new_value', 'observed_at', 'exchange_time', 'source', 'reason', 'actor'])
    .where((event) => event.and(ofOrder))
    .orderBy('id');
  const records = queries
    .selectFrom('order_records')
    .select(['received_at', 'body'])
    .where((record) => record.and(ofOrder));
  const answers = queries
    .selectFrom('kept_answers')
    .select(['received_at', 'http_status', 'body'])
    .where((kept) => kept.and({ account, operation: 'createPreOrder', subject: externalOrderId }))
    .orderBy('id');
  const findings = queries
    .selectFrom('findings')
    .select(['id', 'class', 'severity', 'expected', 'actual', 'reason', 'changed_by'])
    .select(['first_seen_at', 'last_seen_at', 'changed_at', 'resolved_at'])
    .where((finding) => finding.and(ofOrder))
    .orderBy('id');
  const [order] = await allRows(snapshot, orders);
  if (order === undefined) return undefined;
  const [record] = await allRows(snapshot, records);
  const kept = await allRows(snapshot, answers);
  return {
    order,
    events: await allRows(snapshot, events),
    record: record === undefined ? null : { received_at: record.received_at, view: readRecordView(record.body) },
    /** 2xx answers to creates: the outcome stayed unknown, or a second pre-order was made. `ids`: ids in the body. */
    keptAnswers: kept.map(({ body, ...answer }) => ({ ...answer, ids: preOrderIdsIn(body) })),
    findings: await allRows(snapshot, findings),
    holds: await allRows(snapshot, storedHolds(account)),
    stop: (await allRows(snapshot, newestTroubles(account, 'stopped')))[0] ?? null,
  };
}

/** Leaves out events, records, findings and holds after `asOf`. The row, `stop` and kept answers stay unchanged. */
export function evidenceAt(evidence: StoryEvidence, asOf: string): StoryEvidence {
  const { order, record, findings, holds } = evidence;
  // Each write of order-sync raises `revision`, so the events of an unwritten row are of a deleted row with its id.
  const events = order.revision === 0 ? [] : evidence.events;
  const at = (time: string | null) => (time !== null && time <= asOf ? time : null);
  const seen = findings.filter(({ first_seen_at }) => first_seen_at <= asOf);
  return {
    ...evidence,
    events: events.filter(({ observed_at }) => observed_at <= asOf),
    record: record !== null && record.received_at <= asOf ? record : null,
    findings: seen.map((one) => ({ ...one, changed_at: at(one.changed_at), resolved_at: at(one.resolved_at) })),
    holds: holds.filter(({ since }) => since <= asOf),
  };
}

export function storedHolds(account: string | undefined) {
  const holds = queries.selectFrom('account_holds').select(['kind', 'since', 'until', 'reason', 'actor']);
  return (account === undefined ? holds : holds.where('account', '=', account)).$castTo<RestraintView>();
}

export async function lostReach(db: Database, account: string | undefined, field: 'exchange' | 'answers') {
  const { rows } = await newestTroubles(account, field).execute(db);
  return rows.map(({ account: name, since, reason }) => ({ account: name, since, reason }));
}
