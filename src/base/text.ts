import { distance } from 'fastest-levenshtein';

export const LONGEST_PLAIN_TEXT = 500;

export const HIDDEN = '<hidden>';

const AT_SIGN = /@|%40|\\u0040/gi;
const AFTER_AT = /[^\s"'<>@]{1,256}/y;
const LONGEST_BEFORE_AT = 256;

/** Hides e-mail addresses, and texts that look like them. The time grows in proportion to the text's length. */
export function withoutAddresses(text: string): string {
  let shown = '';
  let from = 0;
  for (const { index, 0: at } of text.matchAll(AT_SIGN)) {
    const begin = beginOfAddress(text, Math.max(from, index - LONGEST_BEFORE_AT), index);
    AFTER_AT.lastIndex = index + at.length;
    if (begin === index || !AFTER_AT.test(text)) continue;
    shown += text.slice(from, begin) + HIDDEN;
    from = AFTER_AT.lastIndex;
  }
  return shown + text.slice(from);
}

function beginOfAddress(text: string, from: number, at: number): number {
  let begin = at;
  while (begin > from && !/[\s"'<>@]/.test(text.charAt(begin - 1))) begin -= 1;
  return begin;
}

/** Quotes text for a message: escaped, and cut after 60 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

export function shellWord(text: string): string {
  return /^[\w./:@-][\w./:=@-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Returns true if text is well-formed and has no U+FFFD, which replaces bytes that could not be decoded. */
export function isUnicode(text: string): boolean {
  return text.isWellFormed() && !text.includes('\uFFFD');
}

/** Returns text that every database stores: U+FFFD replaces lone surrogates and NUL, which PostgreSQL refuses. */
export function storable(text: string): string {
  const wellFormed = text.toWellFormed();
  // `includes` is much faster than a `replaceAll` that finds nothing, and each value of each event passes here.
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** Returns true if two texts differ at most in letter case, blanks at their ends, and forms of Unicode. */
export function isSameSpelling(one: string, other: string): boolean {
  return folded(one) === folded(other);
}

/** `toLowerCase` alone leaves ß and ss, and the two small sigmas, different. */
function folded(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().trim();
}

export function isPlainText(text: string): boolean {
  return text !== '' && text.length <= LONGEST_PLAIN_TEXT && text.isWellFormed() && !hasControlCharacter(text);
}

/** Replaces NUL, which PostgreSQL stores in no text, by its visible sign (U+2400). */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u2400');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `nearest` allows at most this many edits, and at most 0.4 edits per letter of the longer text. */
const MOST_SLIPS = 3;
const MOST_SLIPS_OF_A_LETTER = 0.4;
const LONGEST_NAME = 100;

/** Returns the probable name: equal in lower case, with `given` as its beginning or last part, or else the nearest. */
export function suggestion(given: string, known: readonly string[]): string | undefined {
  if (given === '' || given.length > LONGEST_NAME) return undefined;
  const text = given.toLowerCase();
  const names = known.map((name) => ({ name, lower: name.toLowerCase() }));
  const found =
    names.find(({ lower }) => lower === text) ??
    names.find(({ lower }) => lower.startsWith(text)) ??
    names.find(({ lower }) => lower.endsWith(`.${text}`));
  return found?.name ?? nearest(text, names);
}

function nearest(text: string, names: readonly { readonly name: string; readonly lower: string }[]) {
  const [best] = names
    .map(({ name, lower }) => ({ name, slips: distance(text, lower), length: Math.max(text.length, lower.length) }))
    .filter(({ slips, length }) => slips <= MOST_SLIPS && slips <= length * MOST_SLIPS_OF_A_LETTER)
    .toSorted((one, other) => one.slips - other.slips);
  return best?.name;
}
