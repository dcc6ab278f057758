import { exchangeByAccount } from '../../../config/config.ts';
import { after } from '../../../domain/instant.ts';
import { FOLLOWED_STATES } from '../../../domain/orders/states.ts';
import {
  AGE_LIMITS_MS,
  type ActivityFacts,
  type DashboardFacts,
  type Hours,
  type MoneyPeriod,
} from '../../../reports/dashboard/facts.ts';
import { rateUse } from '../../../flows/pass/rate-use.ts';
import { readingOf } from '../../../flows/reports/status.ts';
import { currencyOfRow } from '../../../reports/reconciliation/rows.ts';
import { problemsOf } from '../../../reports/status/problems.ts';
import { listFindings } from '../../../store/listed-findings.ts';
import { readOverview } from '../../../store/overview/overview.ts';
import {
  countAges,
  countHours,
  recentParts,
  type ByHour,
  type CountedAges,
  type CountedHours,
} from '../../../store/overview/recent.ts';
import { readProcess } from '../readiness.ts';
import { shared, type Fresh } from '../readings.ts';
import type { OpsPages } from '../routes.ts';
import { Latencies } from './latencies.ts';

/** For so long a reading is shown to all who ask. What takes longer to read is shown for longer. */
const FRESH_MS: Fresh = { least: 1_500, most: 10_000, timesItTook: 5 };
const ADDED_UP_MS: Fresh = { least: 20_000, most: 60_000, timesItTook: 5 };
/** Accounts are added up, and may be chosen, no more than so many. */
const MOST_ADDED_UP = 8;
const MOST_CHOSEN = 500;
const FINDINGS = 10;
const DAY_MS = 86_400_000;

/** Reads what the dashboard shows. All viewers share what was read a moment ago. */
export class DashboardReader {
  readonly accounts: readonly string[];
  readonly #deps: OpsPages;
  readonly #latencies: Latencies;
  /** What reads an account, by its name; all of them by ''. */
  readonly #facts = new Map<string, () => Promise<DashboardFacts>>();
  readonly #activity = new Map<string, () => Promise<ActivityFacts>>();

  constructor(deps: OpsPages) {
    this.#deps = deps;
    this.accounts = deps.config.accounts.map(({ name }) => name);
    this.#latencies = new Latencies(deps.activities);
  }

  /** What is shown of an account, or of all where none is named. */
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
    const { endpoints } = config.webhooks;
    const overview = await readOverview(store.db, { account, endpoints, now });
    const { value: disk } = await readings.disk();
    const process = await readProcess(this.#deps, disk);
    const reading = { ...readingOf(this.#deps, account, overview), process };
    const shown = account === undefined ? this.accounts : [account];
    const isAddedUp = shown.length <= MOST_ADDED_UP;
    const listed = isAddedUp
      ? await listFindings(store.db, { account, status: 'open', limit: FINDINGS })
      : { rows: [] };
    const activity = isAddedUp ? await this.#readActivity(account, shown) : null;
    return {
      at: overview.asOf,
      overview,
      problems: problemsOf(reading),
      account,
      accounts: this.accounts.slice(0, MOST_CHOSEN),
      newestFindings: listed.rows.map((row) => ({
        account: row.account,
        class: row.class,
        severity: row.severity,
        externalOrderId: row.external_order_id,
        expected: row.expected,
        actual: row.actual,
        firstSeenAt: row.first_seen_at,
      })),
      exchange: this.#exchange(account),
      database: {
        bytes: disk?.databaseBytes ?? null,
        readMs: clock.monotonic() - begun,
      },
      activity,
    };
  }

  #exchange(account: string | undefined): DashboardFacts['exchange'] {
    const { config } = this.#deps;
    const facts = this.#latencies.facts((name) => account === undefined || name === account);
    return facts && { ...facts, rate: rateUse(this.#deps.activities, config, account) };
  }

  async #addUp(accounts: readonly string[]): Promise<ActivityFacts> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    const day = now.toISOString().slice(0, 10);
    const times = AGE_LIMITS_MS.map((limit) => after(now, -limit).toISOString());
    const [hours, ages]: [Hours[], CountedAges[]] = [[], []];
    for (const account of accounts) {
      hours.push(hoursOf(day, await countHours(store.db, { account, from: `${day}T00:00:00.000Z` })));
      ages.push(await countAges(store.db, account, times));
    }
    const periods = [
      ['Today', `${day}T00:00:00.000Z`],
      ['The last 7 days', after(now, -7 * DAY_MS).toISOString()],
    ] as const;
    const money: MoneyPeriod[] = [];
    for (const [title, from] of periods) money.push(await this.#money(title, accounts, from));
    return { hours: sumOfHours(day, hours), money, ageing: ageingOf(ages) };
  }

  async #money(title: string, accounts: readonly string[], from: string): Promise<MoneyPeriod> {
    const { store, config } = this.#deps;
    const settingsOf = exchangeByAccount(config);
    const read = [];
    for (const account of accounts) read.push({ account, ...(await recentParts(store, { account, from })) });
    const parts = read.flatMap(({ account, parts: of }) =>
      of.map((part) => ({ ...part, currency: currencyOfRow(part, settingsOf(account)) })),
    );
    const cuts = read.flatMap(({ cutAt }) => (cutAt === null ? [] : [cutAt]));
    return { title, parts, cutAt: cuts.toSorted().at(-1) ?? null };
  }
}

/** What `made` gives, once an account. */
function known<Value>(all: Map<string, Value>, account = '', made: () => Value): Value {
  const value = all.get(account) ?? made();
  all.set(account, value);
  return value;
}

function hoursOf(day: string, { cutAt, ...counts }: CountedHours): Hours {
  const list = (of: ByHour) =>
    Array.from({ length: 24 }, (_, hour) => of.get(`${day}T${String(hour).padStart(2, '0')}`) ?? 0);
  return {
    day,
    inserted: list(counts.inserted),
    accepted: list(counts.accepted),
    final: list(counts.final),
    since: cutAt,
  };
}

function sumOfHours(day: string, all: readonly Hours[]): Hours {
  const sum = (key: 'inserted' | 'accepted' | 'final') =>
    Array.from({ length: 24 }, (_, hour) => all.reduce((total, one) => total + (one[key][hour] ?? 0), 0));
  const since =
    all
      .flatMap((one) => (one.since === null ? [] : [one.since]))
      .toSorted()
      .at(-1) ?? null;
  return { day, inserted: sum('inserted'), accepted: sum('accepted'), final: sum('final'), since };
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
