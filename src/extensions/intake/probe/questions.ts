import type { OperationDeps } from '../../../accounts/account.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createRequest, hasShape, readAbsence, readLookup, textOf } from '../../../exchange/orders.ts';
import { isLosslessNumber } from 'lossless-json';
import type { AbsenceShape } from '../../../orders/rules/lookup.ts';
import { answerOf, hide, type FailedReply, type UnreadReply } from '../../../exchange/reply.ts';
import type { HttpRequest, HttpResponse } from '../../../exchange/transport/http.ts';
import type { FailedResult } from '../../api/envelope.ts';
import type { Answer, MerchantOrder } from '../../../orders/rules/record.ts';
import { withoutAddresses } from '../../../base/text.ts';
import { CLIENTS, ORDERS } from '../../../exchange/addresses.ts';
import { pathId, queryId } from '../../../exchange/ids.ts';
import { readJson } from '../../../exchange/json.ts';
import { withoutTokens } from '../../documents/hidden-tokens.ts';

/** The steps of a probe. Only `order` and `repeat` send a create (§4.9). */
export const PROBE_STEPS = ['absence', 'ids', 'key', 'order', 'repeat', 'rate'] as const;
export type ProbeStep = (typeof PROBE_STEPS)[number];

export const probeRow = z.object({
  question: z.string(),
  seen: z.string(),
  follows: z.string(),
  setting: z.object({ path: z.string(), value: z.unknown() }).optional(),
  isOdd: z.boolean().describe('A person should look at it.'),
});
export type ProbeRow = Readonly<z.output<typeof probeRow>>;

export type Probed = readonly ProbeRow[] | FailedResult;

export const ODD = { isOdd: true };

export function row(question: string, seen: string, follows: string, more: Partial<ProbeRow> = {}): ProbeRow {
  return { question, seen, follows, isOdd: false, ...more };
}

/** An answer for people, without key and tokens. Without an answer `status` is null, and `why` is the known cause. */
export const evidenceSchema = z.object({
  request: z.string(),
  askedAt: z.string(),
  tookMs: z.number(),
  status: z.number().nullable(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  why: z.string().nullable(),
});
export type Evidence = Readonly<z.output<typeof evidenceSchema>>;

const LONGEST_BODY = 20_000;
/** The headers that show the time, the limits or the kind of an answer. Other headers may hold secrets. */
const HEADERS = /^(date|content-type|retry-after|(x-)?rate-?limit.*)$/;

/** The requests of a probe. Only `create` changes anything at the exchange. */
export const PROBE_REQUESTS = {
  order: (externalOrderId: string) => examined(`${ORDERS}?externalOrderId=${queryId(externalOrderId)}`),
  preOrder: (preOrderId: string) => examined(`${ORDERS}/request/${pathId(preOrderId)}`),
  link: (linkId: string) => examined(`${CLIENTS}/${pathId(linkId)}`),
  /** An address that the interface document does not list. */
  nothing: (name: string) => examined(`${ORDERS}/${pathId(name)}/${pathId(name)}`),
  create: (order: MerchantOrder): HttpRequest => ({ ...createRequest(order), isExamined: true }),
};

const examined = (path: string): HttpRequest => ({ method: 'GET', path, isExamined: true });

function evidenceOf({ method, path, secrets = [] }: HttpRequest, seen: Awaited<ReturnType<typeof examine>>): Evidence {
  const { reply, askedAt, tookMs, response } = seen;
  const headers = Object.entries(response?.headers ?? {}).filter(([name]) => HEADERS.test(name));
  const body = response?.body ?? '';
  // A body that is no JSON is kept, because it has no fields to hide.
  const text = readJson(body) === undefined ? body : withoutTokens(body);
  return {
    request: `${method} ${path}`,
    askedAt: askedAt.toISOString(),
    tookMs,
    status: response?.status ?? null,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    body: withoutAddresses(hide(secrets, text)).slice(0, LONGEST_BODY),
    why: response === undefined && 'why' in reply ? reply.why : null,
  };
}

type AskingDeps = Pick<OperationDeps, 'exchange' | 'clock'>;

async function examine({ exchange, clock }: AskingDeps, request: HttpRequest, signal: AbortSignal) {
  let seen: { askedAt: Date; tookMs: number; response?: HttpResponse | undefined } = {
    askedAt: clock.now(),
    tookMs: 0,
  };
  const reply = await exchange.sendForPerson(request, signal, (send) => async (...args) => {
    const [askedAt, began] = [clock.now(), clock.monotonic()];
    let response: HttpResponse | undefined;
    try {
      return (response = await send(...args));
    } finally {
      seen = { askedAt, tookMs: Math.round(clock.monotonic() - began), response };
    }
  });
  return { ...seen, reply };
}

export type Asking = ReturnType<typeof askingOf>;
export type Asked = Awaited<ReturnType<Asking['ask']>>;

export function askingOf(deps: AskingDeps, signal = new AbortController().signal) {
  const evidence: Evidence[] = [];
  return {
    evidence,
    signal,
    async ask(request: HttpRequest, enough?: AbortSignal) {
      const answered = await examine(deps, request, AbortSignal.any(enough ? [signal, enough] : [signal]));
      const seen = evidenceOf(request, answered);
      evidence.push(seen);
      return { reply: answered.reply, evidence: seen };
    },
  };
}

/** Returns the failure if the reply teaches nothing: no answer came, or its status is 401, 429 or 5xx. */
export function failureOf(reply: UnreadReply): FailedReply | undefined {
  if (reply.kind === 'ok' || reply.kind === 'refused') return undefined;
  if (reply.kind !== 'unknown') return reply;
  return reply.answer === undefined || reply.answer.httpStatus >= 500 ? { kind: 'unknown', why: reply.why } : undefined;
}

const unknownId = () => `order-sync-probe-${randomUUID()}`;

const DOCUMENTED = '404 with the error body of §7: nothing to set';
const LONGEST_SHOWN = 160;

export function shown({ status, body, why }: Evidence): string {
  if (status === null) return `no answer: ${why}`;
  const text = body.trim();
  if (text === '') return `${status}, empty`;
  return `${status} ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)} …` : text}`;
}

/** Clocks that differ by less than this count as equal, because the Date header has whole seconds. */
const SKEW_MS = 2_000;

/** Finds out how look-ups (§4.11) show absence. Looks up two unknown ids, one of them twice, and asks a wrong URL. */
export async function probeAbsence(asking: Asking): Promise<Probed> {
  const [first, second] = [unknownId(), unknownId()];
  const lookups: AbsentReply[] = [];
  for (const externalOrderId of [first, second, first]) {
    const { reply } = await asking.ask(PROBE_REQUESTS.order(externalOrderId));
    const failure = failureOf(reply);
    if (failure !== undefined) return failure;
    lookups.push({ reply, externalOrderId });
  }
  const { reply } = await asking.ask(PROBE_REQUESTS.nothing(unknownId()));
  const [evidence] = asking.evidence;
  return [absenceRow(evidence === undefined ? '' : shown(evidence), lookups, answerOf(reply)), clockRow(evidence)];
}

function absenceRow(seen: string, lookups: readonly AbsentReply[], ofNothing: Answer | undefined): ProbeRow {
  const question = 'a look-up of an id that no order has (§4.11)';
  const found = commonAbsenceShape(lookups, ofNothing);
  const read = lookups.map(({ reply, externalOrderId }) => readLookup(reply, externalOrderId, { absence: [] }));
  const isAbsent = (evidence: 'documented' | 'likely') =>
    read.every((answer) => answer.kind === 'absent' && answer.evidence === evidence);
  if (isAbsent('documented')) return row(question, seen, DOCUMENTED);
  const unnamed = 'no setting can name this answer: ask the exchange how it shows that there is no order';
  if (found === undefined) return row(question, seen, unnamed, ODD);
  const now = isAbsent('likely') ? 'likely absence, and sends no order again' : 'an unanswered look-up';
  const alike = found.isShared ? '; the exchange answers the same for an address that does not exist' : '';
  const follows = `without the setting, order-sync reads this answer as ${now}; with the setting, as documented absence: set it once the exchange confirms that this answer means that there is no order${alike}`;
  const setting = { path: 'exchange.absence', value: [found.shape] };
  return row(question, seen, follows, { isOdd: found.isShared, setting });
}

function clockRow(evidence: Evidence | undefined): ProbeRow {
  const question = 'the clock of the exchange, beside ours';
  const date = Date.parse(evidence?.headers['date'] ?? '');
  const instead = 'order-sync reads the clock of the exchange from serverDate of order records';
  if (evidence === undefined || Number.isNaN(date)) return row(question, 'no Date header', instead);
  const aheadMs = date - Date.parse(evidence.askedAt) - evidence.tookMs / 2;
  const isOdd = Math.abs(aheadMs) > SKEW_MS + evidence.tookMs / 2;
  if (!isOdd) return row(question, 'the same, within 2 s', 'nothing to set');
  const seen = `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  return row(question, seen, 'find out which clock is wrong; ours should follow NTP', ODD);
}

/** Finds out how the exchange answers about unknown pre-orders (§4.10) and links (§4.3). */
export async function probeIds(asking: Asking): Promise<Probed> {
  const rows: ProbeRow[] = [];
  for (const [question, request] of [
    ['a pre-order with an id that none has (§4.10)', PROBE_REQUESTS.preOrder(unknownId())],
    ['a link with an id that none has (§4.3)', PROBE_REQUESTS.link(unknownId())],
  ] as const) {
    const { reply, evidence } = await asking.ask(request);
    const failure = evidence.status === null ? failureOf(reply) : undefined;
    if (failure !== undefined) return failure;
    const isDocumented = reply.kind === 'refused' && reply.httpStatus === 404;
    const follows = isDocumented ? DOCUMENTED : 'treated as no answer; no setting changes that';
    rows.push(row(question, shown(evidence), follows, { isOdd: !isDocumented }));
  }
  return rows;
}

/** Finds out how the exchange refuses a key. Asks with a random key. */
export async function probeKey(asking: Asking): Promise<Probed> {
  const request = { ...PROBE_REQUESTS.order(unknownId()), headers: { 'x-api-key': unknownId() } };
  const { reply, evidence } = await asking.ask(request);
  const question = 'a wrong key (§5)';
  if (reply.kind === 'key-refused') return [row(question, shown(evidence), '401 as in §5: nothing to set')];
  const failure = failureOf(reply);
  if (failure !== undefined) return failure;
  const status = evidence.status ?? 0;
  const follows =
    status >= 200 && status < 300
      ? 'the exchange accepts an invented key: tell the exchange'
      : 'the exchange did not refuse the invented key, so order-sync would not notice a key that has expired; watch for orders that do not move';
  return [row(question, shown(evidence), follows, ODD)];
}

/** Sends `requests` look-ups at once. Stops at the first 429. */
export async function probeRate(asking: Asking, requests: number): Promise<Probed> {
  const enough = new AbortController();
  const askOnce = async () => {
    const { reply } = await asking.ask(PROBE_REQUESTS.order(unknownId()), enough.signal);
    if (reply.kind === 'rate-limited') enough.abort();
  };
  await Promise.all(Array.from({ length: requests }, askOnce));
  const limited = asking.evidence.filter(({ status }) => status === 429);
  const answered = asking.evidence.filter(({ status }) => status !== null && status !== 429).length;
  const question = `${requests} look-ups at once, within exchange.rate (§8)`;
  if (limited.length === 0) {
    const isOdd = answered < requests;
    return [row(question, `${answered} answered, no 429`, 'the exchange showed no limit below yours', { isOdd })];
  }
  const wait = limited.map(({ headers }) => headers['retry-after']).find((value) => value !== undefined);
  const seen = `${answered} answered, then 429, ${wait === undefined ? 'no Retry-After' : `Retry-After: ${wait}`}`;
  const follows = `the limit of the exchange is below yours${wait === undefined ? '; without Retry-After order-sync waits 5 s' : ''}`;
  const setting = { path: 'exchange.rate.requests', value: Math.max(1, answered) };
  return [row(question, seen, follows, { ...ODD, setting })];
}

type AbsentReply = Readonly<{ reply: UnreadReply; externalOrderId: string }>;

/** Names of fields whose values change from answer to answer, or repeat the request. */
const VARYING_FIELDS = /time|date|path|trace|request|instance|status|\bid$/i;
/** Names of the fields whose values best show that an answer means absence, the best first. */
const TELLING_FIELDS = ['code', 'error', 'reason', 'title', 'message', 'detail', 'order'];

/**
 * Returns the most specific shape by which all of `absent` count as documented absence; undefined if there is none.
 * Prefers a shape that the answer to a wrong address does not have. `isShared` is true if that answer has the shape.
 */
function commonAbsenceShape(absent: readonly AbsentReply[], ofNothing: Answer | undefined) {
  const first = answerOf(absent[0]?.reply ?? { kind: 'unknown', why: '' });
  if (first === undefined || !isOfOrder(first.httpStatus)) return undefined;
  const fitting = shapesOf(first.httpStatus, readJson(first.body)).filter((shape) =>
    absent.every(({ reply, externalOrderId }) => readAbsence(reply, externalOrderId, [shape]) === 'documented'),
  );
  const isShared = (shape: AbsenceShape) => ofNothing !== undefined && hasShape(ofNothing, shape);
  const shape = fitting.find((one) => !isShared(one)) ?? fitting[0];
  return shape && { shape, isShared: isShared(shape) };
}

/** 401, 403, 429 and 5xx concern the account or the exchange, not an order. */
const isOfOrder = (status: number) => /^(?!401|403|429)[24]\d\d$/.test(String(status));

/** Returns the shapes of an answer, the most specific first. The status alone is a shape if it is 404 or a success. */
function shapesOf(status: number, body: unknown): readonly AbsenceShape[] {
  const whole = body === undefined ? undefined : textOf(body);
  const scalars = whole === undefined ? scalarsIn(body) : [['', whole] as const];
  const shapes = scalars
    .toSorted(([one], [other]) => rank(one) - rank(other))
    .map(([pointer, value]) => ({ status, pointer, value }));
  return status === 404 || status < 300 ? [...shapes, { status }] : shapes;
}

/** Returns the values in a body and in the objects directly below it, without fields that `VARYING_FIELDS` matches. */
function scalarsIn(body: unknown, above = ''): readonly (readonly [pointer: string, value: string])[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || isLosslessNumber(body)) return [];
  return Object.entries(body).flatMap(([name, value]) => {
    const pointer = `${above}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const text = textOf(value);
    if (text === undefined) return above === '' ? scalarsIn(value, pointer) : [];
    return VARYING_FIELDS.test(name) ? [] : [[pointer, text] as const];
  });
}

function rank(pointer: string): number {
  const at = TELLING_FIELDS.indexOf(pointer.split('/').at(-1) ?? '');
  return at < 0 ? TELLING_FIELDS.length : at;
}
