import type { Cell, Tone } from '../document.ts';
import { cut } from '../terminal.ts';
import { printable } from '../text.ts';

const LONGEST_WORD = 40;
const LONGEST_CELL = 400;
const LONGEST_PROSE = 1_500;

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
  return name.replace(/[^A-Za-z0-9_-]/g, '-');
}

/** Escapes text of sentences. Its longest words are cut; options and the program's name stay on one line. */
export function proseText(value: Cell): string {
  return escapeText(cutEnd(cutWords(value), LONGEST_PROSE)).replace(
    /(?<=^|[\s(])(?:order-sync|--[a-z][a-z-]*)(?=$|[\s.,:)])/g,
    '<span class="word">$&</span>',
  );
}

/** Cuts the longest words in their middle, and a text that nobody reads in a table at its end. */
export function cutText(value: Cell): string {
  return cutEnd(cutWords(value), LONGEST_CELL);
}

function cutEnd(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

function cutWords(value: Cell): string {
  return printable(value)
    .toWellFormed()
    .replace(/\S{21,}/g, (word) => cut(word, LONGEST_WORD));
}

/** Each tone has a shape of its own, for those who do not see its colour. */
const SHAPES: Readonly<Record<Tone, string>> = {
  good: '<circle cx="10" cy="10" r="9"/><path d="M5.8 10.3l2.8 2.8 5.6-6"/>',
  info: '<circle cx="10" cy="10" r="9"/><path d="M10 9.3v5M10 5.6v.9"/>',
  warning: '<path d="M10 1.6l9 16.4H1z"/><path d="M10 7.8v5M10 14.9v.5"/>',
  error: '<path d="M6.2 1h7.6L19 6.2v7.6L13.8 19H6.2L1 13.8V6.2z"/><path d="M6.8 6.8l6.4 6.4M13.2 6.8l-6.4 6.4"/>',
  neutral: '<circle cx="10" cy="10" r="9"/><path d="M6 10h8"/>',
};

export function icon(tone: Tone): string {
  return `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">${SHAPES[tone]}</svg>`;
}
