import type { WatchedRequest } from '../../../exchange/watch.ts';
import type { Activities, ActivityListener } from '../../../flows/pass/activity.ts';
import type { ExchangeFacts, OperationFacts, Times } from '../../../reports/dashboard/facts.ts';

/** So many of the newest times are kept, of each kind. */
const KEPT = 200;

/** The newest times of a kind, and how many there were. */
class Newest {
  readonly #times = new Float32Array(KEPT);
  count = 0;

  add(ms: number): void {
    this.#times[this.count % KEPT] = ms;
    this.count += 1;
  }

  get all(): Float32Array {
    return this.#times.subarray(0, Math.min(this.count, KEPT));
  }
}

interface AccountTimes {
  readonly operations: Map<string, { readonly times: Newest; failed: number }>;
  readonly changes: Newest;
}

/** How long requests take and how late changes are seen, of each account that this process drives. */
export class Latencies implements ActivityListener {
  readonly #activities: Activities;
  readonly #byAccount = new Map<string, AccountTimes>();

  constructor(activities: Activities) {
    this.#activities = activities;
    activities.listen(this);
  }

  onRequest(account: string, { operation, outcome, tookMs }: WatchedRequest): void {
    const { operations } = this.#of(account);
    const known = operations.get(operation) ?? { times: new Newest(), failed: 0 };
    operations.set(operation, known);
    known.times.add(tookMs);
    if (outcome === 'unknown' || outcome === 'not-sent') known.failed += 1;
  }

  onChange(account: string, lateMs: number): void {
    this.#of(account).changes.add(lateMs);
  }

  /** What is known of accounts together. Null where this process drives none of them. */
  facts(isMeant: (account: string) => boolean): Omit<ExchangeFacts, 'outOfReach' | 'rate'> | null {
    const activities = [...this.#activities.all].filter(({ account }) => isMeant(account));
    if (activities.length === 0) return null;
    const times = activities.flatMap(({ account }) => this.#byAccount.get(account) ?? []);
    return {
      waiting: activities.flatMap(({ account, passes }) =>
        [...passes].flatMap(([pass, { wantedSince: since }]) =>
          since === undefined ? [] : [{ account, pass, since: since.toISOString() }],
        ),
      ),
      lastAnswerAt: newestOf(activities.map(({ answeredAt }) => answeredAt)),
      lastPassAt: newestOf(activities.flatMap(({ passes }) => [...passes.values()].map(({ goodAt }) => goodAt))),
      inFlight: activities.reduce((sum, { inFlight }) => sum + inFlight, 0),
      operations: operationsOf(times),
      detection: timesOf(times.map(({ changes }) => changes)),
    };
  }

  #of(account: string): AccountTimes {
    const known = this.#byAccount.get(account);
    if (known !== undefined) return known;
    const made = { operations: new Map(), changes: new Newest() };
    this.#byAccount.set(account, made);
    return made;
  }
}

function operationsOf(times: readonly AccountTimes[]): readonly OperationFacts[] {
  const groups = Map.groupBy(
    times.flatMap(({ operations }) => [...operations]),
    ([operation]) => operation,
  );
  const facts = [...groups].map(([operation, same]) => ({
    operation,
    failed: same.reduce((sum, [, { failed }]) => sum + failed, 0),
    ...timesOf(same.map(([, one]) => one.times)),
  }));
  return facts.toSorted((a, b) => b.count - a.count);
}

function timesOf(parts: readonly Newest[]): Times {
  const sorted = parts.flatMap(({ all }) => [...all]).toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { count: parts.reduce((sum, { count }) => sum + count, 0), p50Ms: at(0.5), p99Ms: at(0.99) };
}

function newestOf(times: readonly (Date | undefined)[]): string | null {
  const known = times.filter((time) => time !== undefined).map((time) => time.toISOString());
  return known.toSorted().at(-1) ?? null;
}
