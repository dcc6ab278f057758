import type { Command } from 'commander';
import { defineDecision } from './decision.ts';

/** `order-sync orders retry`. */
export function define(command: Command): void {
  command.option(
    '--i-know-it-may-duplicate',
    'also where the exchange may have taken the first request, and would take both',
  );
  defineDecision<{ readonly iKnowItMayDuplicate?: boolean }>(command, {
    kinds: ['retry'],
    examples: "\nExample:\n  order-sync orders retry shop-1001 shop-1002 --reason 'the currency is enabled now'",
    judgementOf: ({ iKnowItMayDuplicate }) => ({ kind: 'retry', mayDuplicate: iKnowItMayDuplicate === true }),
  });
}
