import type { Cell } from '../document.ts';
import { printable } from '../text.ts';

/** A longer word is cut in its middle. */
const LONGEST_WORD = 40;
/** A longer text is cut at its end. */
const LONGEST_TEXT = 400;

/** Escapes text, so that it is neither markup nor the end of an attribute, and does not reverse the reading order. */
export function escapeText(value: Cell): string {
  return printable(value)
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Makes a CSS string, which cannot end itself nor the `style` element that it stands in. */
export function cssString(text: string): string {
  const escaped = printable(text)
    .toWellFormed()
    .replace(/[^A-Za-z0-9 ,.()%]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);
  return `"${escaped}"`;
}

/** Makes the name of a section an id that needs no escaping in CSS and in links. */
export function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/g, '-');
}

/** Cuts words that would make a column wider than the page, and texts that nobody reads in a table. */
export function cutText(value: Cell): string {
  const text = printable(value)
    .toWellFormed()
    .replace(/\S{41,}/g, cutWord);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** The columns of a text, about: letters of scripts with wide letters and symbols count twice. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
  return width;
}

function cutWord(word: string): string {
  const characters = Array.from(word);
  if (widthOf(word) <= LONGEST_WORD) return word;
  const end = fitting(characters.toReversed(), 15).toReversed();
  return `${fitting(characters, LONGEST_WORD - 16).join('')}…${end.join('')}`;
}

/** The first characters that fit in so many columns. */
function fitting(characters: readonly string[], columns: number): readonly string[] {
  let width = 0;
  const end = characters.findIndex((character) => (width += widthOf(character)) > columns);
  return end < 0 ? characters : characters.slice(0, end);
}
