/** The most characters of an id or a reference. */
export const LONGEST_PLAIN_TEXT = 500;

/** Stands where a secret was. */
export const HIDDEN = '<hidden>';

/** A text without what looks like an e-mail address. */
export function withoutAddresses(text: string): string {
  return text.replace(/[^\s"'<>@]{1,256}(?:@|%40|\\u0040)[^\s"'<>@]{1,256}/gi, HIDDEN);
}

/** Quotes text for a message: escaped, and cut after 60 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Tells whether text holds a control character: such text can steer a terminal or break a header. */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Tells whether text is valid Unicode that lost no character when it was decoded. */
export function isUnicode(text: string): boolean {
  return text.isWellFormed() && !text.includes('\uFFFD');
}

/** Tells whether two texts are the same but for upper and lower case, blanks around them, and forms of Unicode. */
export function isSameSpelling(one: string, other: string): boolean {
  return folded(one) === folded(other);
}

/** `toLowerCase` alone leaves ß and ss, and the two small sigmas, different. */
function folded(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().trim();
}

/** Tells whether text can be sent, stored and shown: 1 to 500 characters, none of them a control character. */
export function isPlainText(text: string): boolean {
  return text !== '' && text.length <= LONGEST_PLAIN_TEXT && text.isWellFormed() && !hasControlCharacter(text);
}
