import { sameDecimal } from '../../domain/decimal.ts';
import type { MerchantOrder, PreOrderView } from '../../domain/record.ts';
import { quote } from '../../domain/text.ts';
import { PROBE_REQUESTS, type Examined } from '../../exchange/examine.ts';
import { UnusableIdError } from '../../exchange/ids.ts';
import { readLookup } from '../../exchange/orders.ts';
import { readPreOrderBody } from '../../exchange/record-view.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import type { HttpRequest } from '../../exchange/transport.ts';
import { accountFact, readAccountFact } from '../../store/accounts.ts';
import { keepAnswer } from '../../store/kept-answers.ts';
import { sentOrderOf, type OrderRow } from '../../store/order-columns.ts';
import { readOrder } from '../../store/orders.ts';
import { readPreOrder } from '../../store/pre-orders.ts';
import { addOrder, checkFields } from '../orders/add.ts';
import { sendOrder } from '../orders/create.ts';
import type { FlowDeps } from '../pass/deps.ts';
import {
  Asking,
  type Probed,
  type ProbeStep,
  probeAbsence,
  probeIds,
  probeKey,
  probeRate,
  failureOf,
  shown,
  type ProbeRow,
} from './questions.ts';

interface ProbeInput {
  readonly step: ProbeStep;
  /** By its columns in `merchant_orders`. */
  readonly order?: Readonly<Record<string, unknown>> | undefined;
  /** The requests of the step `rate`. */
  readonly requests?: string | undefined;
}

/** Asks the exchange what the document leaves open, one step. Each request takes its turn as a person's does. */
export async function probe(deps: FlowDeps, input: ProbeInput, signal?: AbortSignal): Promise<Probed> {
  const { step, order, requests = '1' } = input;
  const asking = new Asking(deps, signal);
  switch (step) {
    case 'absence':
      return await probeAbsence(asking);
    case 'ids':
      return await probeIds(asking);
    case 'key':
      return await probeKey(asking);
    case 'rate':
      return await probeRate(asking, Number(requests));
    case 'order':
    case 'repeat':
      if (order === undefined) return { kind: 'invalid', message: `the step ${step} needs an order` };
      return await (step === 'order' ? probeOrder : repeatCreate)(deps, asking, order, signal);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** The order whose create was repeated: it is done once an account. */
const REPEATED = 'probe.repeatedCreate';
const UNDER_WAY_MS = 250;
const LONGEST_WAIT_MS = 60_000;

/**
 * Creates one order as any other is created, by a row and a durable intent, and asks about it before and after. One that
 * stands in the table is not sent by this again.
 */
async function probeOrder(
  deps: FlowDeps,
  asking: Asking,
  fields: Fields,
  signal: AbortSignal = new AbortController().signal,
): Promise<Probed> {
  const checked = checkFields(fields);
  if (!checked.ok) return { kind: 'invalid', message: checked.problems.map(({ reason }) => reason).join('; ') };
  const { account, store } = deps;
  const { externalOrderId } = checked.order;
  const rows: ProbeRow[] = [];
  if ((await readOrder(store.db, account, externalOrderId)) === undefined) {
    const before = await asking.ask(PROBE_REQUESTS.order(externalOrderId));
    const failure = failureOf(before.reply);
    if (failure !== undefined) return { kind: 'failed', reply: failure };
    const answer = readLookup(before.reply, externalOrderId, { absence: [] });
    const isThere =
      answer.kind === 'found' || (before.reply.kind === 'ok' && readRecordView(before.reply.body) !== undefined);
    const follows = isThere ? 'it was not created; see order-sync orders adopt' : 'it may be created';
    rows.push({
      question: 'the order before its create (§4.11)',
      seen: shown(before.evidence),
      follows,
      isOdd: isThere,
    });
    if (isThere) return asking.found(...rows);
  }
  const added = await addOrder(deps, fields);
  if (added.kind === 'invalid') return { kind: 'invalid', message: added.problems.join('; ') };
  if (added.kind === 'differs') {
    const message = `${quote(externalOrderId)} stands in the table with another ${added.columns.join(', ')}`;
    return { kind: 'invalid', message };
  }
  if (added.kind === 'inserted') await sendOrder(deps, externalOrderId, signal);
  const row = await settledRow(deps, externalOrderId, signal);
  rows.push(createRow(row));
  if (row.pre_order_id !== null) rows.push(...(await afterCreate(deps, asking, row)));
  return asking.found(...rows);
}

/** The row once no request for it is in flight: the daemon may have sent it first. */
async function settledRow({ account, store, clock }: FlowDeps, id: string, signal: AbortSignal): Promise<OrderRow> {
  for (const until = clock.monotonic() + LONGEST_WAIT_MS; ;) {
    const row = await readOrder(store.db, account, id);
    if (row === undefined) throw new Error('an order that was just inserted is not there');
    if (row.state !== 'sending' || signal.aborted || clock.monotonic() > until) return row;
    await clock.sleep(UNDER_WAY_MS);
  }
}

function createRow({
  external_order_id: id,
  state,
  state_reason: reason,
  pre_order_id: preOrderId,
}: OrderRow): ProbeRow {
  const question = 'the create (§4.9)';
  const because = reason === null ? '' : `: ${reason}`;
  if (preOrderId !== null) {
    return {
      question,
      seen: `taken, pre-order ${preOrderId}`,
      follows: 'it is a real order, and followed as any other',
      isOdd: false,
    };
  }
  const seen = `the order is ${state}${because}`;
  const isUndocumented = /HTTP (400|404|422) without/.test(reason ?? '');
  return {
    question,
    seen,
    follows: isUndocumented
      ? 'create.refusedBy: status makes such an order rejected: set it once the exchange confirms that nothing was made'
      : `it stands in the table: order-sync orders explain ${id}`,
    ...(isUndocumented && { setting: { path: 'create.refusedBy', value: 'status' } }),
    isOdd: true,
  };
}

async function afterCreate({ account, store }: FlowDeps, asking: Asking, row: OrderRow): Promise<readonly ProbeRow[]> {
  const { external_order_id: id, pre_order_id: preOrderId } = row;
  const order = sentOrderOf(row);
  const created = await readPreOrder(store.db, account, id);
  const echoed = created === undefined ? undefined : readPreOrderBody(created);
  const lookup = await asking.ask(PROBE_REQUESTS.order(id));
  return [
    ...(echoed === undefined ? [] : [amountRow('the amounts in the answer to the create (§4.9)', order, echoed)]),
    earlyLookupRow(lookup, id),
    ...(await preOrderRows(asking, preOrderId ?? '', order)),
  ];
}

/** What the exchange says of the pre-order by its id, which may be one that no address can carry. */
async function preOrderRows(asking: Asking, preOrderId: string, order: MerchantOrder): Promise<readonly ProbeRow[]> {
  const question = 'the pre-order by its id (§4.10)';
  const request = requestOf(preOrderId);
  if (request === undefined) {
    return [{ question, seen: 'the id cannot be asked for', follows: 'no setting changes it', isOdd: true }];
  }
  const preOrder = await asking.ask(request);
  const later = preOrder.reply.kind === 'ok' ? readPreOrderBody(preOrder.reply.body) : undefined;
  return [
    {
      question,
      seen: shown(preOrder.evidence),
      follows: later === undefined ? 'it cannot be read; no setting changes it' : 'nothing to set',
      isOdd: later === undefined,
    },
    ...(later === undefined ? [] : [amountRow('the amounts of the pre-order by its id (§4.10)', order, later)]),
  ];
}

function requestOf(preOrderId: string): HttpRequest | undefined {
  try {
    return PROBE_REQUESTS.preOrder(preOrderId);
  } catch (error) {
    if (error instanceof UnusableIdError) return undefined;
    throw error;
  }
}

function earlyLookupRow({ reply, evidence }: Examined, externalOrderId: string): ProbeRow {
  const row = { question: 'the order once it has a pre-order (§4.11)', seen: shown(evidence) };
  if (failureOf(reply) !== undefined) return { ...row, follows: 'no answer, so nothing is known', isOdd: true };
  if (readLookup(reply, externalOrderId, { absence: [] }).kind === 'found') {
    const follows = 'orders show at once here; that absence proves anything is still for the exchange to say';
    return { ...row, follows, isOdd: false };
  }
  const follows = 'there is a pre-order, and no order: absence does not prove that nothing was made';
  return { ...row, follows, setting: { path: 'create.onUnknown', value: 'hold' }, isOdd: false };
}

/** Compares amounts digit by digit. */
function amountRow(question: string, order: MerchantOrder, view: PreOrderView): ProbeRow {
  const amounts = (['asset', 'limit', 'bonus'] as const).flatMap((field) => {
    const sent = order[field];
    const back = view[field];
    if (sent === null) return [];
    const same = back !== null && sameDecimal(sent, back);
    return [{ text: `${field} ${sent} → ${back ?? 'none'}`, isSame: same, isEqual: sent === back }];
  });
  const seen = amounts.map(({ text }) => text).join(', ');
  if (amounts.some(({ isSame }) => !isSame)) {
    return { question, seen, follows: 'not the amount that was sent: the finding PREORDER_ECHO_MISMATCH', isOdd: true };
  }
  const isEqual = amounts.every((amount) => amount.isEqual);
  const follows = isEqual
    ? 'every digit comes back'
    : 'the same numbers, written otherwise: they are compared as numbers';
  return { question, seen, follows, isOdd: false };
}

/**
 * Sends the create of an order that was taken once more, under the same id: this may make a second pre-order. It is none of
 * the order's own requests, so the table is left alone; that it is done is durable before, and it is done once an account.
 */
async function repeatCreate(deps: FlowDeps, asking: Asking, fields: Fields): Promise<Probed> {
  const { account, store, clock } = deps;
  const checked = checkFields(fields);
  if (!checked.ok) return { kind: 'invalid', message: checked.problems.map(({ reason }) => reason).join('; ') };
  const { externalOrderId } = checked.order;
  const row = await readOrder(store.db, account, externalOrderId);
  if (row === undefined || row.pre_order_id === null) {
    return { kind: 'invalid', message: `${quote(externalOrderId)} has no pre-order, so its create is not repeated` };
  }
  const fact = { account, name: REPEATED };
  const before = await store.writer.write(async (tx) => {
    const known = await readAccountFact(tx, fact);
    await accountFact(tx, { ...fact, given: externalOrderId, now: clock.now() });
    return known;
  });
  if (before !== undefined) {
    return {
      kind: 'invalid',
      message: `the create of ${quote(before)} was repeated already; it is done once an account`,
    };
  }
  const { reply, evidence } = await asking.ask(PROBE_REQUESTS.create(sentOrderOf(row)));
  const preOrder = reply.kind === 'ok' ? readPreOrderBody(reply.body) : undefined;
  const isSecond = reply.kind === 'ok' && preOrder?.id !== row.pre_order_id;
  if (isSecond) {
    const { status, body } = evidence;
    const kept = {
      account,
      operation: 'createPreOrder' as const,
      subject: externalOrderId,
      receivedAt: clock.now().toISOString(),
    };
    await store.writer.write((tx) => keepAnswer(tx, { ...kept, httpStatus: status ?? 0, body }));
  }
  return asking.found(repeatRow(shown(evidence), reply.kind, isSecond));
}

function repeatRow(seen: string, kind: string, isSecond: boolean): ProbeRow {
  const row = { question: 'the same create once more (§4.9)', seen };
  if (kind === 'ok' && !isSecond) {
    return {
      ...row,
      follows: 'the same pre-order: this exchange knows the id again, this time; order-sync does not rely on it',
      isOdd: false,
    };
  }
  const setting = { path: 'create.onUnknown', value: 'hold' };
  if (isSecond)
    return {
      ...row,
      follows: 'a second pre-order: ask the exchange to cancel it, and keep hold',
      setting,
      isOdd: true,
    };
  if (kind === 'refused') return { ...row, follows: 'the exchange refuses an id that it knows', setting, isOdd: false };
  return {
    ...row,
    follows: 'nobody can tell whether a second pre-order was made: ask the exchange',
    setting,
    isOdd: true,
  };
}
