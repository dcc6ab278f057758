import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option, type Command } from 'commander';
import { placeOf } from '../../commands/place.ts';
import { systemClock } from '../../../base/clock.ts';
import { processEnvironment } from '../../../settings/config.ts';
import type { OtherPlace as Place } from '../../../store/open.ts';
import { DEFAULT_ACCOUNT } from '../../../accounts/rules/name.ts';
import { shellWord } from '../../../base/text.ts';
import { extensionsOf, partsOf } from '../../../cli/shared/extensions.ts';
import { CommandError, EXIT, stopSignal } from '../../../cli/shared/exit.ts';
import { configOptions, wholeNumber } from '../../../cli/shared/options.ts';
import { callOn } from '../../../cli/shared/invocation.ts';
import { controlSocketOf } from '../../api/asking/transport.ts';
import { nextSteps } from '../../commands/print.ts';
import { DEMO_SCENARIOS, demoOrders, MOST_ORDERS, cancelStrays, daemonsOf, insertOrders, setStage } from './stage.ts';
import type { DemoScenario, Stage } from './stage.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { badDay, liveThrough } from './bad-day.ts';
import { doubtOf, failOver } from './fail-over.ts';
import { judge, keepInserting, print, say, sayHowTheyStand, untilSent, untilSettled, type Watched } from './verdict.ts';
import { counted } from '../../documents/words.ts';

const LONGEST_MS = 50_000;
const MANY = { workers: 3, accounts: ['shop-1', 'shop-2', 'shop-3', 'shop-4', 'shop-5'] };
const ONE = { workers: 1, accounts: [DEFAULT_ACCOUNT] };

const CLIENT = 'order-sync/client';
const ORDER = { external_order_id: 'mine-1', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' };

interface DemoOptions {
  readonly scenario: DemoScenario;
  readonly keep?: boolean;
  readonly hold?: boolean;
  readonly orders: number;
  readonly database?: string;
  readonly cluster?: boolean;
}

const NEXT = [
  ['demo --scenario mismatch --keep', 'has the exchange tamper with some orders, and keeps the database to look at'],
  ['init', 'makes settings for your own exchange'],
  ['sandbox', 'runs an exchange to try your own shop on'],
] as const;
const NEXT_ON_POSTGRES = [
  ['config check', 'says what your own settings lack; their database.url names the database'],
  ['db migrate', 'makes the tables in that database'],
  ['sandbox', 'runs an exchange to try your own shop on'],
] as const;
const HELP = `
Scenarios:
  clean     both sides agree in the end
  mismatch  the sandbox tampers with some orders, and the
            report lists exactly those
  bad-day   a day of orders ends in an outage, and some wait
            for a person: to practise on, with --hold

In clean and mismatch a few answers of the exchange are lost on purpose. The
exit code is 0 if these two end as described, and after a bad day.

With --cluster the database is a cluster of its own: three servers of PostgreSQL
under Patroni and etcd, on ports of this machine. Three daemons share the
accounts of five shops, and the primary is killed while orders are sent. It
needs no root.

With --database three daemons share the accounts of five shops, and one of them
is killed. The database must have no tables of order-sync. The demonstration
removes its own tables at the end. With --keep its tables and functions stay. To
remove them, drop the database with dropdb. Or, unless the user is a superuser,
run "drop owned by current_user" in psql, which removes all that the user owns
in the database.

Examples:
  npm run demo -- --hold
  npm run demo -- --scenario mismatch --keep
  npm run demo -- --scenario bad-day --hold
  npm run demo -- --cluster
  npm run demo -- --database postgres://shop@127.0.0.1/trial`;

export function define(command: Command): void {
  command
    .addOption(new Option('--scenario <name>', 'what the exchange does').choices(DEMO_SCENARIOS).default('clean'))
    .option('--keep', 'keep the database, and say how to look at it')
    .option('--hold', 'continue and serve a dashboard until Ctrl-C, then report')
    .option('--orders <n>', `number of orders, at most ${MOST_ORDERS}`, wholeNumber(1, MOST_ORDERS), MOST_ORDERS)
    .addOption(
      new Option('--cluster', 'a cluster of PostgreSQL in place of a new file, with a fail-over').conflicts('database'),
    )
    .option('--database <url>', 'a database of PostgreSQL in place of a new file')
    .addHelpText('after', HELP)
    .action(async ({ database, ...options }: DemoOptions) => {
      const place = database === undefined ? undefined : await placeOf(command, 'postgres', database, '--database');
      const signal = stopSignal();
      if (options.scenario === 'bad-day' && (place !== undefined || options.cluster === true))
        throw new CommandError(EXIT.usage, 'bad-day makes a new SQLite file: leave --database and --cluster out');
      await demonstrate(command, options, place, signal).catch((error: unknown) => {
        throw signal.aborted ? new CommandError(EXIT.unavailable, 'the demonstration was stopped') : error;
      });
    });
}

async function demonstrate(
  command: Command,
  { scenario, keep: isKept = false, hold: isHeld = false, orders: count, cluster: isCluster }: DemoOptions,
  place: Place | undefined,
  signal: AbortSignal,
): Promise<void> {
  const clock = systemClock();
  const { parts } = await configOptions(command);
  await using cluster = isCluster === true ? await startCluster({ clock, signal, isKept, say }) : undefined;
  const database = cluster?.settings ?? (place && databaseSettings({ ...place }));
  const { accounts, workers } = database === undefined ? ONE : MANY;
  const day = scenario === 'bad-day' ? await badDay(count, clock, await partsOf(extensionsOf(command))) : undefined;
  const isOwnServer = cluster !== undefined;
  const how = { database, parts, isKept, isOwnServer, isHeld, signal };
  await using stage = await setStage({ accounts, orders: demoOrders(scenario, count), clock, ...how, ...day });
  if (day === undefined) {
    say(`A sandbox exchange listens on ${stage.sandbox.url}; a few of its answers are lost on purpose.`);
    const isSettled = await performUntilHeld(stage, workers, cluster);
    const isRight = await judge(stage);
    if (cluster !== undefined) say(await doubtOf(stage));
    if (!isSettled || !isRight) process.exitCode = EXIT.look;
  } else {
    say('A shop lives through the 25 hours up to now, and they end badly.');
    await liveThrough(day, stage);
    await using daemons = daemonsOf(stage);
    if (isHeld) await daemons.start(1).then(() => letLook(stage, daemons, true));
    await sayHowTheyStand(stage);
  }
  if (isKept && cluster !== undefined) say(`The cluster ends now; ${stage.folder} and ${cluster.folder} stay.`);
  else if (isKept) sayHowToLook(stage);
  else print(`\nWhat to do next:\n${nextSteps(stepsAfter(place, isOwnServer))}`.trimEnd());
}

function databaseSettings({ address: url, ...place }: Place & { readonly [name: string]: unknown }): object {
  const { password, poolSize, tls, tlsCaFile, synchronousStandbys } = place;
  return { url, password, poolSize, tls, tlsCaFile, synchronousStandbys };
}

function stepsAfter(database: Place | undefined, isOwnServer: boolean): Parameters<typeof nextSteps>[0] {
  if (isOwnServer) return NEXT_ON_POSTGRES;
  if (database === undefined) return NEXT;
  const password = database.isPasswordInUrl ? '; give the password as before' : '';
  const again = `demo --scenario mismatch --keep --database ${shellWord(database.address)}`;
  return [[again, `has the exchange tamper with some orders, and keeps the tables${password}`], ...NEXT_ON_POSTGRES];
}

/** Inserts orders until the person stops the demonstration. Throws `CommandError` if a daemon ends first. */
async function letLook(stage: Stage, daemons: ReturnType<typeof daemonsOf>, isOutage = false): Promise<void> {
  print(`The dashboard: http://${stage.opsListen}/`);
  const all = stage.shops.length > 1 ? ' --account all' : '';
  say(`Ask order-sync in another terminal: ${callOn(stage.settingsFile)} status${all}`);
  // In an outage the order that the printed lines add would never be sent.
  if (!isOutage) {
    say('Paste three lines there, in this folder, to try the client: a shop adds an order, and follows it.');
    print(await firstShop(stage));
  }
  const kept = stage.isKept ? 'stays' : 'is deleted';
  say(`Stop with Ctrl-C. Then the report comes, and the folder ${stage.folder} ${kept}.`);
  const ended = new AbortController();
  const inserting = keepInserting({ ...stage, signal: AbortSignal.any([stage.signal, ended.signal]) });
  // Ctrl-C in a terminal ends the daemons too, so their end is no failure then.
  const failing = daemons.failure().catch((error: unknown) => stage.signal.aborted || Promise.reject(error));
  await Promise.race([inserting, failing]).finally(() => ended.abort());
  await inserting;
}

/** Returns three lines to paste into a shell in this folder: a shop that adds an order, and follows the order. */
async function firstShop({ store, shops, config }: Stage): Promise<string> {
  const account = shops[0]?.account;
  const socket = (await store.driverOf(account === undefined ? [] : [account]))?.socket ?? controlSocketOf(config);
  const text = (value: unknown) => JSON.stringify(value);
  const code = [
    `import { OrderSync } from ${text(clientHere())}; const shop = new OrderSync(${text({ socket, account })});`,
    `console.log(await shop.orders.add(${text(ORDER)}));`,
    `for await (const { type, data } of shop.events.follow({ order: "${ORDER.external_order_id}" })) console.log(type, data.newValue);`,
  ];
  return `  ${shellWord(process.execPath)} --input-type=module -e ${shellWord(code.join('\n  '))}`;
}

/** Returns the package name of the client if a program in this folder can import it by name, else its URL. */
function clientHere(): string {
  const address = import.meta.resolve(CLIENT);
  try {
    const found = createRequire(join(process.cwd(), 'shop.js')).resolve(CLIENT);
    return found === fileURLToPath(address) ? CLIENT : address;
  } catch {
    return address;
  }
}

async function performUntilHeld(stage: Stage, count: number, cluster: Cluster | undefined): Promise<boolean> {
  await using daemons = daemonsOf(stage);
  const isSettled = await perform(stage, daemons, count, cluster);
  if (!isSettled || stage.opsListen === undefined) return isSettled;
  say('Everything is settled; a shop inserts an order now and then while you look at the dashboard.');
  await letLook(stage, daemons);
  say('Stopped: the orders that are under way are brought to their end.');
  // Ctrl-C in a terminal has stopped the daemons too, so one daemon is started again.
  await daemons[Symbol.asyncDispose]();
  await daemons.start(1);
  const until = stage.clock.monotonic() + LONGEST_MS;
  return await untilSettled({ ...stage, signal: new AbortController().signal, until });
}

/** Inserts the orders. Kills one of several daemons, or a cluster's primary. Returns true if `untilSettled` does. */
async function perform(stage: Stage, daemons: ReturnType<typeof daemonsOf>, count: number, cluster?: Cluster) {
  const { shops, store, clock } = stage;
  for (const shop of shops) await cancelStrays(stage, shop, say);
  const pids = await daemons.start(count);
  const watched: Watched = { ...stage, until: clock.monotonic() + LONGEST_MS };
  const isAlone = count === 1;
  const first = await insertPart(stage, 0, isAlone ? 1 : 1 / 2);
  if (isAlone) {
    say(`A shop has inserted ${first} into ${store.address}; the daemon (process ${pids[0]}) works on them.`);
  } else {
    say(`${shops.length} shops have inserted ${first} into ${store.address}.`);
    say(`${count} daemons (processes ${pids.join(', ')}) share their accounts.`);
  }
  const insertRest = async () => say(`The shops have inserted ${await insertPart(stage, 1 / 2, 1)} more.`);
  const tampered = shops.flatMap((shop) => shop.expected).length;
  if (tampered > 0) say(`The exchange tampers with ${counted(tampered, 'order')}: ids begin with tamper-.`);
  if (stage.opsListen !== undefined) print(`The dashboard: http://${stage.opsListen}/`);
  if (isAlone) return await untilSettled(watched);
  if (cluster !== undefined)
    return await failOver({ ...stage, until: watched.until + LONGEST_MS }, cluster, insertRest);
  // The kill waits until no create is in flight, because an order that may have been sent might be held for a person.
  if (!(await untilSent(watched))) return false;
  say(`Process ${await daemons.kill()} is killed; the others take its accounts over.`);
  await insertRest();
  return await untilSettled(watched);
}

/** Inserts a part of the orders of each shop. Returns their number with the noun, such as `100 orders`. */
async function insertPart(stage: Stage, from: number, to: number): Promise<string> {
  let inserted = 0;
  for (const shop of stage.shops) {
    const { orders } = shop;
    const part = orders.slice(Math.round(orders.length * from), Math.round(orders.length * to));
    await insertOrders(stage, shop, part);
    inserted += part.length;
  }
  return counted(inserted, 'order');
}

function sayHowToLook({ folder, settingsFile, config: { database, accounts } }: Stage): void {
  const page = shellWord(join(folder, 'reconciliation.html'));
  const all = accounts.length === 1 ? '' : ' --account all';
  const steps = [
    [`findings list${all}`, 'what does not agree'],
    [`report reconciliation${all}`, 'our orders beside those of the exchange'],
    [`report reconciliation${all} --out ${page}`, 'the same as a page for a browser'],
  ] as const;
  print(`\nThe database and its settings are kept. To look at them:\n${nextSteps(steps, settingsFile)}`.trimEnd());
  print(`To remove the folder: rm -r ${shellWord(folder)}`);
  if (database.kind === 'postgres') {
    say(`Its tables and functions stay in ${database.address}: dropdb removes them with the database.`);
    print('To remove all that its user (no superuser) owns there, in psql:\n  drop owned by current_user');
  }
  const variables = Object.keys(processEnvironment()).filter((name) => name.startsWith('ORDER_SYNC_'));
  const over = variables.filter((name) => name !== 'ORDER_SYNC_CONFIG').join(', ');
  if (over !== '') say(`These environment variables override the settings; unset them first: ${over}`);
}
