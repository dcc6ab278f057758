import { HIDDEN } from '../../base/text.ts';
import { isLosslessNumber, stringify } from 'lossless-json';
import { readJson } from '../../exchange/json.ts';

/** Names of fields whose values authorize the holder. `fiatTransaction.link` (§2.7) may authorize a payment. */
const SECRET_NAME = /token|secret|password|api[-_]?key|^link$/i;

/** Hides secret fields of a JSON body at any depth, and keeps every digit. A body that is no JSON is hidden whole. */
export function withoutTokens(body: string): string {
  const value = readJson(body);
  return (value === undefined ? undefined : stringify(withoutSecrets(value))) ?? JSON.stringify(HIDDEN);
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return value;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [
    name,
    field !== null && SECRET_NAME.test(name) ? HIDDEN : withoutSecrets(field),
  ]);
  return Object.fromEntries(fields);
}
