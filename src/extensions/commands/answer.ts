import { isLosslessNumber, stringify } from 'lossless-json';
import { readJson } from '../../exchange/json.ts';
import { toneOf, type Column } from '../documents/document.ts';
import { type Tone, styled, fieldsText, type Screen, type Field } from '../../cli/shared/terminal.ts';
import { tableOf } from '../documents/terminal.ts';
import { printable } from '../../base/words.ts';
import { screenOf } from '../../cli/shared/help.ts';

/** Objects up to this depth are shown as fields, deeper objects as JSON. */
const DEEPEST = 3;

export type Tones = Readonly<Record<string, (value: string) => Tone>>;

type JsonObject = Readonly<Record<string, unknown>>;

type Block = { readonly path: readonly string[]; readonly fields: readonly Field[] };

export function answerText(body: string, screen: Screen, tones: Tones = {}): string {
  const answer = readJson(body);
  if (!isObject(answer)) return `${printable(body)}\n`;
  const blocks = blocksOf(answer, [], tones).filter(({ fields }) => fields.length > 0);
  const widest = Math.max(0, ...blocks.flatMap(({ fields }) => fields.map(({ label }) => label.length)));
  return blocks
    .map(({ path, fields }) => {
      const head = path.length === 0 ? '' : `${styled('bold', printable(path.map(asWords).join(', ')), screen)}\n`;
      return head + fieldsText(fields, screen, widest);
    })
    .join('\n');
}

function blocksOf(object: JsonObject, path: readonly string[], tones: Tones): Block[] {
  const fields: Field[] = [];
  const within: Block[] = [];
  for (const [name, value] of Object.entries(object)) {
    const whole = [...path, name];
    const single = isObject(value) ? asOne(name, value) : { label: asWords(name), value: asText(value) };
    const tone = typeof value === 'string' ? tones[whole.join('.')]?.(value) : undefined;
    if (single !== undefined) fields.push({ ...single, tone });
    else if (whole.length > DEEPEST) fields.push({ label: asWords(name), value: stringify(value) ?? '' });
    else within.push(...blocksOf(value as JsonObject, whole, tones));
  }
  return [{ path, fields }, ...within];
}

function asOne(name: string, object: JsonObject): Field | undefined {
  const { fromCurrency, toCurrency, ...more } = object;
  const isPair = typeof fromCurrency === 'string' && typeof toCurrency === 'string';
  if (isPair && Object.keys(more).length === 0) return { label: asWords(name), value: `${fromCurrency}/${toCurrency}` };
  const [[key, value] = ['', {}], second] = Object.entries(object);
  return second === undefined && !isObject(value)
    ? { label: `${asWords(name)} ${asWords(key)}`, value: asText(value) }
    : undefined;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (stringify(value) ?? '');
}

function asWords(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

const COLUMNS = [
  { key: 'observed_at', label: 'at', kind: 'time' },
  { key: 'field', label: 'field', kind: 'text' },
  { key: 'old_value', label: 'from', kind: 'text', rank: 1 },
  { key: 'new_value', label: 'to', kind: 'text' },
  { key: 'source', label: 'source', kind: 'text', rank: 3 },
  { key: 'reason', label: 'reason', kind: 'text', rank: 2 },
] as const satisfies readonly Column[];
type Change = Readonly<Record<(typeof COLUMNS)[number]['key'], string | null>>;

export function rowWithHistory(row: object, events: readonly Change[]): string {
  const screen = screenOf();
  const fields = Object.entries(row as Record<string, string | number | null>)
    .filter(([, value]) => value !== null)
    .map(([label, value]) => {
      return { label, value, tone: label === 'state' || label === 'outcome' ? toneOf(label, value) : undefined };
    });
  const history = events.length === 0 ? 'history: nothing has happened yet\n' : tableOf(COLUMNS, events, screen);
  return `${fieldsText(fields, screen)}\n${history}`;
}
