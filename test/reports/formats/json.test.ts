import { describe, expect, it } from 'vitest';
import { jsonText } from '../../../src/reports/formats/json.ts';
import { documentOf, HOSTILE, hostileDocument, ODD, texts, wholeText } from '../../support/report-document.ts';

const EXACT = '12345678901234567.123456789012345678';

describe('JSON', () => {
  it('has amounts as text, counts as numbers, and what is not known as null', async () => {
    const rows = [{ asset: EXACT, orders: 2, status: null }];
    const text = await wholeText(jsonText(documentOf(texts('asset', 'orders', 'status'), rows, null)));
    expect(text).toContain(`"asset": "${EXACT}"`);
    expect(JSON.parse(text)).toEqual(rows);
    expect(text).toBe(`${JSON.stringify(rows, null, 2)}\n`);
  });

  it('keeps a text with line separators of Unicode as it is, indented or not', async () => {
    const rows = [{ id: 'a\u2028b\u2029c' }];
    const text = await wholeText(jsonText(documentOf(texts('id'), rows, 'x/1')));
    expect((JSON.parse(text) as { sections: { lines: unknown } }).sections.lines).toEqual(rows);
  });

  it('is an empty array where there are no rows and no schema', async () => {
    expect(await wholeText(jsonText(documentOf(texts('id'), [], null)))).toBe('[]\n');
  });

  it('is one object with the name of its shape, its facts and its sections', async () => {
    const rows = [{ id: 'a' }, { id: 'b' }];
    const text = await wholeText(jsonText(documentOf(texts('id', 'gone'), rows, 'x/1')));
    expect(text).toBe(
      `${JSON.stringify(
        {
          schema: 'x/1',
          title: 'A report',
          facts: { verdict: 'clean' },
          sections: { lines: rows.map(({ id }) => ({ id, gone: null })) },
        },
        null,
        2,
      )}\n`,
    );
  });

  it('has hostile and odd texts as they are', async () => {
    const odd = await wholeText(
      jsonText(
        documentOf(
          texts('id'),
          ODD.map((id) => ({ id })),
          null,
        ),
      ),
    );
    expect(JSON.parse(odd)).toEqual(ODD.map((id) => ({ id })));
    const read = JSON.parse(await wholeText(jsonText(hostileDocument()))) as {
      sections: { lines: { id: string }[] };
    };
    expect(read.sections.lines.map(({ id }) => id)).toEqual(HOSTILE);
  });
});
