import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import readExcelFile from 'read-excel-file/node';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { exportSection } from '../../../src/extensions/reports/commands/export.ts';
import { csvText, jsonText } from '../../../src/extensions/documents/data.ts';
import type { ReportDocument } from '../../../src/extensions/documents/document.ts';
import { htmlText } from '../../../src/extensions/documents/html.ts';
import { tableText } from '../../../src/extensions/documents/table.ts';
import { xlsxBytes } from '../../../src/extensions/documents/xlsx.ts';
import { wholeText } from '../../support/report-document.ts';
import { testClock } from '../../support/test-clock.ts';
import { unzip } from '../../support/unzip.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground, NEVER, sandbox } from '../ground.ts';
import { MEANT } from '../odd-answers.ts';
import { oddObject, oddText } from '../odd.ts';

/** The rows in the database: the record and the pre-order of an order, and a text in the columns of another row. */
interface OddContent {
  readonly record: string;
  readonly preOrder: string;
  readonly text: string;
}

/** Bodies and texts of the database in reports: they run nowhere, steer nothing, and break no form. */
export const reports: Entry<OddContent> = {
  name: 'reports',
  inputs: fc.record({ text: oddText, record: oddObject(MEANT.lookup), preOrder: oddObject(MEANT.create) }),
  async open() {
    const clock = testClock(BEGINNING);
    const on = await ground({ clock, answer: sandbox(clock).answer });
    const { app, merchant } = on;
    const insert = merchant.prepare(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, provider_type, crypto_address)
       values (?, ?, ?, 'EUR', ?, ?)`,
    );
    insert.run('a', '1.5', 'BTC', null, null);
    await createPass(app, NEVER);
    clock.advance(60_000);
    await followPass(app, 'all', NEVER);
    const setRecord = merchant.prepare('update order_records set body = ?');
    const setPreOrder = merchant.prepare('update pre_orders set body = ?');
    return {
      async give({ record, preOrder, text }) {
        setRecord.run(record);
        setPreOrder.run(preOrder);
        merchant.exec(`delete from merchant_orders where state = 'pending'`);
        insert.run(`id ${text}`, text, text, text, text);
        const section = () => exportSection(app.store.db, { account: app.account, by: 'insertion' }, true);
        const document = (): ReportDocument => ({
          schema: 'order-sync.hostile/1',
          title: 'A report',
          facts: [{ key: 'fact', label: 'A fact', value: text }],
          sections: [section()],
          charts: [],
        });
        checkCsv(await wholeText(csvText(section())));
        JSON.parse(await wholeText(jsonText(document())));
        checkPlain(await wholeText(tableText(document())));
        checkHtml(await wholeText(htmlText(document())));
        await checkXlsx(await xlsxBytes(document()));
      },
      [Symbol.asyncDispose]: () => on[Symbol.asyncDispose](),
    };
  },
};

function checkCsv(csv: string): void {
  const [header, ...records] = parse(csv);
  if (records.length !== 2 || records.some(({ length }) => length !== header?.length)) broken('the CSV has other rows');
  for (const cell of records.flat()) {
    const isRun = cell.split(/[;\t\r\n]/).some((one) => /^[=+\-@＝＋－＠]/.test(one) && !/^-\d+(\.\d+)?$/.test(one));
    // Exact digits, also of an exponent, are no formula: a spreadsheet reads a number.
    if (isRun && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(cell)) broken(`a cell is a formula: ${JSON.stringify(cell)}`);
  }
}

function checkPlain(text: string): void {
  const [found] = /[\p{Cc}\p{Bidi_Control}]/u.exec(text.replaceAll('\n', '')) ?? [];
  if (found !== undefined) broken(`the table has the character ${JSON.stringify(found)}`);
}

function checkHtml(html: string): void {
  const [found] = /<script>alert|<img|<!--|\sonerror="/i.exec(html.replace('<!-- ', '')) ?? [];
  if (found !== undefined) broken(`the page has ${found}`);
}

async function checkXlsx(bytes: Buffer): Promise<void> {
  const { files } = unzip(bytes);
  for (const [name, content] of files) if (/<f[\s>]/.test(content)) broken(`${name} has a formula`);
  const sheets = await readExcelFile(bytes);
  if (!sheets.some(({ data }) => data.length >= 3)) broken('the workbook has other rows');
}
