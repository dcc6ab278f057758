import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { InvalidArgumentError, type Command } from 'commander';
import { systemClock } from '../clock.ts';
import { parseDuration } from '../config-values.ts';
import { FAULTS, type Fault, type FaultPlan } from '../sandbox/faults.ts';
import { seededRandom } from '../sandbox/random.ts';
import { SCENARIOS, type Scenario } from '../sandbox/scenario.ts';
import { startSandbox } from '../sandbox/server.ts';

interface SandboxCommandOptions {
  readonly port: number;
  readonly key: string;
  readonly seed: number;
  readonly speed: number;
  readonly scenario?: Scenario;
  readonly rate?: { requests: number; intervalMs: number };
  readonly faults: FaultPlan;
  readonly log?: string;
}

/** `order-sync sandbox`: the sandbox exchange in the foreground. */
export function registerSandbox(program: Command): void {
  program
    .command('sandbox')
    .description('an exchange to try things on: prints the environment lines to paste, runs until a signal')
    .option('--port <n>', 'port on 127.0.0.1; 0 for any', number, 0)
    .option('--key <key>', 'the key it takes', 'sandbox-key')
    .option('--seed <n>', 'decides its chances', number, 1)
    .option('--speed <n>', 'how much faster orders live', number, 1)
    .option('--scenario <name>', `how every order lives: ${Object.keys(SCENARIOS).join(', ')}`, scenario)
    .option('--rate <n/duration>', 'answers 429 above it, for example 10/1s', rate)
    .option('--faults <list>', `likelihoods, for example reset-after=0.02; of ${FAULTS.join(', ')}`, faults, {})
    .option('--log <file>', 'appends each request as a JSON line')
    .addHelpText(
      'after',
      '\nExample:\n  order-sync sandbox --port 8089 --faults reset-after=0.02,error-taken=0.02\n\nAn external order id fault-NAME-… has that fault on its first create.',
    )
    .action(async (options: SandboxCommandOptions) => await serve(options));
}

async function serve(options: SandboxCommandOptions): Promise<void> {
  const log = options.log === undefined ? undefined : createWriteStream(options.log, { flags: 'a', mode: 0o600 });
  const sandbox = await startSandbox({
    apiKey: options.key,
    clock: systemClock(),
    random: seededRandom(options.seed),
    port: options.port,
    speed: options.speed,
    faults: options.faults,
    ...(options.scenario === undefined ? {} : { scenarioOf: () => options.scenario as Scenario }),
    ...(options.rate === undefined ? {} : { rate: options.rate }),
    onRequest: (request) => log?.write(`${JSON.stringify(request)}\n`),
  });
  process.stdout.write(
    `export ORDER_SYNC_EXCHANGE_BASE_URL=${sandbox.url}\nexport ORDER_SYNC_EXCHANGE_API_KEY=${options.key}\n`,
  );
  process.send?.({ type: 'listening', url: sandbox.url });
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await sandbox.close();
  log?.end();
  if (process.connected) process.disconnect();
}

function number(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError('a number is wanted');
  return value;
}

function scenario(name: string): Scenario {
  const found = SCENARIOS[name];
  if (found === undefined) throw new InvalidArgumentError(`one of ${Object.keys(SCENARIOS).join(', ')} is wanted`);
  return found;
}

function rate(text: string): { requests: number; intervalMs: number } {
  const [, requests, interval] = /^(\d+)\/(.+)$/.exec(text) ?? [];
  if (requests === undefined || interval === undefined) throw new InvalidArgumentError('write it as 10/1s');
  return { requests: Number(requests), intervalMs: parseDuration(interval) };
}

function faults(text: string): FaultPlan {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', likelihood = ''] = part.split('=');
      const isKnown = (FAULTS as readonly string[]).includes(name);
      if (!isKnown || !(Number(likelihood) >= 0 && Number(likelihood) <= 1) || likelihood === '') {
        throw new InvalidArgumentError(`${part} is not NAME=LIKELIHOOD with a likelihood from 0 to 1`);
      }
      return [name as Fault, Number(likelihood)];
    }),
  );
}
