import { randomUUID } from 'node:crypto';
import { commonAbsenceShape } from '../../exchange/absence.ts';
import { type Evidence, type Examined, PROBE_REQUESTS } from '../../exchange/examine.ts';
import { readLookup } from '../../exchange/orders.ts';
import { type FailedReply, type UnreadReply, answerOf } from '../../exchange/reply.ts';
import type { HttpRequest } from '../../exchange/transport.ts';
import type { FlowDeps } from '../pass/deps.ts';

/** The parts of a probe, each of one request or few. Only `order` and `repeat` make anything. */
export const PROBE_STEPS = ['absence', 'ids', 'key', 'order', 'repeat', 'rate'] as const;
export type ProbeStep = (typeof PROBE_STEPS)[number];

/** What the exchange does about a point that the document leaves open. */
export interface ProbeRow {
  readonly question: string;
  readonly seen: string;
  /** What order-sync does about it, and what is left to a person. */
  readonly follows: string;
  readonly setting?: { readonly path: string; readonly value: unknown };
  /** A person should look at it. */
  readonly isOdd: boolean;
}

export type Probed =
  | { readonly kind: 'ok'; readonly rows: readonly ProbeRow[]; readonly evidence: readonly Evidence[] }
  /** Nothing was asked. */
  | { readonly kind: 'invalid'; readonly message: string }
  /** Nothing can be learned now. */
  | { readonly kind: 'failed'; readonly reply: FailedReply };

export class Asking {
  readonly evidence: Evidence[] = [];
  readonly #deps: Pick<FlowDeps, 'exchange'>;
  readonly #signal: AbortSignal | undefined;

  constructor(deps: Pick<FlowDeps, 'exchange'>, signal: AbortSignal | undefined) {
    this.#deps = deps;
    this.#signal = signal;
  }

  async ask(request: HttpRequest, enough?: AbortSignal): Promise<Examined> {
    const signals = [this.#signal, enough].filter((signal) => signal !== undefined);
    const examined = await this.#deps.exchange.examine(request, AbortSignal.any(signals));
    this.evidence.push(examined.evidence);
    return examined;
  }

  found(...rows: ProbeRow[]): Probed {
    return { kind: 'ok', rows, evidence: this.evidence };
  }
}

/** The reply where it says that nothing can be learned now: none came, or it speaks of the account. */
export function failureOf(reply: UnreadReply): FailedReply | undefined {
  if (reply.kind === 'ok' || reply.kind === 'refused') return undefined;
  if (reply.kind !== 'unknown') return reply;
  return reply.answer === undefined || reply.answer.httpStatus >= 500 ? { kind: 'unknown', why: reply.why } : undefined;
}

function unknownId(): string {
  return `order-sync-probe-${randomUUID()}`;
}

const LONGEST_SHOWN = 160;

export function shown({ status, body, why }: Evidence): string {
  if (status === null) return `no answer: ${why}`;
  const text = body.trim();
  if (text === '') return `${status}, empty`;
  return `${status} ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)} …` : text}`;
}

/** Clocks may differ by this much; the Date header has whole seconds. */
const SKEW_MS = 2_000;

/** How a look-up (§4.11) says that there is no order, asked about two ids that nobody has, one of them twice. */
export async function probeAbsence(asking: Asking): Promise<Probed> {
  const [one, other] = [unknownId(), unknownId()];
  const lookups: { examined: Examined; externalOrderId: string }[] = [];
  for (const externalOrderId of [one, other, one]) {
    const examined = await asking.ask(PROBE_REQUESTS.order(externalOrderId));
    const reply = failureOf(examined.reply);
    if (reply !== undefined) return { kind: 'failed', reply };
    lookups.push({ examined, externalOrderId });
  }
  const nothing = await asking.ask(PROBE_REQUESTS.nothing(unknownId()));
  const replies = lookups.map(({ examined: { reply }, externalOrderId }) => ({ reply, externalOrderId }));
  const [evidence] = asking.evidence;
  const seen = evidence === undefined ? '' : shown(evidence);
  const found = commonAbsenceShape(
    replies,
    [answerOf(nothing.reply)].filter((answer) => answer !== undefined),
  );
  const read = replies.map(({ reply, externalOrderId }) => readLookup(reply, externalOrderId, { absence: [] }));
  return asking.found(absenceRow(seen, read, found), clockRow(evidence));
}

function absenceRow(
  seen: string,
  read: readonly ReturnType<typeof readLookup>[],
  found: ReturnType<typeof commonAbsenceShape>,
): ProbeRow {
  const row = { question: 'a look-up of an id that no order has (§4.11)', seen, isOdd: false };
  const isAbsent = (evidence: 'documented' | 'likely') =>
    read.every((answer) => answer.kind === 'absent' && answer.evidence === evidence);
  if (isAbsent('documented')) return { ...row, follows: 'the documented 404: nothing to set' };
  if (found === undefined) {
    return {
      ...row,
      isOdd: true,
      follows: 'no setting can name it: ask the exchange how it says that there is no order',
    };
  }
  const now = isAbsent('likely') ? 'likely absence, after which nothing is sent again' : 'no answer at all';
  const alike = found.isShared ? '; an address that does not exist is answered alike' : '';
  return {
    ...row,
    isOdd: found.isShared,
    follows: `without a setting ${now}; with it documented absence: set it once the exchange confirms it${alike}`,
    setting: { path: 'exchange.absence', value: [found.shape] },
  };
}

function clockRow(evidence: Evidence | undefined): ProbeRow {
  const question = 'the clock of the exchange, beside ours';
  const date = Date.parse(evidence?.headers['date'] ?? '');
  if (evidence === undefined || Number.isNaN(date)) {
    return { question, seen: 'no Date header', follows: 'order-sync notes it where records show it', isOdd: false };
  }
  const aheadMs = date - Date.parse(evidence.askedAt) - evidence.tookMs / 2;
  const isOdd = Math.abs(aheadMs) > SKEW_MS + evidence.tookMs / 2;
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const seen = isOdd ? `${seconds} s ${aheadMs > 0 ? 'ahead' : 'behind'}` : 'the same, within 2 s';
  const follows = isOdd ? 'find out which of the two is wrong; ours should follow NTP' : 'nothing to set';
  return { question, seen, follows, isOdd };
}

/** How unknown pre-orders (§4.10) and links (§4.3) are answered. */
export async function probeIds(asking: Asking): Promise<Probed> {
  const rows: ProbeRow[] = [];
  for (const [question, request] of [
    ['a pre-order with an id that none has (§4.10)', PROBE_REQUESTS.preOrder(unknownId())],
    ['a link with an id that none has (§4.3)', PROBE_REQUESTS.link(unknownId())],
  ] as const) {
    const { reply, evidence } = await asking.ask(request);
    const failure = evidence.status === null ? failureOf(reply) : undefined;
    if (failure !== undefined) return { kind: 'failed', reply: failure };
    const isDocumented = reply.kind === 'refused' && reply.httpStatus === 404;
    const follows = isDocumented ? 'the documented 404: nothing to set' : 'taken for no answer; no setting changes it';
    rows.push({ question, seen: shown(evidence), follows, isOdd: !isDocumented });
  }
  return asking.found(...rows);
}

/** How a key is refused, asked with one that is made up: nothing of the real one goes into it. */
export async function probeKey(asking: Asking): Promise<Probed> {
  const request = { ...PROBE_REQUESTS.order(unknownId()), headers: { 'x-api-key': unknownId() } };
  const { reply, evidence } = await asking.ask(request);
  const row = { question: 'a wrong key (§5)', seen: shown(evidence) };
  if (reply.kind === 'key-refused')
    return asking.found({ ...row, follows: '401 as documented: nothing to set', isOdd: false });
  const failure = failureOf(reply);
  if (failure !== undefined) return { kind: 'failed', reply: failure };
  const status = evidence.status ?? 0;
  const follows =
    status >= 200 && status < 300
      ? 'the exchange takes any key here: tell it'
      : 'no refusal of the key: order-sync would not notice one that has expired; watch for orders that do not move';
  return asking.found({ ...row, follows, isOdd: true });
}

/** Whether so many requests at once, which the settings allow, are answered. It ends with the first 429. */
export async function probeRate(asking: Asking, requests: number): Promise<Probed> {
  const enough = new AbortController();
  await Promise.all(
    Array.from({ length: requests }, async () => {
      const { reply } = await asking.ask(PROBE_REQUESTS.order(unknownId()), enough.signal);
      if (reply.kind === 'rate-limited') enough.abort();
    }),
  );
  const limited = asking.evidence.filter(({ status }) => status === 429);
  const answered = asking.evidence.filter(({ status }) => status !== null && status !== 429).length;
  const row = { question: `${requests} look-ups at once, within exchange.rate (§8)` };
  if (limited.length === 0) {
    const seen = `${answered} answered, no 429`;
    return asking.found({ ...row, seen, follows: 'no limit below yours was met', isOdd: answered < requests });
  }
  const wait = limited.map(({ headers }) => headers['retry-after']).find((value) => value !== undefined);
  return asking.found({
    ...row,
    seen: `${answered} answered, then 429, ${wait === undefined ? 'no Retry-After' : `Retry-After: ${wait}`}`,
    follows: `the limit of the exchange is below yours${wait === undefined ? '; without Retry-After 5 s are waited' : ''}`,
    setting: { path: 'exchange.rate.requests', value: Math.max(1, answered) },
    isOdd: true,
  });
}
