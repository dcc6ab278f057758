import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option, type Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { stringify } from 'yaml';
import { systemClock } from '../../clock.ts';
import { loadConfig, processEnvironment } from '../../config/config.ts';
import { DEFAULT_ACCOUNT } from '../../domain/accounts/name.ts';
import { ORDER_STATES } from '../../domain/orders/states.ts';
import { shellWord } from '../../domain/text.ts';
import { addOrder } from '../../flows/orders/add.ts';
import { decideOrders, type OperatorDeps } from '../../flows/orders/operator-decisions.ts';
import { reconcileOrders } from '../../flows/reports/reconciliation.ts';
import type { Column, Row } from '../../reports/formats/document.ts';
import { tableOf } from '../../reports/formats/terminal/layout.ts';
import { counted } from '../../reports/formats/words.ts';
import { SUMMARY_COLUMNS, summarize } from '../../reports/summary.ts';
import { seededRandom } from '../../sandbox/random.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { listFindings } from '../../store/listed-findings.ts';
import { countByState } from '../../store/orders.ts';
import { summaryParts } from '../../store/reports/summary.ts';
import type { Store } from '../../store/port.ts';
import { openStore } from '../../store/sqlite/store.ts';
import {
  DEMO_SCENARIOS,
  demoOrders,
  expectedFindings,
  isStray,
  MOST_ORDERS,
  type DemoOrder,
  type DemoScenario,
} from './demo-orders.ts';
import { EXIT } from '../shared/exit.ts';
import { wholeNumber } from '../shared/options.ts';
import { nextSteps } from '../shared/program-name.ts';
import { screenOf } from '../shared/screen.ts';

const SPEED = 4;
const LONGEST_MS = 50_000;
const REFRESH_MS = 500;
const KEY = 'demo-key';
/** States in which an order goes on by itself. */
const UNDER_WAY = ['pending', 'sending', 'unknown', 'accepted', 'open'];
const FINDING_COLUMNS: readonly Column[] = [
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'expected', label: 'Expected', kind: 'text', rank: 1 },
  { key: 'actual', label: 'Actual', kind: 'text', rank: 1 },
];
/** The defaults of the settings. */
const SETTINGS = { tolerance: '0', freshFor: 24 * 60 * 60_000, orderMissingAfter: 24 * 60 * 60_000 };

interface DemoOptions {
  readonly scenario: DemoScenario;
  readonly keep?: boolean;
  readonly orders: number;
}

const NEXT = [
  ['demo --scenario mismatch --keep', 'has the exchange tamper with some orders, and keeps the database to look at'],
  ['init', 'sets it up for your own exchange'],
  ['sandbox', 'runs an exchange to try your own shop on'],
] as const;
const HELP = `
Scenarios:
  clean     both sides agree in the end
  mismatch  the sandbox tampers with some orders, and the
            report lists exactly those

A few answers are lost on purpose in both. The exit code is 0 when that came
true.

Example:
  npm run demo -- --scenario mismatch --keep`;

/** `order-sync demo`: the main job from end to end, on a sandbox exchange and a fresh database. */
export function define(command: Command): void {
  command
    .addOption(new Option('--scenario <name>', 'what the exchange does').choices(DEMO_SCENARIOS).default('clean'))
    .option('--keep', 'keep the database, and say how to look at it')
    .option('--orders <n>', `number of orders, at most ${MOST_ORDERS}`, wholeNumber(1, MOST_ORDERS), MOST_ORDERS)
    .addHelpText('after', HELP)
    .action(async (options: DemoOptions) => await demonstrate(options));
}

async function demonstrate({ scenario, keep, orders: count }: DemoOptions): Promise<void> {
  const clock = systemClock();
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-demo-'));
  const path = join(folder, 'demo.db');
  const orders = demoOrders(scenario, count);
  const expected = expectedFindings(orders);
  const sandbox = await startSandbox({ apiKey: KEY, clock, random: seededRandom(7), speed: SPEED });
  say(`A sandbox exchange listens on ${sandbox.url}; a few of its answers are lost on purpose.`);
  const store = await openStore(path, clock, { expect: 'migrate' });
  const settingsFile = join(folder, 'settings.yaml');
  writeFileSync(settingsFile, settingsText(path, sandbox), { mode: 0o600 });
  const { create, follow, reconcile } = loadConfig({ requireExchange: true, cwd: folder, env: {}, file: settingsFile });
  const deps = { account: DEFAULT_ACCOUNT, store, clock, settings: { ...create, ...follow, ...reconcile } };
  if (expected.length > 0) await cancelStray(deps, orders.filter(isStray));
  const daemon = startDaemon(folder, settingsFile);
  try {
    await Promise.race([once(daemon, 'message'), failedStart(daemon)]);
    const rest = orders.filter((order) => !isStray(order));
    await insertOrders(store, rest);
    say(
      `A shop has inserted ${counted(rest.length, 'order')} into ${path}; the daemon (process ${daemon.pid}) works on them.`,
    );
    if (expected.length > 0)
      say(`The exchange tampers with ${counted(expected.length, 'order')}: ids begin with tamper-.`);
    const isSettled = await watch(store, expected, clock.monotonic() + LONGEST_MS);
    await stopDaemon(daemon);
    say('');
    const summary = summarize(await Array.fromAsync(summaryParts(store, { account: DEFAULT_ACCOUNT })));
    const columns = SUMMARY_COLUMNS.filter((column) => !('isForPrograms' in column));
    process.stdout.write(tableOf(columns, summary, screenOf()));
    const { preOrders, duplicated } = sandbox.exchange.census();
    say(
      `${counted(rest.length, 'order')} sent, ${preOrders} pre-orders at the exchange, ${duplicated.length} created twice.\n`,
    );
    const isAsExpected = await reconcileDemo(store, clock.now().toISOString(), expected, say);
    const isRight = isSettled && isAsExpected && duplicated.length === 0 && preOrders === rest.length;
    if (!isRight) process.exitCode = EXIT.look;
    if (keep !== true) say(`\nWhat to do next:\n${nextSteps(NEXT)}`.trimEnd());
  } finally {
    await stopDaemon(daemon);
    await store.close();
    await sandbox.close();
    if (keep === true) sayHowToLook(folder, settingsFile);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/** Cancels orders before they are sent: an order of the exchange for one of them is one that nobody asked for. */
async function cancelStray(deps: OperatorDeps, strays: readonly DemoOrder[]): Promise<void> {
  await insertOrders(deps.store, strays);
  const targets = strays.map(({ external_order_id: externalOrderId }) => ({ externalOrderId }));
  const action = { judgement: { kind: 'cancel' }, actor: 'shop', reason: 'the client changed their mind' } as const;
  for await (const result of decideOrders(deps, targets, action))
    say(`${result.externalOrderId} is cancelled, unsent.`);
}

/** The settings of the demonstration, as a file that is kept with its database. */
function settingsText(path: string, sandbox: Sandbox): string {
  const settings = {
    exchange: { baseUrl: sandbox.url, apiKey: KEY, rate: { requests: 100 } },
    database: { url: `sqlite:${path}` },
    schedule: { cron: '* * * * * *' },
    create: { verifyAfter: ['2s', '4s', '8s', '16s', '32s'] },
    follow: {
      finalStatuses: ['COMPLETED', 'REJECTED'],
      succeededStatuses: ['COMPLETED'],
      openStatuses: ['REQUEST', 'IN_PROGRESS'],
      recheckFinalAfter: ['2s', '5s', '10s'],
    },
  };
  return `# Settings of a demonstration. Its exchange ended with it.\n${stringify(settings)}`;
}

/** The settings of the person who tries the demonstration do not reach it: neither their file nor their variables. */
function startDaemon(folder: string, settingsFile: string): ChildProcess {
  return fork(fileURLToPath(new URL('../../cli.ts', import.meta.url)), ['run'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ORDER_SYNC_CONFIG: settingsFile },
  });
}

async function failedStart(daemon: ChildProcess): Promise<never> {
  const [code] = (await once(daemon, 'exit')) as [number | null];
  throw new Error(`the daemon ended before it was ready (exit ${code})`);
}

async function stopDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  await exited;
}

async function insertOrders(store: Store, orders: readonly DemoOrder[]): Promise<void> {
  await Promise.all(orders.map((order) => addOrder({ store, account: DEFAULT_ACCOUNT }, { ...order })));
}

/** Shows the counts until every order is settled and every expected finding is there; false when the time is up before. */
async function watch(store: Store, expected: readonly string[], until: number): Promise<boolean> {
  const clock = systemClock();
  const live = process.stdout.isTTY ? createLogUpdate(process.stdout) : undefined;
  // An order that was reopened never ends.
  const endless = expected.filter((finding) => finding.startsWith('TERMINAL_REOPENED ')).length;
  let shown = '';
  while (clock.monotonic() < until) {
    const counts = await countByState(store.db, DEFAULT_ACCOUNT, ORDER_STATES);
    const { rows: findings } = await listFindings(store.db, { account: DEFAULT_ACCOUNT, status: 'open', limit: 1_000 });
    const found = new Set(findings.map((one) => `${one.class} ${one.external_order_id}`));
    const states = [...counts].map(([state, orders]) => `${state} ${orders}`);
    const text = [...states, ...(found.size > 0 ? [`findings ${found.size}`] : [])].join(' · ');
    if (live !== undefined) live(text);
    else if (text !== shown) say(text);
    shown = text;
    const underWay = UNDER_WAY.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
    if (underWay === endless && expected.every((finding) => found.has(finding))) {
      live?.done();
      return true;
    }
    await clock.sleep(REFRESH_MS);
  }
  live?.done();
  return false;
}

/** Prints the verdict and the findings of the reconciliation report. True when it lists the expected findings and no others. */
export async function reconcileDemo(
  store: Store,
  asOf: string,
  expected: readonly string[],
  print: (line: string) => void,
): Promise<boolean> {
  const request = { account: DEFAULT_ACCOUNT, asOf, settings: SETTINGS };
  using report = await reconcileOrders({ store, clock: systemClock() }, request);
  const { facts, sections } = report.document;
  const fact = (key: string) => facts.find((one) => one.key === key)?.value;
  const because = fact('because');
  print(`Reconciliation of ${fact('orders')} orders: ${fact('verdict')}${because === null ? '' : ` (${because})`}.`);
  const findings: Row[] = [];
  for await (const row of sections.find(({ name }) => name === 'findings')?.rows ?? []) findings.push(row);
  if (findings.length > 0) print(tableOf(FINDING_COLUMNS, findings, screenOf()).trimEnd());
  const listed = findings.map((row) => `${row['class']} ${row['external_order_id']}`);
  const missing = expected.filter((finding) => !listed.includes(finding));
  const others = listed.filter((finding) => !expected.includes(finding));
  for (const finding of missing) print(`Not found: ${finding}`);
  for (const finding of others) print(`Found, although nobody tampered: ${finding}`);
  const isExact = missing.length === 0 && others.length === 0;
  if (isExact && expected.length > 0)
    print(`It lists the ${expected.length} orders that were tampered with, and no other.`);
  return isExact;
}

function sayHowToLook(folder: string, settingsFile: string): void {
  const page = shellWord(join(folder, 'reconciliation.html'));
  const steps = [
    ['findings list', 'what does not agree'],
    ['report reconciliation', 'our orders beside those of the exchange'],
    [`report reconciliation --out ${page}`, 'the same as a page for a browser'],
  ] as const;
  say(`\nThe database is kept, with its settings. To look at it:\n${nextSteps(steps, settingsFile)}`.trimEnd());
  say(`To remove it: rm -r ${shellWord(folder)}`);
  const variables = Object.keys(processEnvironment()).filter((name) => name.startsWith('ORDER_SYNC_'));
  const over = variables.filter((name) => name !== 'ORDER_SYNC_CONFIG').join(', ');
  if (over !== '') say(`Your environment goes over these settings. Unset it first: ${over}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
