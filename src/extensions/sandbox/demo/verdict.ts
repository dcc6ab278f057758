import { ORDER_STATES } from '../../../orders/rules/states.ts';
import { listFindings } from '../../operate/tables/listed-findings.ts';
import { isPassing } from '../../../store/errors.ts';
import { countByState } from '../../../store/orders/orders.ts';
import { readHistory } from '../../pace/learn-pace.ts';
import { reconcileOrders } from '../../reports/reconciliation/reconciliation.ts';
import { accountColumns } from '../../documents/sections.ts';
import type { Row } from '../../documents/document.ts';
import { tableOf } from '../../documents/terminal.ts';
import { wrapped } from '../../../cli/shared/terminal.ts';
import { sumOf, withCommas } from '../../../base/words.ts';
import { SUMMARY_COLUMNS, summarize } from '../../reports/summary.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { FIRST_NUMBER, insertOrders, orderOf, type Stage } from './stage.ts';
import { terminalLine } from '../../../cli/shared/progress.ts';
import { readParts } from '../../reports/commands/reports.ts';
import { latenessOf } from '../../pace/status.ts';
import { counted, inUnits } from '../../documents/words.ts';

const REFRESH_MS = 500;
const UNDER_WAY = ['pending', 'sending', 'unknown', 'accepted', 'open'] as const;

/** `until` is a time of the monotonic clock in ms. */
export type Watched = Pick<Stage, 'store' | 'clock' | 'shops' | 'signal'> & { readonly until: number };

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function say(text: string): void {
  print(wrapped(text, screenOf().width));
}

export const untilSent = (watched: Watched) => watch(watched, (countOf) => countOf(['pending', 'sending']) === 0);

/** Returns true when no order is under way and every expected finding is recorded, or false after `until`. */
export async function untilSettled(watched: Watched): Promise<boolean> {
  const expected = watched.shops.flatMap((shop) => shop.expected);
  // An order that the exchange has reopened stays under way.
  const endless = expected.filter((finding) => finding.startsWith('TERMINAL_REOPENED ')).length;
  const isFound = (findings: ReadonlySet<string>) => expected.every((finding) => findings.has(finding));
  return await watch(watched, (countOf, findings) => countOf(UNDER_WAY) === endless && isFound(findings));
}

export async function sayHowTheyStand(stage: Stage): Promise<void> {
  await watch({ ...stage, signal: new AbortController().signal, until: Infinity }, () => true);
  print('');
  await printReconciliation(stage, print);
}

type IsEnd = (countOf: (states: readonly string[]) => number, findings: ReadonlySet<string>) => boolean;

async function watch(watched: Watched, isEnd: IsEnd): Promise<boolean> {
  const { clock, until, signal } = watched;
  const live = await terminalLine(process.stdout);
  let shown = '';
  try {
    while (clock.monotonic() < until) {
      signal.throwIfAborted();
      const progress = await progressOf(watched).catch((error: unknown) => {
        // The database cannot be used during a fail-over.
        if (!isPassing(error)) throw error;
      });
      const text = progress === undefined ? 'the database takes no writes' : textOf(progress);
      if (live !== undefined) live(text);
      else if (text !== shown) say(text);
      shown = text;
      const countOf = (names: readonly string[]) => sumOf(names, (state) => progress?.counts.get(state) ?? 0);
      if (progress !== undefined && isEnd(countOf, progress.findings)) return true;
      await clock.sleep(REFRESH_MS, signal).catch(() => undefined);
    }
    return false;
  } finally {
    live?.done();
  }
}

function textOf({ counts, recorded }: Awaited<ReturnType<typeof progressOf>>): string {
  const states = [...counts].map(([state, orders]) => `${state} ${orders}`);
  return [...states, ...(recorded > 0 ? [`recorded findings ${recorded}`] : [])].join(' · ');
}

async function progressOf({ store, shops }: Pick<Stage, 'store' | 'shops'>) {
  const counts = new Map<string, number>();
  const findings = new Set<string>();
  let recorded = 0;
  for (const { account } of shops) {
    for (const [state, orders] of await countByState(store.db, account, ORDER_STATES))
      counts.set(state, (counts.get(state) ?? 0) + orders);
    const { rows } = await listFindings(store.db, { account, status: 'open', limit: 1_000 });
    recorded += rows.length;
    for (const one of rows) findings.add(`${one.class} ${one.external_order_id}`);
  }
  return { counts, findings, recorded };
}

const SHOWN: readonly string[] = ['severity', 'class', 'external_order_id', 'expected', 'actual'];
const SETTINGS = { tolerance: '0', freshFor: 24 * 60 * 60_000, orderMissingAfter: 24 * 60 * 60_000, ignore: [] };

export async function judge(stage: Stage): Promise<boolean> {
  const { store, shops, sandbox } = stage;
  const only = onlyOf(shops);
  const columns = [...accountColumns(only), ...SUMMARY_COLUMNS.filter((column) => !('isForPrograms' in column))];
  const summary = summarize(await readParts(store, only), only === undefined);
  process.stdout.write(`\n${tableOf(columns, summary, screenOf())}`);
  const made = shops.map(({ key }) => sandbox.exchanges.get(key)!.census());
  const preOrders = sumOf(made, (census) => census.preOrders);
  const duplicated = sumOf(made, (census) => census.duplicated.length);
  const { counts } = await progressOf(stage);
  const sent = sumOf([...counts.values()], (orders) => orders) - sumOf(shops, ({ strays }) => strays.length);
  say(`${counted(sent, 'order')} sent, ${preOrders} pre-orders at the exchange, ${duplicated} created twice.`);
  say(await lateChanges(stage));
  print('');
  return (await reconcileDemo(stage)) && duplicated === 0 && preOrders === sent;
}

function onlyOf([shop, ...others]: Stage['shops']): string | undefined {
  return others.length === 0 ? shop?.account : undefined;
}

async function lateChanges({ store, clock, shops }: Stage): Promise<string> {
  const { signal } = new AbortController();
  const lateMs: number[] = [];
  for (const { account } of shops) {
    const { stays } = await readHistory({ account, store: store.forAccount(account), clock }, signal);
    for (const stay of stays) if (stay.isByExchange && stay.lateMs !== undefined) lateMs.push(stay.lateMs);
  }
  const late = latenessOf(lateMs);
  if (late === undefined) return 'It is not known how late changes were seen.';
  const { changes, meanMs, p95Ms } = late;
  const seen = changes === 1 ? 'One change was' : `${withCommas(changes)} changes were`;
  return `${seen} seen ${inUnits(meanMs)} after the change at the exchange on average, 95 % within ${inUnits(p95Ms)}.`;
}

type Reconciled = Pick<Stage, 'store' | 'clock' | 'shops'>;

/** Prints the verdict and the findings of the reconciliation report. Returns the findings as `CLASS id`. */
async function printReconciliation({ store, clock, shops }: Reconciled, write: typeof print) {
  const asOf = clock.now().toISOString();
  const accounts = shops.map(({ account }) => account);
  const request = { account: onlyOf(shops), drivenAccounts: accounts, asOf, settings: SETTINGS };
  using report = await reconcileOrders({ store, clock }, request);
  const { facts, sections } = report.document;
  const fact = (key: string) => facts.find((one) => one.key === key)?.value;
  const because = fact('because');
  const of = accounts.length === 1 ? '' : ` of ${accounts.length} accounts`;
  const why = because === null ? '' : ` (${because})`;
  write(`Reconciliation of ${fact('orders')} orders${of}: ${fact('verdict')}${why}.`);
  const { columns = [], rows = [] } = sections.find(({ name }) => name === 'findings') ?? {};
  const findings = await Array.fromAsync<Row>(rows);
  const isAllOpen = findings.every((row) => row['status'] === 'open');
  const shown = columns.filter(({ key }) => SHOWN.includes(key) || (key === 'status' && !isAllOpen));
  if (findings.length > 0) write(tableOf(shown, findings, screenOf()).trimEnd());
  if (findings.some((row) => row['class'] === 'UNCHECKED'))
    write('The report finds UNCHECKED by itself, beside the recorded findings.');
  return findings.map((row) => `${row['class']} ${row['external_order_id']}`);
}

/** Returns true if the reconciliation report lists the expected findings and no others. */
export async function reconcileDemo(stage: Reconciled, write = print): Promise<boolean> {
  const listed = await printReconciliation(stage, write);
  const expected = stage.shops.flatMap((shop) => shop.expected);
  const missing = expected.filter((finding) => !listed.includes(finding));
  const others = listed.filter((finding) => !expected.includes(finding));
  for (const finding of missing) write(`Not found: ${finding}`);
  for (const finding of others) write(`Found, although the exchange did not tamper: ${finding}`);
  const isExact = missing.length === 0 && others.length === 0;
  if (isExact && expected.length > 0)
    write(`The report lists the ${expected.length} orders that were tampered with, and no other.`);
  return isExact;
}

const INSERT_EACH_MS = 2_000;

export async function keepInserting(stage: Stage): Promise<void> {
  const { shops, clock, signal } = stage;
  for (let inserted = 0; ; inserted += 1) {
    const shop = shops[inserted % shops.length];
    await clock.sleep(INSERT_EACH_MS, signal).catch(() => undefined);
    if (shop === undefined || signal.aborted) return;
    await insertOrders(stage, shop, [orderOf(`later-${FIRST_NUMBER + inserted}`, inserted * 3)]);
  }
}
