import { capitalized } from '../../documents/words.ts';
import { sumOfDecimals } from '../../reports/reconciliation/totals.ts';
import { exchangeByAccount, type Config } from '../../../settings/config.ts';
import { decidingAdvice } from '../../../accounts/rules/fail-over.ts';
import { readFailOvers } from '../../../store/tables/fail-overs.ts';
import { isLoopback } from '../../../settings/values.ts';
import { sumOf } from '../../../base/words.ts';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import type { Database, Snapshot } from '../../../store/port.ts';
import { feedEventOf } from '../../feed/event.ts';
import { newestEvents } from '../../feed/tables/events.ts';
import { lookupFacts } from '../activity.ts';
import { readingOf } from '../status/read-status.ts';
import { newestOf, type AccountCounts } from '../status/status.ts';
import { troublesOf, type Trouble } from './front/troubles.ts';
import { problemsOf } from '../status/problems.ts';
import { listFindings } from '../../operate/tables/listed-findings.ts';
import { adviceOn } from '../../reports/story/story.ts';
import { readEvidence } from '../../reports/tables/story.ts';
import { currencyOfRow } from '../../reports/reconciliation/rows.ts';
import { moneyGroup } from '../../reports/summary.ts';
import { overviewFor } from '../tables/overview.ts';
import { countMoves, MOST_AT_STAKE, recentSums, sumsAtStake, type Concerned } from '../tables/sums.ts';
import { readProcess } from '../ops/readiness.ts';
import { shared, type OpsPages } from '../ops/readings.ts';

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

/** Periods to choose from. Times (UTC, ISO 8601) whose first `digits` characters are equal are in the same step. */
export const RANGES = {
  '1h': { name: 'hour', label: '1 hour', steps: 12, stepMs: 5 * MINUTE_MS, step: '5 minutes', digits: 16 },
  '24h': { name: '24 hours', label: '24 hours', steps: 24, stepMs: HOUR_MS, step: 'hour', digits: 13 },
  '7d': { name: '7 days', label: '7 days', steps: 28, stepMs: 6 * HOUR_MS, step: '6 hours', digits: 13 },
} as const;
export type RangeName = keyof typeof RANGES;

/** How long a reading is shared, in ms: 20 times as long as it took, within these limits. */
const FRESH_MS = { least: 1_500, most: 30_000, timesItTook: 20 };
const MOST_ADDED_UP = 8;
/** For a class with more findings than this, the page reads no orders, and shows the advice of the class. */
const MOST_ADVISED = 10;
const MOST_CHOSEN = 500;
const NEWEST = 200;

/** The facts of a dashboard. Orders, findings and events are from one snapshot. Times are UTC, ISO 8601. */
export type DashboardFacts = Awaited<ReturnType<typeof readFacts>>;

export function dashboardReader(deps: OpsPages) {
  const readers = new Map<string, () => Promise<DashboardFacts>>();
  return async (account: string | undefined, range: RangeName): Promise<DashboardFacts> => {
    const name = `${range} ${account ?? ''}`;
    const read = readers.get(name) ?? shared(deps.clock, () => readFacts(deps, account, range), FRESH_MS);
    readers.set(name, read);
    return await read();
  };
}

async function readFacts(deps: OpsPages, account: string | undefined, range: RangeName) {
  const { config, clock, store, readings, activities } = deps;
  if (!store.isInPlace()) throw new Error('the file of the database was moved, deleted or replaced');
  const disk = await readings.disk();
  const process = await readProcess(deps, disk);
  const begun = clock.monotonic();
  await using snapshot = await store.snapshot();
  const { db } = snapshot;
  const now = clock.now();
  const overview = await overviewFor(db, config, account, now);
  const reading = { ...readingOf(deps, account, overview), process };
  const asked = reading.daemon.accounts;
  const exchange = {
    lastAnswerAt: newestOf(asked.map(({ answeredAt }) => answeredAt)),
    inFlight: sumOf(asked, ({ inFlight }) => inFlight),
    ...lookupFacts(activities, config, account),
  };
  const names = config.accounts.map(({ name }) => name);
  const shown = account === undefined ? names : [account];
  const isAddedUp = shown.length <= MOST_ADDED_UP;
  const weigh = async (trouble: Trouble): Promise<Trouble> => {
    const { concerned } = trouble;
    if (trouble.code === 'decided') return { ...trouble, advice: '' };
    if (concerned === undefined || !isAddedUp) return trouble;
    // The problems `unknown` and `held` already count the amounts of these orders.
    const isCounted = 'class' in concerned && concerned.class === 'CREATE_UNKNOWN';
    const stake = isCounted ? { amounts: [], isCut: false } : await stakeOf(config, db, overview.accounts, concerned);
    if ('state' in concerned || trouble.count > MOST_ADVISED) return { ...trouble, stake };
    return { ...trouble, stake, advice: await adviceFor(snapshot, account, concerned.class) };
  };
  return {
    at: overview.asOf,
    account,
    accounts: names.slice(0, MOST_CHOSEN),
    range,
    program: programFacts(deps, account),
    overview,
    troubles: await Promise.all(troublesOf(problemsOf(reading), overview).map(weigh)),
    newest: (await newestEvents(db, account, NEWEST)).map(feedEventOf),
    /** Null if this process has driven none of these accounts since its start. */
    exchange: asked.length === 0 ? null : exchange,
    activity: isAddedUp ? await addUp(config, db, shown, stepsOf(range, now)) : null,
    database: { bytes: disk?.databaseBytes ?? null, readMs: clock.monotonic() - begun },
  };
}

type ReadSince<Part> = (account: string, from: string) => Promise<Part & { readonly cutAt: string | null }>;

/** Reads all accounts again since the newest cut, because numbers since different times must not be added. */
async function sinceOneTime<Part>(read: ReadSince<Part>, accounts: readonly string[], from: string) {
  const parts = await Array.fromAsync(accounts, (account) => read(account, from));
  const since = newestOf(parts.map(({ cutAt }) => cutAt));
  if (since === null || accounts.length === 1) return { parts, since };
  return { parts: await Array.fromAsync(accounts, (account) => read(account, since)), since };
}

type Steps = ReturnType<typeof stepsOf>;

function stepsOf(range: RangeName, now: Date) {
  const { steps, stepMs, digits } = RANGES[range];
  const last = Math.floor(now.getTime() / stepMs) * stepMs;
  const starts = Array.from({ length: steps }, (_, index) => new Date(last - (steps - 1 - index) * stepMs));
  return { starts: starts.map((start) => start.toISOString()), digits };
}

async function addUp(config: Config, db: Database, accounts: readonly string[], { starts, digits }: Steps) {
  const settingsOf = exchangeByAccount(config);
  const from = starts[0] ?? '';
  const counted = await sinceOneTime((account, at) => countMoves(db, account, at, digits), accounts, from);
  const sums = await sinceOneTime((account, at) => recentSums(db, account, at), accounts, from);
  const moves = { inserted: starts.map(() => 0), accepted: starts.map(() => 0), final: starts.map(() => 0) };
  for (const [key, number] of counted.parts.flatMap(({ orders }) => [...orders])) {
    const [move, time = ''] = key.split(' ') as [keyof typeof moves, string?];
    const place = starts.findLastIndex((start) => start.slice(0, digits) <= time);
    moves[move][place] = (moves[move][place] ?? 0) + number;
  }
  return {
    starts,
    moves,
    /** If there are too many moves, the time since which they are counted; null if all are counted. */
    movesSince: counted.since,
    money: sums.parts.flatMap(({ parts }) => parts.map((part) => moneyGroup(part, settingsOf(part.account)))),
    moneySince: sums.since,
  };
}

async function stakeOf(config: Config, db: Database, accounts: readonly AccountCounts[], concerned: Concerned) {
  const settingsOf = exchangeByAccount(config);
  const numberOf = ({ orders, findings }: AccountCounts) =>
    ('state' in concerned ? orders[concerned.state] : findings[concerned.class]) ?? 0;
  const having = accounts.filter((counts) => numberOf(counts) > 0);
  const sums = await Array.fromAsync(having.slice(0, MOST_ADDED_UP), async ({ account }) => {
    const parts = await sumsAtStake(db, account, concerned);
    return parts.map((part) => {
      return { currency: currencyOfRow(part, settingsOf(account)) ?? 'of a currency not shown', asset: part.asset };
    });
  });
  const amounts = [...Map.groupBy(sums.flat(), ({ currency }) => currency)].map(([currency, same]) => {
    return { currency, amount: sumOfDecimals(same.map(({ asset }) => asset)) };
  });
  const isCut = having.length > MOST_ADDED_UP || having.some((counts) => numberOf(counts) > MOST_AT_STAKE);
  return { amounts: amounts.filter(({ amount }) => amount !== '0'), isCut };
}

/** `exchange` is `sandbox` for loopback addresses and `live` for others. It names both kinds if accounts differ. */
export function programFacts({ version, startedAt, config }: OpsPages, account: string | undefined) {
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
