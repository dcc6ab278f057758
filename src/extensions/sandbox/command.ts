import { once } from 'node:events';
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { InvalidArgumentError, type Command, Help } from 'commander';
import { pasteable } from '../../base/invocation.ts';
import { shellWord } from '../../base/text.ts';
import { sumOf } from '../../base/words.ts';
import { systemClock } from '../../base/clock.ts';
import { headerText, isLoopback, reader } from '../../settings/values.ts';
import { seededRandom } from './random.ts';
import { startSandbox, FAULTS, type Fault, type FaultPlan, type SandboxServerOptions } from './server.ts';
import { didYouMean } from '../../cli/shared/help.ts';
import { duration, optionOf, wholeNumber } from '../../cli/shared/options.ts';
import { EMAIL_INPUTS } from './clients.ts';
import { ODD_ANSWERS, readScenarios, SCENARIOS, scenarioNamedIn, type Scenarios } from './scenario.ts';
import { TAMPERINGS, type Tampering } from './tampering.ts';

const WIDTH = 80;

interface SandboxCommandOptions extends Pick<SandboxServerOptions, 'rate' | 'faults'> {
  readonly port: number;
  readonly key?: readonly string[];
  readonly seed: number;
  readonly speed: number;
  readonly scenarios?: Scenarios;
  readonly scenario?: string;
  readonly log?: string;
  readonly photoUrl?: URL;
  readonly remotePhotos?: boolean;
}

const TAMPERING_HELP = itemList(
  Object.entries<Tampering>(TAMPERINGS).map(([name, { finding, what, needs }]) => [
    name,
    `${finding}: ${what}${needs === undefined ? '' : ` (rows with ${needs})`}`,
  ]),
);
/** `order-sync init --sandbox` uses this key. */
const USUAL_KEY = 'sandbox-key';
const FORGETS = `It forgets its orders when it ends. A new sandbox does not know them, so each
order that is still open gets the finding ORDER_VANISHED.`;
const HELP = `
Example:
  order-sync sandbox --port 8089 --faults reset-after=0.02,error-taken=0.02

${FORGETS}

An order ends COMPLETED unless an option or its external order id says
otherwise. These ids decide for their order, whatever the options say:
${itemList([
  ['fault-NAME-…', 'has that fault on its first create'],
  ['fault-lookup-NAME-…', 'has it on its first look-up'],
  ['scenario-NAME-…', 'goes through that scenario: scenario-rejected-1 is rejected'],
  ['tamper-NAME-…', 'is tampered with as below, has no faults, and is completed unless --scenario says otherwise'],
])}

Some e-mail addresses decide for their client:
${itemList(EMAIL_INPUTS)}

The ways to tamper with an order (the NAME in tamper-NAME), the finding that
each brings, and what the sandbox answers. UNEXPECTED_ORDER needs a row that is
cancelled before it is sent. Only report reconciliation --online finds
PREORDER_MISSING:
${TAMPERING_HELP}

Photos are delivered with --photo-url only: without it a request for them is
refused with INVALID_VALUE. An unknown link is answered with 404 NOT_FOUND,
another key with 401. /_sandbox/requests and /_sandbox/deliveries show the
requests and deliveries, /_sandbox/census the number of pre-orders. Verification
statuses besides NOT_VERIFIED, their causes and their delays are invented, as
are customers and cards.

${new Help().boxWrap(`Scenarios: ${Object.keys(SCENARIOS).join(', ')}.`, WIDTH)}
Some scenarios change the answers of the exchange. Taken orders are completed:
${itemList(Object.entries(ODD_ANSWERS).map(([name, { what }]) => [name, what]))}

The statuses besides REQUEST and NEW, their sequence and delays are invented.
More scenarios come from the file of --scenarios:
  slow-payout:
    appearsAfter: 2s      # or never
    steps:
      - { after: 3s, order: IN_PROGRESS, crypto: CONFIRMED }
      - { after: 1h, order: COMPLETED, fiat: PAID, completed: true }`;

export function define(command: Command): void {
  command
    .description('runs an exchange to try things on, until Ctrl-C; prints the lines to paste into another terminal')
    .option('--port <n>', 'port on 127.0.0.1; 0 for any', wholeNumber(0, 65_535), 8_089)
    .option('--key <key>', `key of a merchant; repeat it for more merchants (default: ${USUAL_KEY})`, oneMoreKey)
    .option('--seed <n>', 'decides its random choices, customers and cards', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--speed <n>', 'how much faster orders change and clients are verified', speed, 1)
    .option('--scenarios <file>', 'more scenarios, in YAML', scenarioFile)
    .option('--scenario <name>', 'the scenario of every order, such as rejected (default: completed)')
    .option('--rate <n/duration>', 'the rate above which it answers 429, for example 10/1s', rate)
    .option(
      '--faults <list>',
      `faults with their probabilities, for example reset-after=0.02; known are ${FAULTS.join(', ')}`,
      faults,
    )
    .option('--photo-url <url>', 'the address on this machine that photos are delivered to', photoUrl)
    .option('--remote-photos', 'lets --photo-url name another machine')
    .option('--log <file>', 'appends each request and delivery as a JSON line')
    .addHelpText('after', HELP)
    .action(async (options: SandboxCommandOptions) => {
      const scenarios = { ...SCENARIOS, ...options.scenarios };
      const everyOrders = options.scenario === undefined ? undefined : scenarios[options.scenario];
      if (options.scenario !== undefined && everyOrders === undefined) {
        const known = Object.keys(scenarios);
        const advice = didYouMean(options.scenario, known) ?? `Known scenarios are ${known.join(', ')}.`;
        command.error(`error: option '--scenario <name>' argument '${options.scenario}' is invalid. ${advice}`);
      }
      if (options.photoUrl !== undefined && options.remotePhotos !== true && !isLoopback(options.photoUrl.hostname))
        command.error('error: --photo-url names another machine; add --remote-photos if that is meant');
      const log = options.log === undefined ? undefined : await openLog(options.log, command);
      const logLine = (line: object) => void log?.write(`${JSON.stringify(line)}\n`);
      const [apiKey = USUAL_KEY, ...otherKeys] = options.key ?? [];
      const clock = systemClock();
      const sandbox = await startSandbox({
        ...options,
        apiKey,
        otherKeys,
        clock,
        // The number grows with time: a database would report the number of an earlier sandbox as a reused pre-order.
        firstNumber: Math.floor((clock.now().getTime() - Date.parse('2026-01-01T00:00:00.000Z')) / 10),
        random: seededRandom(options.seed),
        scenarioOf: (id) => scenarioNamedIn(id, scenarios) ?? everyOrders,
        photoUrl: options.photoUrl?.href,
        onRequest: logLine,
        onDelivery(delivery) {
          logLine(delivery);
          process.stderr.write(`photos of ${delivery.linkId} delivered: ${delivery.status ?? 'no answer'}\n`);
        },
      }).catch((error: Error) =>
        command.error(`error: port ${options.port} cannot be used (${error.message}); --port 0 takes any`),
      );
      sayHowToUse(sandbox.url, apiKey);
      process.send?.({ type: 'listening', url: sandbox.url });
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      await sandbox.close();
      if (log !== undefined) await finished(log.end());
    });
}

function sayHowToUse(url: string, apiKey: string): void {
  const [key, option] = apiKey === USUAL_KEY ? ['', ''] : [`printf %s ${shellWord(apiKey)} | `, ' --api-key-file -'];
  process.stderr.write(
    pasteable(`The sandbox exchange runs at ${url} until Ctrl-C.
${FORGETS}

In another terminal, in this folder, paste these two lines:

  ${key}order-sync init --sandbox ${url}${option}
  order-sync run

The first makes settings and a database. If you have settings already, paste these
lines in place of the first:

`),
  );
  process.stdout.write(
    `export ORDER_SYNC_EXCHANGE_BASE_URL=${url}\nexport ORDER_SYNC_EXCHANGE_API_KEY=${shellWord(apiKey)}\n`,
  );
}

async function openLog(path: string, command: Command): Promise<WriteStream> {
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  await once(stream, 'open').catch((error: Error) => command.error(`error: --log: ${error.message}`));
  return stream;
}

function oneMoreKey(text: string, keys: readonly string[] | undefined): readonly string[] {
  return [...new Set(keys).add(optionOf(reader(headerText))(text))];
}

function scenarioFile(path: string): Scenarios {
  try {
    return readScenarios(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function speed(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('Give a number above 0.');
  return Number(text);
}

function photoUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Give an http or https address without a user name or password.');
  return url;
}

function rate(text: string): SandboxCommandOptions['rate'] {
  const [, requests = '', interval = ''] = /^([1-9]\d*)\/(.+)$/.exec(text) ?? [];
  if (requests === '') throw new InvalidArgumentError('Give the rate as 10/1s.');
  return { requests: Number(requests), intervalMs: duration(interval) };
}

function faults(text: string): FaultPlan {
  const plan = Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', probability = ''] = part.split('=');
      if (!FAULTS.some((known) => known === name))
        throw new InvalidArgumentError(didYouMean(name, FAULTS) ?? `Known faults are ${FAULTS.join(', ')}.`);
      if (!/^(0|1|0?\.\d+)$/.test(probability))
        throw new InvalidArgumentError(`${part} is not NAME=PROBABILITY with a probability from 0 to 1`);
      return [name as Fault, Number(probability)];
    }),
  );
  if (sumOf(Object.values(plan), Number) > 1 + Number.EPSILON * FAULTS.length)
    throw new InvalidArgumentError('the probabilities add up to more than 1');
  return plan;
}

function itemList(items: readonly (readonly [name: string, text: string])[]): string {
  const help = new Help();
  help.prepareContext({ helpWidth: WIDTH });
  const widest = Math.max(...items.map(([name]) => name.length));
  return items.map(([name, text]) => help.formatItem(name, widest, text, help)).join('\n');
}
