import { Option, type Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { statesFor, type Judgement } from '../../domain/orders/operator-decisions.ts';
import type { OrderState } from '../../domain/orders/states.ts';
import {
  decideOrders,
  listTargets,
  type OperatorDeps,
  type OperatorResult,
  type OperatorTarget,
} from '../../flows/orders/operator-decisions.ts';
import { asTable, printable } from '../../reports/formats/text.ts';
import { actorOf, addReasonOptions, confirm, type DecisionOptions } from '../shared/decision.ts';
import { EXIT } from '../shared/exit.ts';
import { ACCOUNT } from '../shared/options.ts';
import { addPeriodOptions, type PeriodOptions } from '../shared/period.ts';
import { withStore } from '../shared/store.ts';

/** Orders that are decided about in one call; of them so many are shown before the question. */
const MOST_AT_ONCE = 10_000;
const MOST_SHOWN = 100;

type OrderOptions = DecisionOptions & PeriodOptions & { readonly state?: OrderState };

/** The decision of `resolve`, `retry` or `cancel`. */
interface OrderDecision<Options> {
  readonly kinds: readonly Judgement['kind'][];
  /** Text of the examples in the help. */
  readonly examples: string;
  /** Makes the judgement of the options; gives a text where they contradict each other. */
  readonly judgementOf: (options: Options, ids: readonly string[]) => Judgement | string;
}

/** Adds to a command that decides about orders all that it shares with the others of its kind. */
export function defineDecision<Options>(command: Command, decision: OrderDecision<Options>): void {
  const { kinds, examples, judgementOf } = decision;
  const states = [...new Set(kinds.flatMap((kind) => statesFor(kind)))];
  addReasonOptions(command.argument('[externalOrderId...]')).addOption(
    new Option('--state <state>', 'every order in this state, in place of ids').choices(states),
  );
  addPeriodOptions(command)
    .option('--yes', 'with --state: do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(async (ids: readonly string[], given: OrderOptions & Options) => {
      const judgement = judgementOf(given, ids);
      if (typeof judgement === 'string') return command.error(`error: ${judgement}`);
      const wrong = wrongTargets(ids, given);
      if (wrong !== undefined) return command.error(`error: ${wrong}`);
      const action = { judgement, reason: given.reason, actor: actorOf(given) };
      await withStore(command, 'current', async (store, config) => {
        const deps: OperatorDeps = { account: ACCOUNT, store, clock: systemClock(), settings: config.follow };
        const { state } = given;
        const targets =
          state === undefined
            ? [...new Set(ids)].map((externalOrderId) => ({ externalOrderId }))
            : await confirmed(await listTargets(deps, { ...given, state, limit: MOST_AT_ONCE + 1 }, action), given);
        await print(decideOrders(deps, targets, action), given.json === true);
      });
    });
}

function wrongTargets(ids: readonly string[], { state, from, to, yes }: OrderOptions): string | undefined {
  if (state === undefined && ids.length === 0) return 'name an order, or give --state';
  if (state !== undefined && ids.length > 0) return 'give either ids or --state';
  const isFiltered = from !== undefined || to !== undefined || yes === true;
  return state === undefined && isFiltered ? '--from, --to and --yes go with --state' : undefined;
}

/** The orders that the person agrees to change, after seeing them. */
async function confirmed(
  found: readonly { readonly target: OperatorTarget; readonly result: OperatorResult }[],
  { yes }: OrderOptions,
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
  await confirm(`${changes} of these ${listed.length} orders would change. Go on? [y/N] `);
  return targets;
}

/** Prints each result as it is known: if the disk fills up in the middle, the results printed by then are all there are. */
async function print(results: AsyncIterable<OperatorResult>, asJson: boolean): Promise<void> {
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
