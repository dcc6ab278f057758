/** The option that shows payment tokens. */
export const REVEAL = ['--reveal', 'show payment tokens as they are'] as const;

const HIDDEN = '<hidden>';
/** The field in a body that stays text. */
const TOKEN_IN_BODY = /("paymentToken"\s*:\s*)"(?:[^"\\]|\\.)*"/g;

/** A row of an order with its payment token hidden. */
export function withoutToken<Row extends { payment_token: string | null }>(row: Row): Row {
  return row.payment_token === null ? row : { ...row, payment_token: HIDDEN };
}

/** JSON text as received with its payment tokens hidden. */
export function withoutTokens(body: string | null): string | null {
  return body?.replaceAll(TOKEN_IN_BODY, `$1"${HIDDEN}"`) ?? null;
}
