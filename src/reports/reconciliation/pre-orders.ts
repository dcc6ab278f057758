import type { Supplement } from './document.ts';

/** Makes the part of the report about the requests for pre-orders. Missing and differing ones are findings. */
export function preOrderSupplement(asked: {
  readonly asked: number;
  readonly unanswered: number;
  readonly missing: number;
  readonly differing: number;
}): Supplement {
  const { unanswered, missing, differing } = asked;
  return {
    facts: [
      { key: 'pre_orders_asked', label: 'Pre-orders asked for', value: asked.asked },
      { key: 'pre_orders_missing', label: 'Pre-orders missing', value: missing },
      { key: 'pre_orders_differing', label: 'Pre-orders that differ', value: differing },
      { key: 'pre_orders_unanswered', label: 'Pre-orders not answered', value: unanswered },
    ],
    sections: [],
    problems: unanswered === 0 ? [] : [`pre-orders not answered: ${unanswered}`],
  };
}
