import { exchangeByAccount } from '../../../settings/config.ts';
import { webhooksSettings } from '../../webhooks/settings.ts';
import { after } from '../../../base/instant.ts';
import { FOLLOWED_STATES } from '../../../orders/rules/states.ts';
import type { RequestEnded } from '../../../exchange/account.ts';
import { NewestTimes, overdueOf, rateUse, timesOf, type Activities } from '../activity.ts';
import { readingOf } from '../status/read-status.ts';
import {
  AGE_LIMITS_MS,
  MOVES,
  type ActivityFacts,
  type DashboardFacts,
  type ExchangeFacts,
  type MoneyPeriod,
  type OperationFacts,
} from './facts.ts';
import { problemsOf } from '../status/problems.ts';
import { moneyGroup, type SummaryPart } from '../../reports/summary.ts';
import { listFindings } from '../../operate/tables/listed-findings.ts';
import { readOverview } from '../tables/overview.ts';
import { countAges, countHours, recentParts, type CountedAges, type CountedHours } from '../tables/recent.ts';
import { readProcess } from '../ops/readiness.ts';
import { shared, type Fresh, type OpsPages } from '../ops/readings.ts';

/** For so long a reading is shown to all who ask. What takes longer to read is shown for longer. */
const FRESH_MS: Fresh = { least: 1_500, most: 10_000, timesItTook: 5 };
const ADDED_UP_MS: Fresh = { least: 20_000, most: 60_000, timesItTook: 5 };
const MOST_ADDED_UP = 8;
const MOST_CHOSEN = 500;
const FINDINGS = 10;
const DAY_MS = 86_400_000;

export class DashboardReader {
  readonly accounts: readonly string[];
  readonly #deps: OpsPages;
  readonly #latencies: Latencies;
  /** The readers of accounts by their names; that of all by ''. */
  readonly #facts = new Map<string, () => Promise<DashboardFacts>>();
  readonly #activity = new Map<string, () => Promise<ActivityFacts>>();

  constructor(deps: OpsPages) {
    this.#deps = deps;
    this.accounts = deps.config.accounts.map(({ name }) => name);
    this.#latencies = new Latencies(deps.activities);
  }

  async read(account: string | undefined): Promise<DashboardFacts> {
    const { clock } = this.#deps;
    return await known(this.#facts, account, () => shared(clock, () => this.#read(account), FRESH_MS))();
  }

  async #readActivity(account: string | undefined, shown: readonly string[]): Promise<ActivityFacts> {
    const { clock } = this.#deps;
    return await known(this.#activity, account, () => shared(clock, () => this.#addUp(shown), ADDED_UP_MS))();
  }

  async #read(account: string | undefined): Promise<DashboardFacts> {
    const { config, clock, store, readings } = this.#deps;
    const [now, begun] = [clock.now(), clock.monotonic()];
    const { endpoints } = webhooksSettings.of(config).webhooks;
    const overview = await readOverview(store.db, { account, endpoints, now });
    const { value: disk } = await readings.disk();
    const process = await readProcess(this.#deps, disk);
    const reading = { ...readingOf(this.#deps, account, overview), process };
    const shown = account === undefined ? this.accounts : [account];
    const isAddedUp = shown.length <= MOST_ADDED_UP;
    const listed = isAddedUp
      ? await listFindings(store.db, { account, status: 'open', limit: FINDINGS })
      : { rows: [] };
    return {
      at: overview.asOf,
      overview,
      problems: problemsOf(reading),
      account,
      accounts: this.accounts.slice(0, MOST_CHOSEN),
      newestFindings: listed.rows.map((row) => ({ ...row })),
      exchange: this.#exchange(account),
      activity: isAddedUp ? await this.#readActivity(account, shown) : null,
      database: { bytes: disk?.databaseBytes ?? null, readMs: clock.monotonic() - begun },
    };
  }

  #exchange(account: string | undefined): DashboardFacts['exchange'] {
    const { config } = this.#deps;
    const facts = this.#latencies.facts((name) => account === undefined || name === account);
    return facts && { ...facts, rate: rateUse(this.#deps.activities, config, account) };
  }

  async #addUp(accounts: readonly string[]): Promise<ActivityFacts> {
    const { store, clock, config } = this.#deps;
    const now = clock.now();
    const day = now.toISOString().slice(0, 10);
    const midnight = `${day}T00:00:00.000Z`;
    const times = AGE_LIMITS_MS.map((limit) => after(now, -limit).toISOString());
    const settingsOf = exchangeByAccount(config);
    const [hours, ages, recent]: [CountedHours[], CountedAges[], RecentMoney[]] = [[], [], []];
    for (const account of accounts) {
      hours.push(await countHours(store.db, account, midnight));
      ages.push(await countAges(store.db, account, times));
      const read = await recentParts(store, account, [midnight, after(now, -7 * DAY_MS).toISOString()]);
      const groupOf = (part: SummaryPart) => moneyGroup(part, settingsOf(account));
      recent.push(...read.map(({ parts, cutAt }, period) => ({ period, parts: parts.map(groupOf), cutAt })));
    }
    return { hours: hoursOf(day, hours), money: moneyOf(recent), ageing: ageingOf(ages) };
  }
}

type RecentMoney = Omit<MoneyPeriod, 'title'> & { readonly period: number };

function moneyOf(recent: readonly RecentMoney[]): readonly MoneyPeriod[] {
  return ['Today', 'The last 7 days'].map((title, period) => {
    const same = recent.filter((one) => one.period === period);
    return { title, parts: same.flatMap(({ parts }) => parts), cutAt: newestOf(same.map(({ cutAt }) => cutAt)) };
  });
}

function known<Value>(all: Map<string, Value>, name = '', make: () => Value): Value {
  const value = all.get(name) ?? make();
  all.set(name, value);
  return value;
}

function hoursOf(day: string, all: readonly CountedHours[]): ActivityFacts['hours'] {
  const places = Array.from({ length: 24 }, (_, hour) => `${day}T${String(hour).padStart(2, '0')}`);
  const sums = MOVES.map((move) => {
    const orders = places.map((hour) => all.reduce((sum, one) => sum + (one.orders.get(`${move} ${hour}`) ?? 0), 0));
    return [move, orders] as const;
  });
  const byMove = Object.fromEntries(sums) as Record<(typeof MOVES)[number], number[]>;
  return { day, ...byMove, since: newestOf(all.map(({ cutAt }) => cutAt)) };
}

function newestOf(times: readonly (string | null)[]): string | null {
  return times.reduce((newest, time) => ((time ?? '') > (newest ?? '') ? time : newest), null);
}

function ageingOf(all: readonly CountedAges[]): ActivityFacts['ageing'] {
  const rows = all.flatMap((one) => one.rows);
  const states = ['sending', ...FOLLOWED_STATES].filter((state) => rows.some((row) => row.state === state));
  return {
    isCut: all.some(({ isCut }) => isCut),
    rows: states.map((state) => ({
      state,
      orders: Array.from({ length: AGE_LIMITS_MS.length + 1 }, (_, place) =>
        rows.filter((row) => row.state === state && row.place === place).reduce((sum, row) => sum + row.orders, 0),
      ),
    })),
  };
}

type AccountTimes = Map<string, { readonly times: NewestTimes; failed: number }>;

class Latencies {
  readonly #activities: Activities;
  readonly #byAccount = new Map<string, AccountTimes>();

  constructor(activities: Activities) {
    this.#activities = activities;
    activities.listen((account, event) => event.kind === 'request.ended' && this.#add(account, event));
  }

  #add(account: string, { operation, outcome, tookMs }: RequestEnded): void {
    const operations = known(this.#byAccount, account, (): AccountTimes => new Map());
    const requests = known(operations, operation, () => ({ times: new NewestTimes(), failed: 0 }));
    requests.times.add(tookMs);
    if (outcome === 'unknown' || outcome === 'not-sent') requests.failed += 1;
  }

  /** Facts about all accounts together. Null if this process owns none of them. */
  facts(isMeant: (account: string) => boolean): Omit<ExchangeFacts, 'rate'> | null {
    const activities = [...this.#activities.all].filter(({ account }) => isMeant(account));
    if (activities.length === 0) return null;
    const times = activities.flatMap(({ account }) => this.#byAccount.get(account) ?? []);
    return {
      lastAnswerAt: newestOf(activities.map(({ answeredAt }) => answeredAt?.toISOString() ?? null)),
      inFlight: activities.reduce((sum, { inFlight }) => sum + inFlight, 0),
      operations: operationsOf(times),
      detection: timesOf(activities.map(({ seenLate }) => seenLate)),
      overdue: overdueOf(activities),
    };
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
