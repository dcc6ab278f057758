import { describe, expect, it } from 'vitest';
import { tableText } from '../../../src/reports/formats/table.ts';
import { documentOf, hostileDocument, texts, wholeText } from '../../support/report-document.ts';

describe('the form for a terminal', () => {
  it('has the facts, and a table for each section under its title', async () => {
    const text = await wholeText(tableText(documentOf(texts('id'), [{ id: 'a' }], 'x/1')));
    expect(text).toContain('A report\n\nVerdict  clean\n\nLines\n┌────┐\n│ id │\n');
    expect(text).toContain('│ a  │');
  });

  it('leaves out columns of detail, and says of an empty section that there is nothing', async () => {
    const columns = [...texts('id'), { key: 'more', label: 'More', kind: 'text' as const, rank: 1 }];
    const text = await wholeText(tableText(documentOf(columns, [{ id: 'a', more: 'hidden' }], 'x/1')));
    expect(text).not.toContain('hidden');
    expect(await wholeText(tableText(documentOf(columns, [], 'x/1')))).toMatch(/Lines\nnone\n$/);
  });

  it('has at most a thousand rows, and says how many more there are', async () => {
    const rows = Array.from({ length: 1_003 }, (_, index) => ({ id: `o${index}` }));
    const text = await wholeText(tableText(documentOf(texts('id'), rows, null)));
    expect(text).toContain('│ o999 │');
    expect(text).not.toContain('o1000');
    expect(text).toMatch(/3 more; the other formats have them all\n$/);
  });

  it('has nothing that steers a terminal', async () => {
    const rows = [{ id: '\u001b[2J\u202e' }];
    const text = await wholeText(tableText(documentOf(texts('id'), rows, null)));
    expect(text).toContain(String.raw`\u001b[2J\u202e`);
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(await wholeText(tableText(hostileDocument()))).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});
