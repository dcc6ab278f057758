import { sumOfDecimals } from '../../reports/reconciliation/totals.ts';
import { exchangeByAccount } from '../../../settings/config.ts';
import { decidingAdvice } from '../../../accounts/rules/fail-over.ts';
import { readFailOvers } from '../../../store/tables/fail-overs.ts';
import { isLoopback } from '../../../settings/values.ts';
import { webhooksSettings } from '../../webhooks/settings.ts';
import { capitalized, sumOf } from '../../../base/words.ts';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import type { Database, Snapshot } from '../../../store/port.ts';
import { feedEventOf } from '../../feed/event.ts';
import { newestEvents } from '../../feed/tables/events.ts';
import { askedOf, lookupFacts } from '../activity.ts';
import { readingOf } from '../status/read-status.ts';
import type { AccountCounts, Overview } from '../status/status.ts';
import { MOVES, RANGES } from './facts.ts';
import type { ActivityFacts, DashboardFacts, ProgramFacts, RangeName, Stake, Trouble } from './facts.ts';
import { troublesOf } from './front/troubles.ts';
import { problemsOf } from '../status/problems.ts';
import { listFindings } from '../../operate/tables/listed-findings.ts';
import { adviceOn } from '../../reports/story/story.ts';
import { readEvidence } from '../../reports/tables/story.ts';
import { currencyOfRow, type AmountRow } from '../../reports/reconciliation/rows.ts';
import { moneyGroup } from '../../reports/summary.ts';
import { MOST_AT_STAKE, sumsAtStake, type Concerned } from '../tables/at-stake.ts';
import { readOverview } from '../tables/overview.ts';
import { countMoves, recentSums, type CountedMoves } from '../tables/recent.ts';
import { readProcess } from '../ops/readiness.ts';
import { shared, type Fresh, type OpsPages } from '../ops/readings.ts';

/** How long a reading is shared, in ms. A slow reading is shared for longer. */
const FRESH_MS: Fresh = { least: 1_500, most: 30_000, timesItTook: 20 };
const MOST_ADDED_UP = 8;
/** The findings of a class whose orders are read, for advice that knows what a person has decided. */
const MOST_ADVISED = 10;
const MOST_CHOSEN = 500;
const NEWEST = 200;

export class DashboardReader {
  readonly accounts: readonly string[];
  readonly #deps: OpsPages;
  readonly #facts = new Map<string, () => Promise<DashboardFacts>>();

  constructor(deps: OpsPages) {
    this.#deps = deps;
    this.accounts = deps.config.accounts.map(({ name }) => name);
  }

  async read(account: string | undefined, range: RangeName): Promise<DashboardFacts> {
    const name = `${range} ${account ?? ''}`;
    const read = this.#facts.get(name) ?? shared(this.#deps.clock, () => this.#read(account, range), FRESH_MS);
    this.#facts.set(name, read);
    return await read();
  }

  async #read(account: string | undefined, range: RangeName): Promise<DashboardFacts> {
    const { config, clock, store, readings } = this.#deps;
    if (!store.isInPlace()) throw new Error('the file of the database was moved, deleted or replaced');
    const { value: disk } = await readings.disk();
    const process = await readProcess(this.#deps, disk);
    const begun = clock.monotonic();
    await using snapshot = await store.snapshot();
    const [{ db }, now, exchange] = [snapshot, clock.now(), this.#exchange(account)];
    const { webhooks } = webhooksSettings.of(config);
    const overview = await readOverview(db, { account, ...webhooks, drivenAccounts: config.accounts, now });
    const reading = { ...readingOf(this.#deps, account, overview), process };
    const shown = account === undefined ? this.accounts : [account];
    const isAddedUp = shown.length <= MOST_ADDED_UP;
    const weigh = async (trouble: Trouble) => {
      const { concerned } = trouble;
      if (trouble.code === 'decided') return { ...trouble, advice: '' };
      if (concerned === undefined || !isAddedUp) return trouble;
      // The money of an unknown outcome is counted with the state of its order, until a person decides.
      const isCounted = 'class' in concerned && concerned.class === 'CREATE_UNKNOWN';
      const stake = isCounted ? { amounts: [], isCut: false } : await this.#stakeOf(db, overview, concerned);
      if ('state' in concerned || trouble.count > MOST_ADVISED) return { ...trouble, stake };
      return { ...trouble, stake, advice: await adviceFor(snapshot, account, concerned.class) };
    };
    return {
      at: overview.asOf,
      account,
      accounts: this.accounts.slice(0, MOST_CHOSEN),
      range,
      program: programFacts(this.#deps, account),
      overview,
      troubles: await Promise.all(troublesOf(problemsOf(reading), overview).map(weigh)),
      newest: (await newestEvents(db, account, NEWEST)).map(feedEventOf),
      exchange,
      activity: isAddedUp ? await this.#addUp(db, shown, stepsOf(range, now)) : null,
      database: { bytes: disk?.databaseBytes ?? null, readMs: clock.monotonic() - begun },
    };
  }

  #exchange(account: string | undefined): DashboardFacts['exchange'] {
    const { activities, config } = this.#deps;
    const asked = askedOf(activities, account);
    if (asked.length === 0) return null;
    return {
      lastAnswerAt: newestOf(asked.map(({ answeredAt }) => answeredAt?.toISOString() ?? null)),
      inFlight: sumOf(asked, ({ inFlight }) => inFlight),
      ...lookupFacts(activities, config, account),
    };
  }

  async #stakeOf(db: Database, { accounts }: Overview, concerned: Concerned): Promise<Stake> {
    const settingsOf = exchangeByAccount(this.#deps.config);
    const numberOf = ({ orders, findings }: AccountCounts) =>
      ('state' in concerned ? orders[concerned.state] : findings[concerned.class]) ?? 0;
    const having = accounts.filter((counts) => numberOf(counts) > 0);
    const sums = await Array.fromAsync(having.slice(0, MOST_ADDED_UP), async ({ account }) => {
      const currencyOf = (row: AmountRow) => currencyOfRow(row, settingsOf(account)) ?? 'of a currency not shown';
      const parts = await sumsAtStake(db, account, concerned);
      return parts.map((part) => ({ currency: currencyOf(part), asset: part.asset }));
    });
    const amounts = [...Map.groupBy(sums.flat(), ({ currency }) => currency)].map(([currency, same]) => {
      return { currency, amount: sumOfDecimals(same.map(({ asset }) => asset)) };
    });
    const isCut = having.length > MOST_ADDED_UP || having.some((counts) => numberOf(counts) > MOST_AT_STAKE);
    return { amounts: amounts.filter(({ amount }) => amount !== '0'), isCut };
  }

  async #addUp(db: Database, accounts: readonly string[], { starts, digits }: Steps): Promise<ActivityFacts> {
    const settingsOf = exchangeByAccount(this.#deps.config);
    const from = starts[0] ?? '';
    const counted = await Array.fromAsync(accounts, (account) => countMoves(db, account, { from, digits }));
    const sums = await Array.fromAsync(accounts, (account) => recentSums(db, account, from));
    return {
      starts,
      moves: movesOf({ starts, digits }, counted),
      movesSince: newestOf(counted.map(({ cutAt }) => cutAt)),
      money: sums.flatMap(({ parts }) => parts.map((part) => moneyGroup(part, settingsOf(part.account)))),
      moneySince: newestOf(sums.map(({ cutAt }) => cutAt)),
    };
  }
}

export function programFacts({ version, startedAt, config }: OpsPages, account: string | undefined): ProgramFacts {
  const names = account === undefined ? config.accounts.map(({ name }) => name) : [account];
  const addresses = names.flatMap((name) => exchangeByAccount(config)(name).baseUrl ?? []);
  const kinds = addresses.map((url) => (isLoopback(new URL(url).hostname) ? 'sandbox' : 'live'));
  return { version, startedAt, exchange: [...new Set(kinds)].join(' and ') };
}

async function adviceFor(snapshot: Snapshot, account: string | undefined, name: string): Promise<string | undefined> {
  const open = { account, class: name as FindingClassName, status: 'undecided', limit: MOST_ADVISED } as const;
  const advice = new Set<string>();
  for (const finding of (await listFindings(snapshot.db, open)).rows) {
    const failOvers = name === 'FAIL_OVER' ? await readFailOvers(snapshot.db, finding.account) : [];
    const about = failOvers.find(({ id }) => finding.expected?.endsWith(` ${id}`));
    if (about !== undefined) advice.add(`${capitalized(decidingAdvice(finding.account, about))}.`);
    const evidence = await readEvidence(snapshot, finding.account, finding.external_order_id ?? '');
    if (evidence !== undefined) advice.add(adviceOn(finding, evidence));
  }
  return advice.size === 1 ? [...advice][0] : undefined;
}

type Steps = ReturnType<typeof stepsOf>;

function stepsOf(range: RangeName, now: Date) {
  const { steps, stepMs, digits } = RANGES[range];
  const last = Math.floor(now.getTime() / stepMs) * stepMs;
  const starts = Array.from({ length: steps }, (_, index) => new Date(last - (steps - 1 - index) * stepMs));
  return { starts: starts.map((start) => start.toISOString()), digits };
}

function movesOf({ starts, digits }: Steps, counted: readonly CountedMoves[]): ActivityFacts['moves'] {
  const moves = MOVES.map((move) => [move, starts.map(() => 0)] as const);
  for (const { orders } of counted) {
    for (const [key, number] of orders) {
      const [move, time = ''] = key.split(' ');
      const place = starts.findLastIndex((start) => start.slice(0, digits) <= time);
      const sums = moves.find(([name]) => name === move)?.[1];
      if (sums?.[place] !== undefined) sums[place] += number;
    }
  }
  return Object.fromEntries(moves) as Record<(typeof MOVES)[number], number[]>;
}

function newestOf(times: readonly (string | null)[]): string | null {
  return times.reduce((newest, time) => ((time ?? '') > (newest ?? '') ? time : newest), null);
}
