import type { Tone } from '../document.ts';

/** Each tone has a shape of its own, for those who do not see its colour. */
const SHAPES: Readonly<Record<Tone, string>> = {
  good: '<circle cx="10" cy="10" r="9"/><path d="M5.8 10.3l2.8 2.8 5.6-6"/>',
  info: '<circle cx="10" cy="10" r="9"/><path d="M10 9.3v5M10 5.6v.9"/>',
  warning: '<path d="M10 1.6l9 16.4H1z"/><path d="M10 7.8v5M10 14.9v.5"/>',
  error: '<path d="M6.2 1h7.6L19 6.2v7.6L13.8 19H6.2L1 13.8V6.2z"/><path d="M6.8 6.8l6.4 6.4M13.2 6.8l-6.4 6.4"/>',
  neutral: '<circle cx="10" cy="10" r="9"/><path d="M6 10h8"/>',
};

/** Draws the sign of a tone. */
export function icon(tone: Tone): string {
  return `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">${SHAPES[tone]}</svg>`;
}
