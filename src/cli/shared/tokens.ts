import { HIDDEN } from '../../domain/text.ts';

/** The option that shows tokens. */
export const REVEAL = ['--reveal', 'show tokens and payment links as they are'] as const;

/** A row of an order with its payment token hidden. */
export function withoutToken<Row extends { payment_token: string | null }>(row: Row): Row {
  return row.payment_token === null ? row : { ...row, payment_token: HIDDEN };
}
