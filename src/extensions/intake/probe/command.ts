import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { print } from '../../commands/print.ts';
import { systemClock } from '../../../base/clock.ts';
import { OWN_SETTINGS } from '../../../base/places.ts';
import type { Config } from '../../../settings/config.ts';
import { readLines } from '../import.ts';
import type { InputOf } from '../../api/operation.ts';
import { INTAKE_OPERATIONS } from '../addresses.ts';
import { printable } from '../../../base/words.ts';
import { columnsOf } from '../../../store/orders/order-columns.ts';
import { formatOf, openInput } from '../../commands/files.ts';
import { agrees } from '../../operate/decision-options.ts';
import { commandError, withExchange, type Ask } from '../../api/asking/ask.ts';
import { addUrlOption, urlsOf } from '../../../cli/shared/options.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import type { Evidence, ProbeRow, ProbeStep } from './questions.ts';
import { nested } from '../../../settings/layers.ts';
import { checkedOrder } from '../commands/adopt.ts';
import { pasteable } from '../../../base/invocation.ts';

/** The most look-ups at once, because more would show nothing more. */
const MOST_REQUESTS = 30;

const EXPLAINED: Readonly<Record<ProbeStep, string>> = {
  absence:
    'Looks up two ids that no order has, one of them twice, and an address that does not exist. 4 requests; nothing is made.',
  ids: 'Asks for a pre-order and a link that do not exist. 2 requests; nothing is made.',
  key: 'Asks once with an invented key, not with yours. The exchange may record a failed attempt.',
  order: 'Creates the order of the file, once. It is a real order: it is added to the table, and followed.',
  repeat: 'Sends the create of that order once more. It may make a second pre-order, which the exchange must cancel.',
  rate: 'Sends look-ups at once, as many as exchange.rate allows and at most 30. It stops at the first 429.',
};

const HELP = `
Each step is explained, and on a terminal it waits for your consent. Without
--order nothing is made. The settings that result from the answers are printed
as YAML for ${OWN_SETTINGS}. Add to exchange.absence only answers that the
exchange has confirmed. The answers, without key and tokens, are kept in a file
beside the database.

Examples:
  order-sync probe
  order-sync probe --order one-small-order.csv`;

type Options = Readonly<{ order?: string; repeatId?: boolean; yes?: boolean; json?: boolean }>;

type Order = InputOf<typeof INTAKE_OPERATIONS.addOrder>;

interface Seen {
  readonly rows: ProbeRow[];
  readonly evidence: Evidence[];
  /** The steps without an answer. If an owner ends, the next owner begins with these steps. */
  readonly rest: ProbeStep[];
  stopped?: Error;
}

export function define(command: Command): void {
  addUrlOption(command)
    .description('asks the exchange of your account what its document leaves open, and prints the settings that result')
    .option('--order <file>', 'create the one order of this file (columns as for orders import)')
    .option('--repeat-id', 'with --order: send its create once more, which may make a second pre-order')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const { order: file, repeatId = false, json = false } = options;
      if (repeatId && file === undefined) command.error('error: --repeat-id needs --order');
      const order = file === undefined ? undefined : await readOrder(file);
      const steps = await agreedSteps(order, options);
      const seen: Seen = { rows: [], evidence: [], rest: [...steps] };
      if (options.yes === true) for (const step of steps) process.stderr.write(`${step}: ${EXPLAINED[step]}\n`);
      const config = await withExchange(command, async (ask, settings) => {
        await take(ask, seen, order, settings);
        return settings;
      });
      const { rows } = seen;
      const [evidence, found] = [keep(seen, config, urlsOf(command) !== undefined), settingsOf(rows, config)];
      print(json, { rows, settings: found, evidence }, () => asText(rows, found));
      if (!json && evidence !== null) process.stderr.write(`the answers are in ${printable(evidence)}\n`);
      if (seen.stopped !== undefined) throw seen.stopped;
      process.exitCode = rows.some(({ isOdd }) => isOdd) ? EXIT.look : EXIT.ok;
    });
}

async function readOrder(file: string): Promise<Order> {
  const format = formatOf(file);
  if (format === undefined) throw new CommandError(EXIT.usage, `the name ${file} must end in .csv or .ndjson`);
  const lines = await Array.fromAsync(readLines(await openInput(file), format));
  const [line] = lines;
  if (line === undefined || lines.length > 1)
    throw new CommandError(EXIT.data, `${file} must contain exactly one order`);
  const order = checkedOrder(line);
  if (typeof order !== 'string') return columnsOf(order) as Order;
  throw new CommandError(EXIT.data, `${file}:${line.line}: ${order}`);
}

/** Returns the steps that a person agrees to. Asks before this command may own the account, so that no pass waits. */
async function agreedSteps(order: Order | undefined, { repeatId, yes }: Options): Promise<readonly ProbeStep[]> {
  const ofOrder: ProbeStep[] = order === undefined ? [] : repeatId === true ? ['order', 'repeat'] : ['order'];
  // `rate` is the last step, because no request may be sent for some time after a 429.
  const steps: ProbeStep[] = ['absence', 'ids', 'key', ...ofOrder, 'rate'];
  if (yes === true) return steps;
  if (!process.stdin.isTTY)
    throw new CommandError(EXIT.usage, 'nothing was asked: there is no terminal for your consent; use --yes');
  const agreed: ProbeStep[] = [];
  for (const step of steps) if (await agrees(`${step}: ${EXPLAINED[step]} Do it? (y/N) `)) agreed.push(step);
  return agreed;
}

async function take(ask: Ask, seen: Seen, order: Order | undefined, config: Config): Promise<void> {
  const requests = String(Math.min(config.exchange.rate.requests, MOST_REQUESTS));
  for (let [step] = seen.rest; step !== undefined; [step] = seen.rest) {
    const ofStep = { ...((step === 'order' || step === 'repeat') && { order }), ...(step === 'rate' && { requests }) };
    const result = await ask(INTAKE_OPERATIONS.probe, { step, ...ofStep });
    seen.rest.shift();
    if (result.kind !== 'ok') {
      const isRefusedHere = result.kind === 'invalid' && result.httpStatus !== 404;
      seen.stopped = isRefusedHere ? new CommandError(EXIT.usage, result.message) : commandError(result);
      return;
    }
    const { rows, evidence } = JSON.parse(result.body) as Pick<Seen, 'rows' | 'evidence'>;
    seen.rows.push(...rows);
    seen.evidence.push(...evidence);
  }
}

/** Writes the answers to a file with mode 0600. Returns its path, or null without answers or if the write fails. */
function keep(seen: Seen, { database }: Config, isElsewhere: boolean): string | null {
  const { rows, evidence } = seen;
  if (evidence.length === 0) return null;
  const stamp = systemClock().now().toISOString().replaceAll(/[:.]/g, '-');
  const folder = database.kind === 'sqlite' && !isElsewhere ? dirname(database.path) : process.cwd();
  const path = join(folder, `probe-${stamp}.json`);
  try {
    writeFileSync(path, `${JSON.stringify({ rows, evidence }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    return path;
  } catch (error) {
    // Thrown after the answers are printed, because a step may have created an order.
    seen.stopped ??= error as Error;
    return null;
  }
}

function asText(rows: readonly ProbeRow[], settings: object): string {
  if (rows.length === 0) return '';
  const head = "(§ numbers are sections of the exchange's interface document.)\n";
  const lines = rows.map(({ question, seen, follows }) => {
    return `${question}\n  seen: ${printable(seen)}\n  so:   ${printable(pasteable(follows))}\n`;
  });
  const hasNone = Object.keys(settings).length === 0;
  const end = hasNone ? '\nNo setting follows.\n' : `\n# for ${OWN_SETTINGS}\n${stringify(settings)}`;
  return head + lines.join('') + end;
}

/** Returns the settings that follow from the answers. `exchange.absence` includes the configured entries. */
function settingsOf(rows: readonly ProbeRow[], { exchange: { absence } }: Config): object {
  const entries = rows
    .flatMap(({ setting }) => setting ?? [])
    .map(({ path, value }) => {
      const isJoined = path === 'exchange.absence';
      const shapes = isJoined ? [...absence, ...(value as typeof absence)] : [];
      const joined = [...new Map(shapes.map((shape) => [JSON.stringify(shape), shape])).values()];
      return [path, { value: isJoined ? joined : value }] as const;
    });
  return nested(new Map(entries));
}
