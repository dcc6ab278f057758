import type { Command } from 'commander';
import { defineDecision } from './decision.ts';

/** `order-sync orders cancel`. */
export function define(command: Command): void {
  defineDecision(command, {
    kinds: ['cancel'],
    examples: "\nExample:\n  order-sync orders cancel shop-1001 --reason 'the client has changed their mind'",
    judgementOf: () => ({ kind: 'cancel' }),
  });
}
