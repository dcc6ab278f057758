import { Option, type Command } from 'commander';
import { pathId } from '../../exchange/ids.ts';
import { defineDecision } from './decision.ts';

const AS = ['exists', 'not-created', 'abandoned'] as const;

interface ResolveOptions {
  readonly as: (typeof AS)[number];
  readonly preOrderId?: string;
}

/** `order-sync orders resolve`. */
export function define(command: Command): void {
  command
    .description('records what became of orders that were sent, or ends them')
    .addOption(
      new Option('--as <what>', 'exists: follow it; not-created: send it again; abandoned: end it')
        .choices(AS)
        .makeOptionMandatory(),
    )
    .option('--pre-order-id <id>', 'with --as exists: the id of its pre-order at the exchange');
  defineDecision<ResolveOptions>(command, {
    kinds: AS,
    examples: `
Examples:
  order-sync orders resolve shop-1001 --as exists --pre-order-id 5d1f --reason 'the exchange confirmed it'
  order-sync orders resolve --state held --as not-created --reason 'the exchange was down all day'`,
    judgementOf({ as, preOrderId }, ids) {
      if (as !== 'exists') return preOrderId === undefined ? { kind: as } : '--pre-order-id goes with --as exists';
      if (ids.length !== 1) return '--as exists is for one order, as each has a pre-order of its own';
      if (preOrderId === undefined) {
        return '--as exists wants --pre-order-id; order-sync sync finds an order that the exchange shows';
      }
      // Refuses a text that can be no id.
      pathId(preOrderId);
      return { kind: 'exists', preOrderId };
    },
  });
}
