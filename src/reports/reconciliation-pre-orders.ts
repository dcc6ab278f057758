import type { Supplement } from './reconciliation.ts';

/** What the report says of having asked the exchange for each pre-order. The missing ones are findings. */
export function preOrderSupplement(asked: {
  readonly asked: number;
  readonly unanswered: number;
  readonly missing: readonly unknown[];
}): Supplement {
  const { unanswered, missing } = asked;
  return {
    facts: [
      { key: 'pre_orders_asked', label: 'Pre-orders asked for', value: asked.asked },
      { key: 'pre_orders_missing', label: 'Pre-orders missing', value: missing.length },
      { key: 'pre_orders_unanswered', label: 'Pre-orders not answered', value: unanswered },
    ],
    sections: [],
    troubles: unanswered === 0 ? [] : [`pre-orders not answered: ${unanswered}`],
  };
}
