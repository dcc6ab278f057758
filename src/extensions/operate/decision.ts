import { InvalidArgumentError, Option, type Command } from 'commander';
import { absentOrder } from '../commands/absent-order.ts';
import { withAccount } from '../commands/store.ts';
import { systemClock } from '../../base/clock.ts';
import { statesFor, type Judgement, type OperatorAction } from './rules/judgement.ts';
import type { OrderState } from '../../orders/rules/states.ts';
import { pathId } from '../../exchange/ids.ts';
import { decideOrders, listTargets, type OperatorDeps, type OperatorResult } from './decide-orders.ts';
import type { AccountSettings } from '../../settings/config.ts';
import type { Store } from '../../store/port.ts';
import { flowSettings } from '../../orders/pass/deps.ts';
import { accountWords } from '../../accounts/rules/name.ts';
import { pasteable } from '../../base/invocation.ts';
import { shellWord } from '../../base/text.ts';
import { printable } from '../../base/words.ts';
import { actorOf, addReasonOptions, confirmShown, type DecisionOptions } from './decision-options.ts';
import { EXIT } from '../../cli/shared/exit.ts';
import { examples, addPeriodOptions, type PeriodOptions } from '../commands/options.ts';
import { extensionsOf, partsOf } from '../../cli/shared/extensions.ts';
import type { ListColumn } from '../commands/print.ts';
import { counted } from '../documents/words.ts';

/** The most orders that are kept in memory, and that one question is about. */
const PAGE_ROWS = 10_000;
const AS = ['exists', 'not-created', 'ours', 'abandoned'] as const;
const AS_TEXT = 'exists: follow it; not-created: send it again; ours: trust what the exchange has; abandoned: end it';

interface OrderOptions extends DecisionOptions, PeriodOptions {
  readonly state?: OrderState;
  readonly as: (typeof AS)[number];
  readonly preOrderId?: string;
  readonly iKnowItMayDuplicate?: boolean;
}

const KINDS = { resolve: AS, retry: ['retry'], cancel: ['cancel'] } as const;
const EXAMPLES = {
  resolve: [
    "resolve shop-1001 --as exists --pre-order-id 5d1f \\\n    --reason 'the exchange confirmed it'",
    "resolve --state held --as not-created \\\n    --reason 'the exchange confirmed that it has none of them'",
    "resolve shop-1001 --as ours \\\n    --reason 'the exchange confirmed the amount'",
  ],
  retry: ["retry shop-1001 shop-1002 \\\n    --reason 'the currency is enabled now'"],
  cancel: ["cancel shop-1001 --reason 'the client changed their mind'"],
};

export function define(command: Command): void {
  const name = command.name() as keyof typeof KINDS;
  if (name === 'resolve') {
    command
      .description('records what happened to orders that were sent, or ends them')
      .addOption(new Option('--as <what>', AS_TEXT).choices(AS).makeOptionMandatory())
      .option('--pre-order-id <id>', 'with --as exists: the id that the pre-order has at the exchange', readPreOrderId);
  }
  const which = name === 'resolve' ? 'with --as not-created: ' : '';
  const text = `${which}send it even if the exchange may have accepted the first request and may make a second pre-order`;
  if (name !== 'cancel') command.option('--i-know-it-may-duplicate', text);
  const states = [...new Set(KINDS[name].flatMap((kind) => statesFor(kind)))];
  const state = new Option('--state <state>', 'all orders in this state, instead of ids').choices(states);
  addPeriodOptions(addReasonOptions(command.argument('[externalOrderId...]')).addOption(state))
    .option('--yes', 'with --state: do not ask for confirmation')
    .option('--json', 'print JSON')
    .addHelpText(...examples(...EXAMPLES[name].map((one) => `orders ${one}`)))
    .action(async (ids: readonly string[], options: OrderOptions) => {
      const judgement = judgementOf(command, ids, options);
      checkTargets(command, ids, options);
      const action = { judgement, reason: options.reason, actor: actorOf(options) };
      await withAccount(command, 'current', async (store, config) => {
        const { account } = config;
        const { makePaces } = await partsOf(extensionsOf(command));
        const settings = flowSettings(config, makePaces?.(1)(config));
        const deps: OperatorDeps = { account, store, clock: systemClock(), settings };
        const named = [...new Set(ids)].map((externalOrderId) => ({ externalOrderId }));
        const results =
          options.state === undefined ? decideOrders(deps, named, action) : decidePages(deps, options, action);
        await printResults(explained(results, store, config), options.json === true);
        if (judgement.kind !== 'exists' || process.exitCode !== undefined) return;
        // No look-up of the order can check the id, because an order record has no id of a pre-order.
        const check = `order-sync exchange pre-order show ${shellWord(judgement.preOrderId)}${accountWords(account)}`;
        process.stderr.write(pasteable(`the id of the pre-order was not checked; to check it: ${check}\n`));
      });
    });
}

/** Refuses the words that printed commands have in place of the id. */
function readPreOrderId(text: string): string {
  if (!['PRE_ORDER_ID', 'PID', 'ID'].includes(text)) return text;
  throw new InvalidArgumentError(`Write the id that the exchange told you in place of ${text}.`);
}

function judgementOf(command: Command, ids: readonly string[], options: OrderOptions): Judgement {
  const { as, preOrderId, iKnowItMayDuplicate: mayDuplicate = false } = options;
  if (command.name() === 'cancel') return { kind: 'cancel' };
  if (command.name() === 'retry') return { kind: 'retry', mayDuplicate };
  if (as !== 'exists' && preOrderId !== undefined) command.error('error: use --pre-order-id only with --as exists');
  if (as === 'not-created') return { kind: as, mayDuplicate };
  if (mayDuplicate) command.error('error: use --i-know-it-may-duplicate only with --as not-created');
  if (as !== 'exists') return { kind: as };
  if (ids.length !== 1) command.error('error: --as exists is for one order, because each order has its own pre-order');
  if (preOrderId === undefined)
    command.error('error: --as exists needs --pre-order-id; if the exchange shows the order, run order-sync sync');
  pathId(preOrderId);
  return { kind: 'exists', preOrderId };
}

function checkTargets(command: Command, ids: readonly string[], { state, from, to }: OrderOptions): void {
  if (state === undefined && ids.length === 0) command.error('error: name an order, or use --state');
  if (state !== undefined && ids.length > 0) command.error('error: use either ids or --state');
  if (state === undefined && (from ?? to) !== undefined) command.error('error: use --from and --to only with --state');
}

/** Asks and decides page by page, in the order of ids, so that each order is decided once. */
async function* decidePages(deps: OperatorDeps, { state, from, to, yes }: OrderOptions, action: OperatorAction) {
  for (let afterId: string | undefined; ;) {
    const listed = await listTargets(deps, { state, afterId, from, to, limit: PAGE_ROWS }, action);
    if (listed.length === 0 && afterId === undefined) process.stderr.write('there is no such order\n');
    if (yes !== true) await confirmPage(listed);
    const targets = listed.map(({ target }) => target);
    yield* decideOrders(deps, targets, action);
    if (listed.length < PAGE_ROWS) return;
    afterId = targets.at(-1)?.externalOrderId;
  }
}

async function confirmPage(listed: Awaited<ReturnType<typeof listTargets>>): Promise<void> {
  const changes = listed.filter(({ result }) => result.kind === 'done').length;
  if (changes === 0) return;
  const columns: readonly ListColumn<(typeof listed)[number]>[] = [
    { label: 'id', isId: true, of: ({ result }) => result.externalOrderId },
    { label: 'change', of: ({ result }) => (result.kind === 'done' ? `${result.from} → ${result.to}` : 'none') },
    { label: 'why', of: ({ result }) => (result.kind === 'done' ? null : result.why) },
  ];
  const more = listed.length < PAGE_ROWS ? '' : ', and others may follow';
  const question = `${changes} of ${counted(listed.length, 'order')} would change${more}. Continue? [y/N] `;
  await confirmShown(listed, columns, question);
}

/** If the account lacks an order, names an account that has the order. */
async function* explained(results: AsyncIterable<OperatorResult>, { db }: Store, settings: AccountSettings) {
  for await (const result of results) {
    const isAbsent = result.kind === 'passed-over' && result.state === null;
    yield isAbsent ? { ...result, why: (await absentOrder(db, settings, result.externalOrderId)).message } : result;
  }
}

/** Prints every decision that was made, even if a later decision fails, for example on a full disk. */
async function printResults(results: AsyncIterable<OperatorResult>, asJson: boolean): Promise<void> {
  let separator = '[\n';
  const codes = new Set<number>();
  try {
    for await (const result of results) {
      codes.add(result.kind === 'done' ? EXIT.ok : result.state === null ? EXIT.absent : EXIT.look);
      const id = printable(result.externalOrderId);
      if (asJson) {
        process.stdout.write(`${separator}  ${JSON.stringify(result, null, 2).replaceAll('\n', '\n  ')}`);
        separator = ',\n';
      } else if (result.kind === 'done') process.stdout.write(`${id}: ${result.from} → ${result.to}\n`);
      else process.stderr.write(`${id}: not changed, ${printable(result.why)}\n`);
    }
  } finally {
    if (asJson) process.stdout.write(separator === '[\n' ? '[]\n' : '\n]\n');
  }
  const [code = EXIT.ok] = codes.size > 1 ? [EXIT.look] : codes;
  if (code !== EXIT.ok) process.exitCode = code;
}
