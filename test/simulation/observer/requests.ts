import type { HttpRequest, HttpResponse } from '../../../src/exchange/transport/http.ts';
import { quoted as quotedId } from '../plan/names.ts';
import type { Plan } from '../plan/plan.ts';
import type { Life } from '../scheduler.ts';
import type { PlannedSettings } from '../plan/settings.ts';
import { idsIn, provesAbsence, statusesIn, verdictOf } from './answers.ts';
import { quoted, type Create, type Known, type Knowledge } from './known.ts';

const HOUR_MS = 3_600_000;
const RESEND_NOT_BEFORE_MS = 600_000;
/** So long after a pause the requests that had their turn may still leave. */
const PAUSE_WITHIN_MS = 20_000;

/** The bytes of a process that died may be on their way for so long. */
const LATEST_ARRIVAL_MS = 1_000;

/** The outcome of a request, as its process learns it. */
export interface Ended {
  readonly response?: HttpResponse;
  readonly sent?: 'never' | 'perhaps';
}

/** The outcome of a request, and its create. */
export interface WhatCame {
  readonly ending: Ended;
  readonly create: Create | undefined;
}

/** When requests that count for a limit arrived at the exchange, and left. */
export interface SentRequests {
  readonly arrivals: number[];
  readonly departures: number[];
}

/** Checks what leaves the processes: the rate, pauses, how many at a time, and what may be sent at all. */
export class RequestChecks {
  readonly #plan: Plan;
  readonly #knowledge: Knowledge;
  readonly #stateOf: (id: string) => string | undefined;
  readonly #sent: SentRequests;
  #count = 0;
  readonly #inFlight = new WeakMap<Life, number>();
  #resumedAt = 0;
  #promotedAt = Number.NEGATIVE_INFINITY;
  #limits: Pick<PlannedSettings, 'rate' | 'concurrency'>;
  #mostConcurrency = 0;
  #reloadedAt = Number.NEGATIVE_INFINITY;
  #pause: { readonly kind: string; startedAt: number | undefined } | null = null;

  /** `stateOf` reads the state of an order as it is committed. */
  constructor(
    plan: Plan,
    knowledge: Knowledge,
    stateOf: (id: string) => string | undefined,
    sent: SentRequests = { arrivals: [], departures: [] },
  ) {
    this.#sent = sent;
    this.#plan = plan;
    this.#limits = plan.settings;
    this.#knowledge = knowledge;
    this.#stateOf = stateOf;
  }

  /** How many orders may be sending: an owner before the last reload may have left as many as its limits let. */
  get mostSending(): number {
    return Math.max(this.#mostConcurrency, this.#limits.concurrency) * (this.#plan.shared === null ? 1 : 2);
  }

  /** How many requests have arrived. */
  get count(): number {
    return this.#count;
  }

  /** A person has paused the account. */
  paused(kind: string): void {
    this.#pause = { kind, startedAt: undefined };
  }

  /** A person allows creates again: earlier ones count against no limit any more. */
  resumed(now: number): void {
    this.#pause = null;
    this.#resumedAt = now;
  }

  /** The next process has other limits: those before it kept theirs. */
  reloaded(limits: Pick<PlannedSettings, 'rate' | 'concurrency'>, now: number): void {
    this.#mostConcurrency = Math.max(this.#mostConcurrency, this.#limits.concurrency);
    this.#limits = limits;
    this.#reloadedAt = now + LATEST_ARRIVAL_MS;
  }

  /** A standby was promoted that lacks some of what was sent. */
  promoted(now: number): void {
    this.#promotedAt = now;
  }

  left(request: HttpRequest, id: string, life: Life, now: number): Create | undefined {
    const inFlight = (this.#inFlight.get(life) ?? 0) + 1;
    this.#inFlight.set(life, inFlight);
    // By when they arrive, requests that are paced may come closer together.
    if (this.#plan.settings.rate.mode === 'paced' && this.#plan.shared === null) {
      this.#sent.departures.push(now);
      this.#checkRate(this.#sent.departures, now);
    }
    if (inFlight > this.#limits.concurrency) this.#knowledge.fail('bounded concurrency', `${inFlight} in flight`);
    this.#checkPause(request, id, now);
    return request.method === 'POST' ? this.#createLeft(request, this.#knowledge.of(id), now) : undefined;
  }

  ended({ method }: HttpRequest, id: string, life: Life, { ending, create }: WhatCame): void {
    this.#inFlight.set(life, (this.#inFlight.get(life) ?? 0) - 1);
    const known = this.#knowledge.of(id);
    for (const status of statusesIn(ending)) known.statusesGiven.add(status);
    for (const one of idsIn(ending)) known.idsGiven.add(one);
    if (/"merchant":\{"id":"(?!merchant-1")/.test(ending.response?.body ?? '')) this.#noteOtherMerchant(ending);
    if (method === 'POST') {
      const verdict = verdictOf(ending, this.#plan);
      // An answer after a person's decision reaches a process without the account, which records nothing.
      if (create !== undefined) create.isProvedNotTaken ||= verdict === 'not-taken';
      // A 403 that others are not answered speaks of this order.
      known.wasRefused = verdict === 'refused' || ending.response?.status === 403;
    } else if (provesAbsence(ending, this.#plan)) known.misses += 1;
  }

  arrived(now: number): void {
    this.#count += 1;
    this.#sent.arrivals.push(now);
    if (this.#plan.settings.rate.mode === 'proved') this.#checkRate(this.#sent.arrivals, now);
  }

  /** The first record that is not disputed says whose the account is: it may be one that names another merchant. */
  #noteOtherMerchant({ response }: Ended): void {
    const { disputedBy } = this.#plan.settings;
    const body = response?.body ?? '';
    const isOfFault = body.includes('"merchant":{"id":"other"}');
    // Such a record is older than the first request. The program cannot tell that if the record's date is unreadable.
    const isAgeSeen = disputedBy.includes('age') && body.includes('"creationDate":"');
    if (disputedBy.includes('merchant') && (isOfFault || !isAgeSeen)) this.#knowledge.isMerchantUnclear = true;
  }

  #checkRate(times: readonly number[], now: number): void {
    const { requests, interval } = this.#limits.rate;
    const inWindow = times.filter((at) => at > Math.max(now - interval, this.#reloadedAt));
    if (inWindow.length > requests)
      this.#knowledge.fail('rate kept', `${inWindow.length} requests in ${interval} ms at ${now}`);
  }

  /** Creates of an hour that were taken or may have been; of each order the newest. */
  #checkGuard(now: number): void {
    const { createsPerHour = Infinity } = this.#plan.settings;
    const counted = [...this.#knowledge.all].filter(({ creates, wasRefused }) => {
      const newest = creates.at(-1);
      const isCounted = newest !== undefined && newest.at > Math.max(now - HOUR_MS, this.#resumedAt);
      return isCounted && !newest.isProvedNotTaken && !wasRefused;
    });
    if (counted.length > createsPerHour && this.#plan.clockSet.length === 0)
      this.#knowledge.fail('limits of creates kept', `${counted.length} in an hour, at ${now}`);
  }

  /** A create that was about to leave when the person paused leaves. */
  #checkPause({ method }: HttpRequest, id: string, now: number): void {
    const pause = this.#pause;
    if (pause === null || (method === 'GET' && pause.kind !== 'all-paused')) return;
    pause.startedAt ??= now;
    if (now > pause.startedAt + PAUSE_WITHIN_MS)
      this.#knowledge.fail('a pause is kept', `${method} ${quotedId(this.#plan.account, id)} left`);
  }

  #createLeft({ body }: HttpRequest, known: Known, now: number): Create {
    const state = this.#stateOf(known.order.id);
    if (state !== 'sending') this.#knowledge.fail('intent before send', `${quoted(known)} left while ${state}`);
    const earlier = known.creates.at(-1);
    if (earlier !== undefined && !earlier.isProvedNotTaken) {
      const resends = known.creates.filter(({ isProvedNotTaken }) => !isProvedNotTaken).length;
      const mayResend =
        this.#plan.settings.onUnknown === 'resend' &&
        resends === 1 &&
        known.misses >= 3 &&
        now - earlier.at >= RESEND_NOT_BEFORE_MS &&
        // Of an order that a promoted standby knew nothing of, a look-up proves nothing.
        earlier.at > this.#promotedAt;
      if (!mayResend) this.#knowledge.fail('unknown is never re-sent', `${quoted(known)} left again`);
    }
    const [, asset] = /"asset":([^,}]+)/.exec(body ?? '') ?? [];
    const isSame = asset === known.asset || (known.asset === '1e-7' && asset === '0.0000001');
    if (!isSame) this.#knowledge.fail('amount exact', `${quoted(known)} ${known.asset} left as ${asset}`);
    const create = { at: now, isProvedNotTaken: false };
    known.creates.push(create);
    known.misses = 0;
    known.wasRefused = false;
    this.#checkGuard(now);
    return create;
  }
}
