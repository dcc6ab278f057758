import { decisionsFor, type Judgement } from '../../domain/orders/operator-decisions.ts';
import type { OrderState } from '../../domain/orders/states.ts';
import { accountWords } from '../../domain/accounts/name.ts';
import { shellWord } from '../../domain/text.ts';
import type { StoryOrder } from './evidence.ts';

const DECISIONS: Readonly<Record<Judgement['kind'], readonly [command: string, options: string]>> = {
  exists: ['orders resolve', '--as exists --pre-order-id PRE_ORDER_ID --reason TEXT'],
  'not-created': ['orders resolve', '--as not-created --reason TEXT'],
  ours: ['orders resolve', '--as ours --reason TEXT'],
  abandoned: ['orders resolve', '--as abandoned --reason TEXT'],
  retry: ['orders retry', '--reason TEXT'],
  cancel: ['orders cancel', '--reason TEXT'],
};

/** What names an order: an id is that of one order of its account alone. */
type NamedOrder = Pick<StoryOrder, 'account' | 'externalOrderId'>;

/** The commands, as a shell takes them, of the decisions that a person may make about an order of this state. */
export function decisionCommands(order: NamedOrder, state: OrderState): readonly string[] {
  // To send again what the exchange may have taken is no step that anybody is led to.
  const mayBeTaken = state === 'unknown' || state === 'held';
  return decisionsFor(state)
    .filter((kind) => kind !== 'retry' || !mayBeTaken)
    .map((kind) => commandOf(DECISIONS[kind][0], order, DECISIONS[kind][1]));
}

export function lookupCommand(order: NamedOrder): string {
  return commandOf('lookup', order);
}

export function isCommand(line: string): boolean {
  return line.startsWith('order-sync ');
}

/** An id that begins with a hyphen would be taken for an option. */
function commandOf(command: string, { account, externalOrderId: id }: NamedOrder, more = ''): string {
  const options = `${more}${accountWords(account)}`.trim();
  const words = id.startsWith('-') ? [options, '--', shellWord(id)] : [shellWord(id), options];
  return ['order-sync', command, ...words].filter((word) => word !== '').join(' ');
}
