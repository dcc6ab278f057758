import { existsSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { chromium, type Browser, type Page } from 'playwright-core';

/** Debian's package `chromium`. */
const CHROMIUM = '/usr/bin/chromium';
/** It is to say nothing to anybody by itself. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Tests of pages are left out if there is none. */
export const isChromiumMissing = !existsSync(CHROMIUM);

export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

/** The faults of a layout: the page scrolls sideways, texts that stand out of their boxes, and words on two lines. */
export interface Layout {
  readonly overflow: number;
  readonly tooNarrow: readonly string[];
  readonly broken: readonly string[];
}

/** Measures the page as it stands. A word between blanks of more letters than `longest` may be on two lines. */
export async function layoutOf(page: Page, longest: { readonly inTable: number; readonly elsewhere: number }) {
  // A text, as the browser's own types are not those of the tests.
  return await page.evaluate<Layout>(`(() => {
    const root = document.documentElement;
    const boxes = document.querySelectorAll('main :is(th, td, p, li, dd, dt, h1, h2, h3, h4, strong, small)');
    const isShown = (box) => box.checkVisibility({ visibilityProperty: true }) && box.getClientRects().length > 0;
    const name = (text) => text.trim().slice(0, 60);
    const shown = [...boxes].filter(isShown);
    const tooNarrow = shown.filter((box) => box.clientWidth > 1 && box.scrollWidth > box.clientWidth + 1);
    const broken = [];
    for (const box of shown) {
      const longest = box.matches('th, td') ? ${longest.inTable} : ${longest.elsewhere};
      for (const node of box.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE) continue;
        for (const word of node.data.matchAll(/\\S+/g)) {
          // The groups of three digits of a number are elements.
          const whole = box.matches('.n') ? box.textContent.trim() : word[0];
          if (whole.length > longest) continue;
          for (const part of word[0].matchAll(/[\\p{Script=Latin}\\p{N}_.:,]+/gu)) {
            const range = document.createRange();
            range.setStart(node, word.index + part.index);
            range.setEnd(node, word.index + part.index + part[0].length);
            const rects = [...range.getClientRects()].filter(({ width }) => width > 0);
            if (rects.some(({ top, height }) => Math.abs(top - rects[0].top) > height / 2)) broken.push(name(word[0]));
          }
        }
      }
    }
    return {
      overflow: root.scrollWidth - root.clientWidth,
      tooNarrow: tooNarrow.map((box) => box.tagName + ' ' + name(box.textContent)),
      broken,
    };
  })()`);
}

/** A page of a PDF: its size in millimetres, and how many texts and shapes it has. */
export interface PaperPage {
  readonly size: readonly number[];
  readonly marks: number;
}

/** Reads the pages of a PDF as Chromium writes it: one stream of drawing commands a page, in their order. */
export function pagesOf(pdf: Buffer): readonly PaperPage[] {
  const text = pdf.toString('latin1');
  const sizes = [...text.matchAll(/\/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)/g)].map(([, width, height]) =>
    [width, height].map((points) => Math.round((Number(points) / 72) * 25.4)),
  );
  const drawings = [...text.matchAll(/\/FlateDecode[^>]*>>\s*stream\r?\n/g)]
    .map(({ index, 0: { length } }) => inflated(pdf.subarray(index + length, text.indexOf('endstream', index))))
    .filter((stream) => /\bBT\b/.test(stream));
  return sizes.map((size, index) => ({ size, marks: drawings[index]?.match(/\b(?:T[jJ]|re|l|c)\b/g)?.length ?? 0 }));
}

/** Fonts and pictures are no text, and do not matter. */
function inflated(stream: Buffer): string {
  return inflateSync(stream, { finishFlush: 2 }).toString('latin1');
}
