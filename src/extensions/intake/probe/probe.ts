import { sameDecimal } from '../../../base/decimal.ts';
import { done, invalid, type Result } from '../../api/envelope.ts';
import { describeProblems } from '../../../orders/rules/check.ts';
import type { MerchantOrder, PreOrderView } from '../../../orders/rules/record.ts';
import { quote } from '../../../base/text.ts';
import { UnusableIdError } from '../../../exchange/ids.ts';
import { readLookup } from '../../../exchange/orders.ts';
import { readPreOrderBody, readRecordView } from '../../../exchange/record-view.ts';
import type { HttpRequest } from '../../../exchange/transport/http.ts';
import { accountFact, readAccountFact } from '../../../store/tables/accounts.ts';
import { keepAnswer, readPreOrder } from '../../../store/tables/order-records.ts';
import { sentOrderOf, type OrderRow } from '../../../store/orders/order-columns.ts';
import { readOrder } from '../../../store/orders/orders.ts';
import { addOrder, checkFields } from '../add.ts';
import { sendOrder } from '../../../orders/create.ts';
import type { OperationDeps } from '../../../accounts/account.ts';
import { askingOf, failureOf, ODD, PROBE_REQUESTS, row, shown } from './questions.ts';
import { probeAbsence, probeIds, probeKey, probeRate } from './questions.ts';
import type { Asking, Asked, Probed, ProbeRow, ProbeStep } from './questions.ts';

type Fields = Readonly<Record<string, unknown>>;
type ProbeInput = Readonly<{ step: ProbeStep; order?: Fields | undefined; requests?: string | undefined }>;

const REPEATED = 'probe.repeatedCreate';
const UNDER_WAY_MS = 250;
const LONGEST_WAIT_MS = 60_000;
const HOLD = { setting: { path: 'create.onUnknown', value: 'hold' } };

/** Does one step of a probe, which asks what the document does not say. Requests wait in the lane for people. */
export async function probe(deps: OperationDeps, input: ProbeInput, signal?: AbortSignal): Promise<Result> {
  const asking = askingOf(deps, signal);
  const probed = await takeStep(deps, asking, input);
  return 'kind' in probed ? probed : done({ rows: probed, evidence: asking.evidence });
}

const WITHOUT_ORDER = { absence: probeAbsence, ids: probeIds, key: probeKey };

async function takeStep(deps: OperationDeps, asking: Asking, { step, order, requests = '1' }: ProbeInput) {
  if (step === 'rate') return await probeRate(asking, Number(requests));
  if (step !== 'order' && step !== 'repeat') return await WITHOUT_ORDER[step](asking);
  if (order === undefined) return invalid(`the step ${step} needs an order`);
  const checked = checkFields(order);
  if (!checked.ok) return invalid(describeProblems(checked.problems));
  const { externalOrderId } = checked.order;
  if (step === 'repeat') return await repeatCreate(deps, asking, externalOrderId);
  return await probeOrder(deps, asking, order, externalOrderId);
}

/** Inserts an order, sends it and looks it up. Sends no order that is in the table or that a first look-up finds. */
async function probeOrder(deps: OperationDeps, asking: Asking, fields: Fields, externalOrderId: string) {
  const { account, store } = deps;
  const rows: ProbeRow[] = [];
  if ((await readOrder(store.db, account, externalOrderId)) === undefined) {
    const { reply, evidence } = await asking.ask(PROBE_REQUESTS.order(externalOrderId));
    const failure = failureOf(reply);
    if (failure !== undefined) return failure;
    const isFound = readLookup(reply, externalOrderId, { absence: [] }).kind === 'found';
    const isOdd = isFound || (reply.kind === 'ok' && readRecordView(reply.body) !== undefined);
    const follows = isOdd ? 'it was not created; see order-sync orders adopt' : 'it may be created';
    rows.push(row('the order before its create (§4.11)', shown(evidence), follows, { isOdd }));
    if (isOdd) return rows;
  }
  const added = await addOrder(deps, fields);
  if ('why' in added) return invalid(added.why);
  if (added.kind === 'inserted') await sendOrder(deps, externalOrderId, asking.signal);
  const settled = await settledRow(deps, externalOrderId, asking.signal);
  rows.push(createRow(settled));
  if (settled.pre_order_id === null) return rows;
  return [...rows, ...(await afterCreate(deps, asking, settled, settled.pre_order_id))];
}

/** Waits up to 60 s while the order is `sending`, because a pass may be sending the order. Returns the row. */
async function settledRow({ account, store, clock }: OperationDeps, id: string, signal: AbortSignal) {
  for (const until = clock.monotonic() + LONGEST_WAIT_MS; ;) {
    const order = await readOrder(store.db, account, id);
    if (order === undefined) throw new Error('the order that was just inserted is missing');
    if (order.state !== 'sending' || signal.aborted || clock.monotonic() > until) return order;
    await clock.sleep(UNDER_WAY_MS);
  }
}

function createRow({ external_order_id: id, state, state_reason: reason, pre_order_id: preOrderId }: OrderRow) {
  const question = 'the create (§4.9)';
  if (preOrderId !== null)
    return row(question, `accepted, pre-order ${preOrderId}`, 'it is a real order, and order-sync follows it');
  const seen = `the order is ${state}${reason === null ? '' : `: ${reason}`}`;
  if (!/HTTP (400|404|422) without/.test(reason ?? ''))
    return row(question, seen, `it is in the table: order-sync orders explain ${id}`, ODD);
  const follows =
    'with create.refusedBy: status, an order with this answer becomes rejected; set it once the exchange confirms that nothing was made';
  return row(question, seen, follows, { ...ODD, setting: { path: 'create.refusedBy', value: 'status' } });
}

async function afterCreate({ account, store }: OperationDeps, asking: Asking, sent: OrderRow, preOrderId: string) {
  const { external_order_id: id } = sent;
  const order = sentOrderOf(sent);
  const created = await readPreOrder(store.db, account, id);
  const echoed = created === undefined ? undefined : readPreOrderBody(created);
  const lookup = await asking.ask(PROBE_REQUESTS.order(id));
  return [
    ...(echoed === undefined ? [] : [amountRow('the amounts in the answer to the create (§4.9)', order, echoed)]),
    earlyLookupRow(lookup, id),
    ...(await preOrderRows(asking, preOrderId, order)),
  ];
}

/** Asks for the pre-order by its id. The exchange chose the id, which may be unusable in the path of a request. */
async function preOrderRows(asking: Asking, preOrderId: string, order: MerchantOrder): Promise<readonly ProbeRow[]> {
  const question = 'the pre-order by its id (§4.10)';
  let request: HttpRequest;
  try {
    request = PROBE_REQUESTS.preOrder(preOrderId);
  } catch (error) {
    if (!(error instanceof UnusableIdError)) throw error;
    return [row(question, 'the id cannot be asked for', 'no setting changes it', ODD)];
  }
  const { reply, evidence } = await asking.ask(request);
  const view = reply.kind === 'ok' ? readPreOrderBody(reply.body) : undefined;
  if (view === undefined) return [row(question, shown(evidence), 'it cannot be read; no setting changes it', ODD)];
  return [
    row(question, shown(evidence), 'nothing to set'),
    amountRow('the amounts of the pre-order by its id (§4.10)', order, view),
  ];
}

function earlyLookupRow({ reply, evidence }: Asked, externalOrderId: string): ProbeRow {
  const [question, seen] = ['the order once it has a pre-order (§4.11)', shown(evidence)];
  if (failureOf(reply) !== undefined) return row(question, seen, 'no answer, so nothing is known', ODD);
  const found = 'orders appear at once here; ask the exchange if an absent order proves that nothing was made';
  if (readLookup(reply, externalOrderId, { absence: [] }).kind === 'found') return row(question, seen, found);
  const absent = 'there is a pre-order, and no order: absence does not prove that nothing was made';
  return row(question, seen, absent, HOLD);
}

function amountRow(question: string, order: MerchantOrder, view: PreOrderView): ProbeRow {
  const amounts = (['asset', 'limit', 'bonus'] as const).flatMap((field) => {
    const [sent, back] = [order[field], view[field]];
    if (sent === null) return [];
    const isSame = back !== null && sameDecimal(sent, back);
    return [{ text: `${field} ${sent} → ${back ?? 'none'}`, isSame, isEqual: sent === back }];
  });
  const seen = amounts.map(({ text }) => text).join(', ');
  if (amounts.some(({ isSame }) => !isSame))
    return row(question, seen, 'not the amount that was sent: the finding PREORDER_ECHO_MISMATCH', ODD);
  const isEqual = amounts.every((amount) => amount.isEqual);
  const written = 'the same numbers in another spelling; order-sync compares numbers';
  return row(question, seen, isEqual ? 'every digit comes back' : written);
}

/**
 * Repeats the create of an order that has a pre-order. Each account repeats only one create, because the exchange may
 * make a second pre-order. Writes the fact `REPEATED` before the request leaves. The row of the order does not change.
 */
async function repeatCreate(deps: OperationDeps, asking: Asking, externalOrderId: string): Promise<Probed> {
  const { account, store, clock } = deps;
  const sent = await readOrder(store.db, account, externalOrderId);
  const none = `${quote(externalOrderId)} has no pre-order, so its create is not repeated`;
  if (sent === undefined || sent.pre_order_id === null) return invalid(none);
  const fact = { account, name: REPEATED };
  const before = await store.writer.write(async (tx) => {
    const known = await readAccountFact(tx, fact);
    await accountFact(tx, { ...fact, value: externalOrderId, now: clock.now() });
    return known;
  });
  if (before !== undefined)
    return invalid(`the create of ${quote(before)} was repeated already, and an account repeats a create only once`);
  const { reply, evidence } = await asking.ask(PROBE_REQUESTS.create(sentOrderOf(sent)));
  const preOrder = reply.kind === 'ok' ? readPreOrderBody(reply.body) : undefined;
  const isSecond = reply.kind === 'ok' && preOrder?.id !== sent.pre_order_id;
  if (isSecond) {
    const { status, body } = evidence;
    const kept = { account, operation: 'createPreOrder', subject: externalOrderId, body } as const;
    const receivedAt = clock.now().toISOString();
    await store.writer.write((tx) => keepAnswer(tx, { ...kept, receivedAt, httpStatus: status ?? 0 }));
  }
  const outcome = isSecond ? 'second' : reply.kind === 'ok' || reply.kind === 'refused' ? reply.kind : 'unknown';
  const [follows, more] = OF_REPEAT[outcome];
  return [row('the same create once more (§4.9)', shown(evidence), follows, more)];
}

/** For each outcome of the repeated create: its meaning, and the setting that it calls for. */
const OF_REPEAT = {
  second: ['a second pre-order: ask the exchange to cancel it, and keep create.onUnknown: hold', { ...HOLD, ...ODD }],
  ok: ['the same pre-order: the exchange recognised the id this time; order-sync does not rely on that', {}],
  refused: ['the exchange refuses an id that it knows', HOLD],
  unknown: ['it is not known whether a second pre-order was made: ask the exchange', { ...HOLD, ...ODD }],
} as const;
