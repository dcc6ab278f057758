import { HIDDEN } from '../../base/text.ts';
import { stringify } from 'lossless-json';
import { readJson } from '../../exchange/json.ts';

/** Names of fields whose values authorize the holder. `fiatTransaction.link` (§2.7) may authorize a payment. */
const SECRET_NAME = /token|secret|password|api[-_]?key|^link$/i;

/** Hides secret fields of a JSON body at any depth, and keeps every digit. A body that is no JSON is hidden whole. */
export function withoutTokens(body: string): string {
  const hide = (name: string, value: unknown) => (value !== null && SECRET_NAME.test(name) ? HIDDEN : value);
  return stringify(readJson(body), hide) ?? JSON.stringify(HIDDEN);
}
