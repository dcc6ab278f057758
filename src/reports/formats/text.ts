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

/** Puts an apostrophe before text that a spreadsheet would run as a formula. A negative amount stays a number. */
export function noFormula(text: string): string {
  const isFormula = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-\d+(\.\d+)?$/.test(text);
  return isFormula ? `'${text}` : text;
}
