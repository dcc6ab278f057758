import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Column, Row } from '../../../src/extensions/documents/document.ts';
import { htmlText } from '../../../src/extensions/documents/html.ts';
import { proseText } from '../../../src/extensions/documents/html/cells.ts';
import { documentOf, hostileDocument, hostilePage, texts, wholeText } from '../../support/report-document.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('HTML', () => {
  it('has the facts and a table for each section', async () => {
    const text = await wholeText(htmlText(documentOf(texts('id', 'note'), [{ id: 'a & b', note: 'c' }], 'x/1')));
    expect(text).toContain('<div><dt>Verdict</dt><dd>clean</dd></div>');
    expect(text).toContain('<th scope="col">id</th><th scope="col">note</th>');
    expect(text).toContain('<tr><th scope="row" data-label="id">a &#38; b</th><td data-label="note">c</td></tr>');
  });

  it('begins with the verdict, the scope and the figures, each linked to its section, and ends with the other facts', async () => {
    const text = await wholeText(
      htmlText({
        ...documentOf(texts('id'), [{ id: 'a' }], 'x/1'),
        verdict: { tone: 'error', text: 'Not clean', reasons: ['2 orders differ'] },
        cards: [
          { label: 'Orders', value: '12', section: 'lines' },
          { label: 'Gone', value: '0', section: 'no-such-section' },
        ],
        facts: [
          { key: 'rule', label: 'Rule', value: 'a rule' },
          { key: 'from', label: 'Inserted from', value: '2026-03-01T00:00:00.000Z' },
        ],
      }),
    );
    const places = ['2026-03-01 00:00 UTC', 'Not clean', '2 orders differ', '>Orders<', 'id="lines"', 'a rule'];
    const found = places.map((place) => text.indexOf(place));
    expect(found).not.toContain(-1);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect([...text.matchAll(/href="([^"]*)"/g)].map(([, target]) => target)).toEqual(['#lines']);
  });

  it('leaves out columns and sections for programs, and names the columns that are zero in all rows', async () => {
    const columns: readonly Column[] = [
      { key: 'id', label: 'Id', kind: 'text' },
      { key: 'sum', label: 'Sum', kind: 'decimal' },
      { key: 'fee', label: 'Fee', kind: 'decimal' },
      { key: 'age', label: 'Age seconds', kind: 'decimal', isForPrograms: true },
    ];
    const rows = [
      { id: 'a', sum: '0.00', fee: '0', age: '5' },
      { id: 'b', sum: '0.10', fee: '0.000', age: '6' },
    ];
    const document = documentOf(columns, rows, 'x/1');
    const hidden = { name: 'hidden', title: 'Hidden', columns, rows, isForPrograms: true };
    const text = await wholeText(htmlText({ ...document, sections: [...document.sections, hidden] }));
    expect([...text.matchAll(/<th scope="col"[^>]*>([^<]*)/g)].map(([, label]) => label)).toEqual(['Id', 'Sum']);
    expect(text).toContain('in all rows: Fee.');
    expect(text).not.toMatch(/Age seconds|Hidden/);
  });

  it('has each whole command of a sentence as one to copy, without what stands behind it, and nothing that a shell runs', () => {
    const id = String.raw`'${'long '.repeat(20)}'\''id'`;
    const advices = [
      `Run order-sync sync. If not, run order-sync orders retry ${id} --reason TEXT. Then wait.`,
      'The story: order-sync orders explain ORDER --account shop-1 tells it.',
      'Run order-sync orders retry a; rm b --reason TEXT.',
      "order-sync 'a ".repeat(50_000),
    ];
    const text = advices.map((advice) => proseText(advice)).join('\n');
    const command = `order-sync orders retry ${id} --reason TEXT`.replaceAll("'", '&#39;');
    expect([...text.matchAll(/<code data-copy[^>]*>(.*?)<\/code>/g)].map(([, copied]) => copied)).toEqual([
      'order-sync sync',
      command,
      'order-sync orders explain ORDER --account shop-1',
    ]);
    // A full stop would stand alone between the box of a command and the button that copies it.
    expect(text).toContain('</code> Then wait.');
  });

  it('aligns numbers with hidden digits only, so that copied text is the number', async () => {
    const columns: readonly Column[] = [
      { key: 'id', label: 'Id', kind: 'text' },
      { key: 'sum', label: 'Sum', kind: 'decimal' },
    ];
    const rows = ['1234567.5', '-10', '0.0001', 'not a number'].map((sum, index) => ({ id: `o${index}`, sum }));
    const text = await wholeText(htmlText(documentOf(columns, rows, 'x/1')));
    const cells = [...text.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell);
    expect(cells).toEqual(['1<b>234</b><b>567</b>.5<i>000</i>', '-10<i>.0000</i>', '0.0001', 'not a number']);
  });

  it('folds each group behind its heading, without the columns that this says, and has at most fifty of its rows', async () => {
    const row = (group: string) => (_: unknown, index: number) => ({ group, id: `${group}${index}` });
    const rows = [...Array.from({ length: 60 }, row('A')), ...Array.from({ length: 2 }, row('B'))];
    const document = documentOf(texts('group', 'id'), rows, 'x/1');
    const groups = {
      says: ['group'],
      describe: ({ group }: Row) => ({ title: `Group ${group}`, meaning: 'It means.', advice: 'Do this.' }),
    };
    const sections = document.sections.map((section) => ({ ...section, groups }));
    const first = { section: 'lines', head: groups.describe({ group: 'A' }) };
    const verdict = { tone: 'error', text: 'Not clean', reasons: [], first } as const;
    const text = await wholeText(htmlText({ ...document, sections, verdict }));
    expect(
      [...text.matchAll(/<details class="neutral"><summary><h3>.*?<\/svg>(.*?)<\/h3> <span class="n">(\d+)/g)].map(
        ([, ...of]) => of,
      ),
    ).toEqual([
      ['Group A', '60'],
      ['Group B', '2'],
    ]);
    expect([...text.matchAll(/<th scope="col"[^>]*>([^<]*)/g)].map(([, label]) => label)).toEqual(['id', 'id']);
    expect([text.includes('>A49<'), text.includes('>A50<'), text.includes('>10 more')]).toEqual([true, false, true]);
    // A person begins with the first group, which the link opens.
    expect(text).toContain('<a href="#lines-1">Group A</a>. Do this.');
    expect(text).toContain('<div id="lines-1">');
    expect(await wholeText(htmlText({ ...document, sections, verdict, isWhole: true }))).not.toContain('"><summary>');
  });

  it('has a group that is of another part there, and the first step of a person if it was there', async () => {
    const rows = ['A', 'B', 'C'].map((group) => ({ group, id: group.toLowerCase() }));
    const document = documentOf(texts('group', 'id'), rows, 'x/1');
    const headOf = ({ group }: Row) => ({
      title: `Group ${group}`,
      ...(group === 'B' && { part: 'money' as const }),
    });
    const sections = document.sections.map((section) => ({
      ...section,
      part: 'attention' as const,
      groups: { says: ['group'], describe: headOf },
    }));
    const text = await wholeText(htmlText({ ...document, sections }));
    const places = ['id="part-attention"', '<div id="lines-1">', 'Group C', 'id="part-money"', 'Group B'];
    const found = places.map((place) => text.indexOf(place));
    expect(found).not.toContain(-1);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  it('folds no groups of a few rows, and a whole section if it is said', async () => {
    const document = documentOf(texts('group', 'id'), [{ group: 'A', id: 'a' }], 'x/1');
    const [lines] = document.sections;
    const groups = { says: ['group'], describe: () => ({ title: 'Group' }) };
    const sections = [
      { ...lines!, groups },
      { ...lines!, name: 'more', isFolded: true },
    ];
    const text = await wholeText(htmlText({ ...document, sections }));
    expect([...text.matchAll(/<details class="(\w+)"( open)?>/g)].map(([, name, open]) => [name, open])).toEqual([
      ['neutral', ' open'],
      ['fold', undefined],
      ['fold', undefined],
    ]);
  });

  it('cuts a long id in the middle and keeps the whole of it in the title', async () => {
    const id = `begin${'x'.repeat(3_000)}end`;
    const text = await wholeText(htmlText(documentOf(texts('id'), [{ id }], 'x/1')));
    const [, title, shown = ''] = /<th scope="row" data-label="id" title="([^"]*)">([^<]*)</.exec(text) ?? [];
    expect(title).toBe(id);
    expect(shown).toMatch(/^begin.*….*end$/);
    expect(Array.from(shown)).toHaveLength(40);
  });

  it('cuts no number, in a column of numbers, in a column of texts, on a card and in a sentence', async () => {
    const number = `${'1234567890'.repeat(6)}.${'0987654321'.repeat(6)}`;
    const columns: readonly Column[] = [
      { key: 'sum', label: 'Sum', kind: 'decimal' },
      { key: 'expected', label: 'Expected', kind: 'text' },
    ];
    const text = await wholeText(
      htmlText({
        ...documentOf(columns, [{ sum: number, expected: number }], 'x/1'),
        verdict: { tone: 'error', text: 'Not clean', reasons: [`Money in doubt: ${number} BTC, -${number}.`] },
        cards: [{ label: 'Difference', value: `-${number} BTC`, section: 'lines' }],
      }),
    );
    const shown = text.replace(/<style>.*?<\/style>/s, '').replace(/<\/?[bi]>/g, '');
    expect(shown).not.toContain('…');
    expect(shown.split(number)).toHaveLength(6);
  });

  it('has no script, no handler and nothing that is loaded, whatever the texts are', async () => {
    const text = await wholeText(htmlText(hostileDocument()));
    expect(text).not.toMatch(/<script|<img|<link|<iframe|<object|<foreignObject/i);
    // Names of attributes only: the same words may stand in a text.
    const tags = (text.match(/<[a-z][^>]*>/gi) ?? []).map((tag) => tag.replace(/="[^"#][^"]*"/g, ''));
    expect(tags.filter((tag) => /\s(?:on\w+|src|href|xlink:href)(?!="#)/i.test(tag))).toEqual([]);
    expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`);
    expect(text.match(/<figure /g)).toHaveLength(3);
  });

  it('has one style, which no text ends or adds rules to', async () => {
    const text = await wholeText(htmlText(hostilePage()));
    expect(text.match(/<\/style/gi)).toHaveLength(1);
    const style = text.slice(text.indexOf('<style>') + '<style>'.length, text.indexOf('</style'));
    // Without what stands in quotes, and no quote can stand in them.
    expect(style.replace(/"[^"]*"/g, '')).not.toMatch(/<|"|\\|HYPERLINK|SUM|alert/);
  });

  it('has at most a thousand rows of a section, and says how many more there are', async () => {
    const rows = Array.from({ length: 1_002 }, (_, index) => ({ id: `o${index}` }));
    const text = await wholeText(htmlText(documentOf(texts('id'), rows, 'x/1')));
    expect(text).toContain('>o999<');
    expect(text).not.toContain('>o1000<');
    expect(text).toContain('>2 more');
  });

  it('has the same bytes whenever it is written', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-31T12:00:00Z') });
    const first = await wholeText(htmlText(hostileDocument()));
    vi.setSystemTime(Date.parse('2031-07-01T03:04:05Z'));
    expect(await wholeText(htmlText(hostileDocument()))).toBe(first);
  });

  it('has ids of its own for each chart, so that no chart takes the colours of another', async () => {
    const text = await wholeText(htmlText(hostileDocument()));
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of text.matchAll(/url\(#([^)]+)\)/g)) expect(ids).toContain(id);
  });
});
