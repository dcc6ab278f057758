/** Controls, and what is not seen or reorders what is; not what joins letters and emoji, or chooses between their forms. */
const UNPRINTABLE =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffb]--[\p{Join_Control}\p{Variation_Selector}]]/gv;

/** Escapes characters that could control a terminal, reverse the reading order, or make two ids look alike. */
export function printable(value: string | number | null | undefined): string {
  return String(value ?? '').replace(UNPRINTABLE, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    return short === character ? `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}` : short;
  });
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The same for lines of JSON, which stay the same JSON: only within its texts can there be such characters, but for line ends. */
export function printableJson(lines: string): string {
  return lines.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return character;
    return character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  });
}

/** Puts an apostrophe before what a spreadsheet would run as a formula, also within a text: any character may be its end of a cell. */
export function noFormula(text: string): string {
  if (/^-\d+(\.\d+)?$/.test(text)) return text;
  return text.replaceAll(/^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g, "'");
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

export function withCommas(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** A duration in whole days from two days on, below that in hours or minutes: `3 days`, `47 hours`, `1 minute`. */
export function inWords(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute';
  if (ms < HOUR_MS) return counted(Math.floor(ms / MINUTE_MS), 'minute');
  return ms < 2 * DAY_MS ? counted(Math.floor(ms / HOUR_MS), 'hour') : counted(Math.floor(ms / DAY_MS), 'day');
}

const UNITS = [
  [365 * DAY_MS, 'y'],
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [1_000, 's'],
] as const;

/** A duration in the unit that suits it, to two digits: `0.4 s`, `45 s`, `2.5 min`, `12 h`, `3 d`. */
export function inUnits(ms: number): string {
  const [unit, name] = UNITS.find(([one]) => ms >= one) ?? [1_000, 's'];
  const count = ms / unit;
  return `${count < 10 ? Math.round(count * 10) / 10 : Math.round(count)} ${name}`;
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Why a person should look at a report of a period without any `noun`. */
export function emptyReason(noun: string): string {
  return `No ${noun} is in the period: look at --from and --to, or use --allow-empty if an empty period is correct.`;
}

export function sumOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

/** The greatest number of the items; 0 if there is none above. */
export function mostOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((most, item) => Math.max(most, numberOf(item)), 0);
}

export function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
