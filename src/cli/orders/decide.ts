import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { statesFor, type Judgement } from '../../domain/orders/operator-decisions.ts';
import type { OrderState } from '../../domain/orders/states.ts';
import { pathId } from '../../exchange/ids.ts';
import {
  decideOrders,
  listTargets,
  type OperatorDeps,
  type OperatorResult,
  type OperatorTarget,
} from '../../flows/orders/operator-decisions.ts';
import { asTable, printable } from '../../reports/formats/text.ts';
import { CommandError, EXIT } from '../exit.ts';
import { ACCOUNT, withStore } from '../options.ts';
import { addPeriodOptions, type PeriodOptions } from '../report/period.ts';

/** So many orders are decided about at once; of them so many are shown before the question. */
const MOST_AT_ONCE = 10_000;
const MOST_SHOWN = 100;
const LONGEST_TEXT = 500;

interface DecideOptions extends PeriodOptions {
  readonly reason: string;
  readonly actor?: string;
  readonly state?: OrderState;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** One of the three commands: what it decides, and how its options say so. */
interface DecisionCommand<Options> {
  readonly name: string;
  readonly description: string;
  readonly kinds: readonly Judgement['kind'][];
  readonly options: readonly Option[];
  readonly example: string;
  /** What the options say; a text where they contradict each other. */
  readonly judgementOf: (options: Options, ids: readonly string[]) => Judgement | string;
}

const AS = ['exists', 'not-created', 'abandoned'] as const;

interface ResolveOptions {
  readonly as: (typeof AS)[number];
  readonly preOrderId?: string;
}

const RESOLVE: DecisionCommand<ResolveOptions> = {
  name: 'resolve',
  description: 'says what became of orders that were sent: known now, or given up',
  kinds: AS,
  options: [
    new Option('--as <what>', 'exists: follow it; not-created: send it again; abandoned: end it')
      .choices(AS)
      .makeOptionMandatory(),
    new Option('--pre-order-id <id>', 'with --as exists: the id of its pre-order at the exchange'),
  ],
  example: `order-sync orders resolve shop-1001 --as exists --pre-order-id 5d1f --reason 'the exchange confirmed it'
  order-sync orders resolve --state held --as not-created --reason 'the exchange was down all day'`,
  judgementOf: ({ as, preOrderId }, ids) => {
    if (as !== 'exists') return preOrderId === undefined ? { kind: as } : '--pre-order-id goes with --as exists';
    if (ids.length !== 1) return '--as exists is for one order, as each has a pre-order of its own';
    if (preOrderId === undefined) {
      return '--as exists wants --pre-order-id; an order that the exchange shows is found by order-sync sync';
    }
    // Refuses what can be no id.
    pathId(preOrderId);
    return { kind: 'exists', preOrderId };
  },
};

const RETRY: DecisionCommand<{ readonly iKnowItMayDuplicate?: boolean }> = {
  name: 'retry',
  description: 'sends orders again that were rejected, are invalid, or whose outcome is unknown',
  kinds: ['retry'],
  options: [
    new Option('--i-know-it-may-duplicate', 'also where the exchange may have taken the first, and takes both'),
  ],
  example: `order-sync orders retry shop-1001 shop-1002 --reason 'the currency is enabled now'`,
  judgementOf: ({ iKnowItMayDuplicate }) => ({ kind: 'retry', mayDuplicate: iKnowItMayDuplicate === true }),
};

const CANCEL: DecisionCommand<unknown> = {
  name: 'cancel',
  description: 'ends orders that were not sent yet',
  kinds: ['cancel'],
  options: [],
  example: `order-sync orders cancel shop-1001 --reason 'the client has changed their mind'`,
  judgementOf: () => ({ kind: 'cancel' }),
};

/** `order-sync orders resolve|retry|cancel`: what only a person can decide. */
export function registerDecisions(program: Command, orders: Command): void {
  registerDecision(program, orders, RESOLVE);
  registerDecision(program, orders, RETRY);
  registerDecision(program, orders, CANCEL);
}

function registerDecision<Options>(program: Command, orders: Command, decision: DecisionCommand<Options>): void {
  const { name, description, kinds, options, example, judgementOf } = decision;
  const states = [...new Set(kinds.flatMap((kind) => statesFor(kind)))];
  const command = orders.command(name).description(description).argument('[externalOrderId...]');
  for (const option of options) command.addOption(option);
  command
    .addOption(new Option('--reason <text>', 'why; part of the history').argParser(text).makeOptionMandatory())
    .addOption(new Option('--actor <name>', 'who decides, if not the user of this system').argParser(text))
    .addOption(new Option('--state <state>', 'every order in this state, in place of ids').choices(states));
  addPeriodOptions(command)
    .option('--yes', 'with --state: do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample${example.includes('\n') ? 's' : ''}:\n  ${example}`)
    .action(async (ids: readonly string[], given: DecideOptions & Options) => {
      const judgement = judgementOf(given, ids);
      if (typeof judgement === 'string') return command.error(`error: ${judgement}`);
      const wrong = wrongTargets(ids, given);
      if (wrong !== undefined) return command.error(`error: ${wrong}`);
      const action = { judgement, reason: given.reason, actor: given.actor ?? systemUser() };
      await withStore(program, 'current', async (store, config) => {
        const deps: OperatorDeps = { account: ACCOUNT, store, clock: systemClock(), settings: config.follow };
        const { state } = given;
        const targets =
          state === undefined
            ? [...new Set(ids)].map((externalOrderId) => ({ externalOrderId }))
            : await chosen(await listTargets(deps, { ...given, state, limit: MOST_AT_ONCE + 1 }, action), given);
        await tell(decideOrders(deps, targets, action), given.json === true);
      });
    });
}

function wrongTargets(ids: readonly string[], { state, from, to, yes }: DecideOptions): string | undefined {
  if (state === undefined && ids.length === 0) return 'name an order, or give --state';
  if (state !== undefined && ids.length > 0) return 'give either ids or --state';
  const isFiltered = from !== undefined || to !== undefined || yes === true;
  return state === undefined && isFiltered ? '--from, --to and --yes go with --state' : undefined;
}

/** What the person agrees to, having seen it. */
async function chosen(
  found: readonly { readonly target: OperatorTarget; readonly result: OperatorResult }[],
  { yes }: DecideOptions,
): Promise<readonly OperatorTarget[]> {
  const listed = found.slice(0, MOST_AT_ONCE);
  if (found.length > listed.length) {
    process.stderr.write(`there are more than ${MOST_AT_ONCE}: run it again for the rest\n`);
    process.exitCode = EXIT.look;
  }
  const targets = listed.map(({ target }) => target);
  if (targets.length === 0) process.stderr.write('there is no such order\n');
  const changes = listed.filter(({ result }) => result.kind === 'done').length;
  if (yes === true || changes === 0) return targets;
  const rows = listed.slice(0, MOST_SHOWN).map(({ result }) => ({
    id: result.externalOrderId,
    change: result.kind === 'done' ? `${result.from} → ${result.to}` : 'none',
    why: result.kind === 'done' ? null : result.why,
  }));
  const more = listed.length > rows.length ? `… and ${listed.length - rows.length} more\n` : '';
  process.stderr.write(`${asTable(rows)}${more}`);
  const question = `${changes} of these ${listed.length} orders would change. Go on? [y/N] `;
  if (!process.stdin.isTTY) {
    throw new CommandError(EXIT.usage, 'nothing was changed: there is nobody to ask; give --yes to go on');
  }
  if (await agreed(question, process.stdin, process.stderr)) return targets;
  throw new CommandError(EXIT.look, 'nothing was changed');
}

/** Asks; anything but yes, and the end of the input, is a no. */
export async function agreed(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const dialogue = createInterface({ input, output });
  const ended = new Promise<string>((resolve) => dialogue.once('close', () => resolve('')));
  try {
    return /^y(es)?$/i.test((await Promise.race([dialogue.question(question), ended])).trim());
  } finally {
    dialogue.close();
  }
}

/** What became of each order, as it is known: should the disk be full in the middle, that is all that was done. */
async function tell(results: AsyncIterable<OperatorResult>, asJson: boolean): Promise<void> {
  const all: OperatorResult[] = [];
  let passedOver = 0;
  try {
    for await (const result of results) {
      if (result.kind === 'passed-over') passedOver += 1;
      if (asJson) all.push(result);
      else if (result.kind === 'done') {
        process.stdout.write(`${printable(result.externalOrderId)}: ${result.from} → ${result.to}\n`);
      } else process.stderr.write(`${printable(result.externalOrderId)}: passed over, ${printable(result.why)}\n`);
    }
  } finally {
    if (asJson) process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  }
  if (passedOver > 0) process.exitCode = EXIT.look;
}

/** Who decides unless a person says otherwise. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    throw new CommandError(EXIT.usage, 'the user of this system has no name: say who decides with --actor');
  }
}

/** The value of an option that becomes part of the history. Throws `InvalidArgumentError`. */
export function text(given: string): string {
  const trimmed = given.trim();
  if (trimmed === '' || trimmed.length > LONGEST_TEXT || !trimmed.isWellFormed()) {
    throw new InvalidArgumentError(`A text of 1 to ${LONGEST_TEXT} characters is wanted.`);
  }
  return trimmed;
}
