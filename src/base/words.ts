/** Control, invisible and reordering characters, except for joiners and for selectors of a character's form. */
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

/** As `printable`, for lines of JSON. The JSON stays equal, because only its texts hold such characters. */
export function printableJson(lines: string): string {
  return lines.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return character;
    return character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  });
}

export function withCommas(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export function sumOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

/** Returns the greatest number of the items, at least 0. */
export function mostOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((most, item) => Math.max(most, numberOf(item)), 0);
}

interface Invocation {
  readonly call: () => string;
  readonly commands: ReadonlySet<string>;
  readonly folder: string | null;
}

let invocation: Invocation | undefined;

/** `call` runs when the first command is printed, because it reads the disk. A person pastes commands in `folder`. */
export function noteInvocation(call: () => string, commands: Iterable<string>, folder: string | null = null): void {
  let known: string | undefined;
  invocation = { call: () => (known ??= call()), commands: new Set(commands), folder };
}

/** Returns the folder in which a person must paste the commands; null if any folder will do. */
export function pasteFolder(): string | null {
  return invocation?.call().startsWith('npx ') === true ? invocation.folder : null;
}

/** Makes each command of a text pasteable by the call of this process. The text must not hold data of orders. */
export function pasteable(text: string): string {
  if (invocation === undefined || !text.includes('order-sync ')) return text;
  const { call, commands } = invocation;
  return text.replaceAll(/(?<![\w/.-]|npx )order-sync (?=([a-z][a-z-]*))/g, (words, name: string) =>
    commands.has(name) ? `${call()} ` : words,
  );
}
