import { MAX_ID_BYTES_ENCODED } from '../orders/rules/check.ts';
import { isPlainText } from '../base/text.ts';

const MOST_IDS = 5;

/** An id or address that cannot be put into a request. Nothing was sent. */
export class UnusableIdError extends Error {
  override readonly name = 'UnusableIdError';
}

/** Encodes an id for a path. Throws `UnusableIdError` if the id is no plain text, or changes the path (`.`, `..`). */
export function pathId(id: string): string {
  if (id === '.' || id === '..' || !isPlainText(id)) throw unusable(id, 'an id');
  return encodeURIComponent(id);
}

/** Encodes an id for a query (§4.11). Throws `UnusableIdError` if the id is empty, ill-formed Unicode or too long. */
export function queryId(id: string): string {
  const encoded = id.isWellFormed() ? encodeURIComponent(id) : '';
  if (encoded === '' || encoded.length > MAX_ID_BYTES_ENCODED) throw unusable(id, 'an id');
  return encoded;
}

export function preOrderIdsIn(body: string): readonly string[] {
  return idsIn(body, ['id', 'preOrderId']);
}

/** Returns up to 5 values of `fields` from anywhere in `body`, even if it is no JSON. A value with a blank is no id. */
export function idsIn(body: string, fields: readonly string[]): readonly string[] {
  const field = new RegExp(
    `"(?:${fields.join('|')})"\\s*:\\s*(?:"([^"\\\\\\s@]{1,100})"|(-?\\d[\\d.eE+-]{0,200}))`,
    'g',
  );
  const ids = body.matchAll(field).map(([, text, number]) => text ?? number ?? '');
  return [...new Set(ids.take(MOST_IDS))];
}

export function unusable(id: string, what: string): UnusableIdError {
  // An error must not quote an e-mail address that was given by mistake.
  const shown = id.includes('@') ? 'an e-mail address' : JSON.stringify(id.slice(0, 60));
  return new UnusableIdError(`${shown} cannot be ${what}; check the id and try again`);
}
