import type { WatchedRequest } from '../../../exchange/watch.ts';
import { overdueOf, type Activities, type ActivityListener } from '../../../flows/pass/activity.ts';
import { NewestTimes, timesOf } from '../../../flows/pass/newest-times.ts';
import type { ExchangeFacts, OperationFacts } from '../../../reports/dashboard/facts.ts';

type AccountTimes = Map<string, { readonly times: NewestTimes; failed: number }>;

/** How long requests take, of each account that this process drives. */
export class Latencies implements ActivityListener {
  readonly #activities: Activities;
  readonly #byAccount = new Map<string, AccountTimes>();

  constructor(activities: Activities) {
    this.#activities = activities;
    activities.listen(this);
  }

  onRequest(account: string, { operation, outcome, tookMs }: WatchedRequest): void {
    const operations = this.#of(account);
    const known = operations.get(operation) ?? { times: new NewestTimes(), failed: 0 };
    operations.set(operation, known);
    known.times.add(tookMs);
    if (outcome === 'unknown' || outcome === 'not-sent') known.failed += 1;
  }

  /** What is known of accounts together. Null where this process drives none of them. */
  facts(isMeant: (account: string) => boolean): Omit<ExchangeFacts, 'rate'> | null {
    const activities = [...this.#activities.all].filter(({ account }) => isMeant(account));
    if (activities.length === 0) return null;
    const times = activities.flatMap(({ account }) => this.#byAccount.get(account) ?? []);
    return {
      lastAnswerAt: newestOf(activities.map(({ answeredAt }) => answeredAt)),
      inFlight: activities.reduce((sum, { inFlight }) => sum + inFlight, 0),
      operations: operationsOf(times),
      detection: timesOf(activities.map(({ seenLate }) => seenLate)),
      overdue: overdueOf(activities),
    };
  }

  #of(account: string): AccountTimes {
    const known = this.#byAccount.get(account);
    if (known !== undefined) return known;
    const made: AccountTimes = new Map();
    this.#byAccount.set(account, made);
    return made;
  }
}

function operationsOf(times: readonly AccountTimes[]): readonly OperationFacts[] {
  const groups = Map.groupBy(
    times.flatMap((operations) => [...operations]),
    ([operation]) => operation,
  );
  const facts = [...groups].map(([operation, same]) => ({
    operation,
    failed: same.reduce((sum, [, { failed }]) => sum + failed, 0),
    ...timesOf(same.map(([, one]) => one.times)),
  }));
  return facts.toSorted((a, b) => b.count - a.count);
}

function newestOf(times: readonly (Date | undefined)[]): string | null {
  const known = times.filter((time) => time !== undefined).map((time) => time.toISOString());
  return known.toSorted().at(-1) ?? null;
}
