import type { OperationDeps } from '../../../accounts/account.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readLookup } from '../../../exchange/orders.ts';
import { commonAbsenceShape, type AbsentReply } from './absence-shape.ts';
import type { Answer } from '../../../orders/rules/record.ts';
import { evidenceOf, PROBE_REQUESTS, type Evidence } from './evidence.ts';
import { answerOf, type FailedReply, type UnreadReply } from '../../../exchange/reply.ts';
import type { HttpRequest } from '../../../exchange/transport/http.ts';
import type { FailedResult } from '../../api/envelope.ts';

/** The steps of a probe. Only `order` and `repeat` make anything. */
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

/** The observations of a step, or why there are none. */
export type Probed = readonly ProbeRow[] | FailedResult;

export const ODD = { isOdd: true };

export function row(question: string, seen: string, follows: string, more: Partial<ProbeRow> = {}): ProbeRow {
  return { question, seen, follows, isOdd: false, ...more };
}

export type Asking = ReturnType<typeof askingOf>;
export type Examined = Awaited<ReturnType<Asking['ask']>>;

export function askingOf({ exchange }: Pick<OperationDeps, 'exchange'>, signal: AbortSignal | undefined) {
  const evidence: Evidence[] = [];
  return {
    evidence,
    async ask(request: HttpRequest, enough?: AbortSignal) {
      const signals = [signal, enough].filter((one) => one !== undefined);
      const examined = await exchange.examine(request, AbortSignal.any(signals));
      const seen = evidenceOf(request, examined);
      evidence.push(seen);
      return { reply: examined.reply, evidence: seen };
    },
  };
}

/** Returns the failure if nothing can be learned now: no reply came, or the reply speaks of the account. */
export function failureOf(reply: UnreadReply): FailedReply | undefined {
  if (reply.kind === 'ok' || reply.kind === 'refused') return undefined;
  if (reply.kind !== 'unknown') return reply;
  return reply.answer === undefined || reply.answer.httpStatus >= 500 ? { kind: 'unknown', why: reply.why } : undefined;
}

const unknownId = () => `order-sync-probe-${randomUUID()}`;

const DOCUMENTED = 'the documented 404: nothing to set';
const LONGEST_SHOWN = 160;

export function shown({ status, body, why }: Evidence): string {
  if (status === null) return `no answer: ${why}`;
  const text = body.trim();
  if (text === '') return `${status}, empty`;
  return `${status} ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)} …` : text}`;
}

/** Clocks may differ by this much; the Date header has whole seconds. */
const SKEW_MS = 2_000;

/** Finds out how a look-up (§4.11) shows that there is no order. Asks for two unknown ids, one of them twice. */
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
  if (found === undefined) {
    return row(question, seen, 'no setting can name it: ask the exchange how it says that there is no order', ODD);
  }
  const now = isAbsent('likely') ? 'likely absence, after which nothing is sent again' : 'no answer at all';
  const alike = found.isShared ? '; an address that does not exist is answered alike' : '';
  const follows = `without a setting ${now}; with it documented absence: set it once the exchange confirms it${alike}`;
  const setting = { path: 'exchange.absence', value: [found.shape] };
  return row(question, seen, follows, { isOdd: found.isShared, setting });
}

function clockRow(evidence: Evidence | undefined): ProbeRow {
  const question = 'the clock of the exchange, beside ours';
  const date = Date.parse(evidence?.headers['date'] ?? '');
  if (evidence === undefined || Number.isNaN(date)) {
    return row(question, 'no Date header', 'order-sync learns it from records that show it');
  }
  const aheadMs = date - Date.parse(evidence.askedAt) - evidence.tookMs / 2;
  const isOdd = Math.abs(aheadMs) > SKEW_MS + evidence.tookMs / 2;
  if (!isOdd) return row(question, 'the same, within 2 s', 'nothing to set');
  const seen = `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  return row(question, seen, 'find out which of the two is wrong; ours should follow NTP', ODD);
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

/** Finds out how the exchange refuses a key. Asks with an invented key, which has nothing of the real key. */
export async function probeKey(asking: Asking): Promise<Probed> {
  const request = { ...PROBE_REQUESTS.order(unknownId()), headers: { 'x-api-key': unknownId() } };
  const { reply, evidence } = await asking.ask(request);
  const question = 'a wrong key (§5)';
  if (reply.kind === 'key-refused') return [row(question, shown(evidence), '401 as documented: nothing to set')];
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
