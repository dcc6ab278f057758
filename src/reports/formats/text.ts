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

/** The same for a text of several lines, which stay lines. */
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

/**
 * Puts an apostrophe before what a spreadsheet would run as a formula: also within a text, where a spreadsheet that takes
 * another character than the comma between two cells would begin one. A negative amount stays a number.
 */
export function noFormula(text: string): string {
  if (/^-\d+(\.\d+)?$/.test(text)) return text;
  return text.replaceAll(/^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g, "'");
}
