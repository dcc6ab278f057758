import { afterEach, describe, expect, it, vi } from 'vitest';
import { htmlText } from '../../../src/reports/formats/html.ts';
import { documentOf, hostileDocument, texts, wholeText } from '../../support/report-document.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('HTML', () => {
  it('has the facts and a table for each section', async () => {
    const text = await wholeText(htmlText(documentOf(texts('id'), [{ id: 'a & b' }], 'x/1')));
    expect(text).toContain('<tr><th scope="row">Verdict</th><td>clean</td></tr>');
    expect(text).toContain('<th scope="col" class="text">id</th>');
    expect(text).toContain('<td class="text">a &#38; b</td>');
  });

  it('has no script, no handler and nothing that is loaded, whatever the texts are', async () => {
    const text = await wholeText(htmlText(hostileDocument()));
    expect(text).not.toMatch(/<script|<img|<link|<iframe|<object|<foreignObject/i);
    // Within tags only: the same words may stand in a text.
    const tags = text.match(/<[a-z][^>]*>/gi) ?? [];
    expect(tags.filter((tag) => /\son\w+=|\s(?:src|href|xlink:href)=/i.test(tag))).toEqual([]);
    expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`);
    expect(text.match(/<svg /g)).toHaveLength(4);
  });

  it('has at most a thousand rows of a section, and says how many more there are', async () => {
    const rows = Array.from({ length: 1_002 }, (_, index) => ({ id: `o${index}` }));
    const text = await wholeText(htmlText(documentOf(texts('id'), rows, 'x/1')));
    expect(text).toContain('>o999<');
    expect(text).not.toContain('>o1000<');
    expect(text).toContain('2 more; the forms csv and json have them all');
  });

  it('has the same bytes whenever it is written', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-31T12:00:00Z') });
    const first = await wholeText(htmlText(hostileDocument()));
    vi.setSystemTime(Date.parse('2031-07-01T03:04:05Z'));
    expect(await wholeText(htmlText(hostileDocument()))).toBe(first);
  });

  it('gives each chart ids of its own, so that no chart takes the colours of another', async () => {
    const text = await wholeText(htmlText(hostileDocument()));
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of text.matchAll(/url\(#([^)]+)\)/g)) expect(ids).toContain(id);
  });
});
