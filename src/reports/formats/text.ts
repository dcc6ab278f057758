// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Escapes characters that could control a terminal, reverse the reading order, or make two ids look alike. */
export function printable(value: string | number | null | undefined): string {
  return String(value ?? '').replace(UNPRINTABLE, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    return short === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : short;
  });
}

/** Puts an apostrophe before text that a spreadsheet would run as a formula. A negative amount stays a number. */
export function noFormula(text: string): string {
  const isFormula = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-\d+(\.\d+)?$/.test(text);
  return isFormula ? `'${text}` : text;
}
