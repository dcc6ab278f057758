import type { Failure } from '../../orders/pass/process-events.ts';

export type IncidentKind = NonNullable<Failure['kind']>;

type Messages = readonly [level: 'warn' | 'error', begun: string, lasting: string, ended: string];

const HOLD_MESSAGES = [
  'requests are held back',
  'requests are still held back',
  'requests are no longer held back',
] as const;
const MESSAGES: Partial<Record<IncidentKind, Messages>> = {
  exchange: ['error', 'the exchange is out of reach', 'the exchange is still out of reach', 'the exchange is back'],
  database: [
    'error',
    'the database cannot be written; nothing is sent until it can',
    'the database still cannot be written',
    'the database can be written again',
  ],
  forbidden: ['error', ...HOLD_MESSAGES],
  'key-refused': [
    'error',
    'the exchange refuses the key',
    'the exchange still refuses the key',
    'the exchange takes the key again',
  ],
};

export function messagesOf(kind: IncidentKind): Messages {
  return MESSAGES[kind] ?? ['warn', ...HOLD_MESSAGES];
}

export type Condition = Readonly<{ kind: IncidentKind; cause: string; lastedMs?: number }>;

export type IncidentNews = ReturnType<typeof newsOf>;

interface Incident {
  readonly kind: IncidentKind;
  readonly firstCause: string;
  cause: string;
  readonly since: number;
  reportedAt: number;
  overAt: number | undefined;
  failures: number;
  allFailures: number;
}

const REMINDER_MS = 60_000;
/** ms. An incident ends when its condition has been absent for this time. */
const SETTLING_MS = 5_000;
/** ms. `key-refused` needs less time, because only requests in flight with the old key can still be refused. */
const KEY_SETTLING_MS = 1_000;
/** The most failures of one message that are logged in a minute. Further failures are only counted. */
const MOST_SHOWN = 50;
const MOST_REMEMBERED = 5_000;
export const OTHER_CAUSES = 'others';

export class IncidentStory {
  readonly #incidents = new Map<IncidentKind, Incident>();
  readonly #shown = new Map<string, { readonly failure: Failure; times: number; latestAt: number }>();
  #shownInMinute = new Map<string, { shown: number; others: number }>();
  #minuteBegan = Number.NEGATIVE_INFINITY;

  observe(conditions: readonly Condition[], now: number): readonly IncidentNews[] {
    const news: IncidentNews[] = [];
    for (const condition of conditions) {
      const known = this.#incidents.get(condition.kind);
      if (known !== undefined) {
        known.overAt = undefined;
        known.cause = condition.cause;
        if (now - known.reportedAt >= REMINDER_MS) news.push(newsOf(known, 'lasting', now));
        continue;
      }
      const { kind, cause, lastedMs = 0 } = condition;
      // Repeated failures from before the incident count as its failures, so that `takeRepeated` omits them.
      const failures = this.#takeShown(kind);
      const counts = { overAt: undefined, failures, allFailures: failures };
      const begun = { kind, firstCause: cause, cause, since: now - lastedMs, reportedAt: now, ...counts };
      this.#incidents.set(kind, begun);
      news.push(newsOf(begun, 'begun', now));
    }
    for (const incident of this.#incidents.values()) {
      if (conditions.some(({ kind }) => kind === incident.kind)) continue;
      if (incident.overAt === undefined) {
        incident.overAt = now;
        news.push(newsOf(incident, 'over', now));
      }
      if (now - incident.overAt >= (incident.kind === 'key-refused' ? KEY_SETTLING_MS : SETTLING_MS))
        news.push(this.#end(incident));
    }
    return news;
  }

  fail(failure: Failure, now: number): boolean {
    const { message, cause, subject = '', kind } = failure;
    const incident = kind && this.explain(kind);
    const isLogged = failure.subject === undefined && (kind === 'database' || incident?.firstCause === cause);
    if (incident !== undefined && isLogged) return false;
    const key = JSON.stringify([message, cause, subject]);
    const known = this.#shown.get(key);
    if (known !== undefined) {
      if (incident === undefined) known.times += 1;
      known.latestAt = now;
      return false;
    }
    const inMinute = this.#shownInMinute.get(message) ?? { shown: 0, others: 0 };
    this.#shownInMinute.set(message, inMinute);
    const isShown = inMinute.shown < MOST_SHOWN;
    if (isShown) {
      inMinute.shown += 1;
      this.#shown.set(key, { failure, times: 0, latestAt: now });
      const [oldest] = this.#shown.keys();
      if (this.#shown.size > MOST_REMEMBERED && oldest !== undefined) this.#shown.delete(oldest);
    } else if (incident === undefined) inMinute.others += 1;
    return isShown;
  }

  explain(kind: IncidentKind): Pick<Incident, 'firstCause'> | undefined {
    const incident = this.#incidents.get(kind);
    if (incident === undefined) return undefined;
    incident.failures += 1;
    incident.allFailures += 1;
    return incident;
  }

  forget(kind: IncidentKind): void {
    this.#incidents.delete(kind);
  }

  /** Returns repeated failures once a minute, else none. Forgets failures without subject after a quiet minute. */
  takeRepeated(now: number) {
    return now - this.#minuteBegan < REMINDER_MS ? [] : this.#takeAll(now);
  }

  close(now: number) {
    const over = [...this.#incidents.values()].filter(({ overAt }) => overAt !== undefined);
    return { ended: over.map((incident) => this.#end(incident)), repeated: this.#takeAll(now) };
  }

  #end(incident: Incident): IncidentNews {
    this.#incidents.delete(incident.kind);
    return { ...newsOf(incident, 'ended', incident.overAt ?? incident.reportedAt), failures: incident.allFailures };
  }

  #takeAll(now: number) {
    const counted = new Map<string, Pick<Failure, 'message' | 'cause'> & { readonly times: number }>();
    const count = (message: string, cause: string, times: number) => {
      const key = JSON.stringify([message, cause]);
      if (times > 0) counted.set(key, { message, cause, times: (counted.get(key)?.times ?? 0) + times });
    };
    for (const [key, shown] of this.#shown) {
      const { message, cause, subject, kind } = shown.failure;
      count(message, cause, shown.times);
      shown.times = 0;
      const isExplained = kind !== undefined && this.#incidents.has(kind);
      if (subject === undefined && !isExplained && now - shown.latestAt >= REMINDER_MS) this.#shown.delete(key);
    }
    for (const [message, { others }] of this.#shownInMinute) count(message, OTHER_CAUSES, others);
    this.#shownInMinute = new Map();
    this.#minuteBegan = now;
    return [...counted.values()];
  }

  #takeShown(kind: IncidentKind): number {
    let failures = 0;
    for (const shown of this.#shown.values()) {
      if (shown.failure.kind !== kind || shown.failure.subject !== undefined) continue;
      failures += shown.times;
      shown.times = 0;
    }
    return failures;
  }
}

function newsOf(incident: Incident, stage: 'begun' | 'lasting' | 'over' | 'ended', now: number) {
  const { kind, cause, since, failures } = incident;
  if (stage !== 'over') {
    incident.reportedAt = now;
    incident.failures = 0;
  }
  return { stage, kind, cause, lastedMs: now - since, failures };
}
