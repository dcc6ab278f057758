/** Control, invisible and reordering characters, except joiners and variation selectors. */
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

/** Escapes `UNPRINTABLE` in lines of JSON. The values stay equal, because only strings contain such characters. */
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

export function sumOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

/** Returns the greatest of the items' numbers, or 0 if no number is greater. */
export function mostOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((most, item) => Math.max(most, numberOf(item)), 0);
}
