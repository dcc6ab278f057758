import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ImportFormat } from '../../../src/extensions/commands/files.ts';
import { importOrders, type ImportResult } from '../../../src/extensions/intake/import.ts';
import type { Store } from '../../../src/store/port.ts';
import { newTestDatabase } from '../../support/database.ts';
import type { Merchant } from '../../support/merchant.ts';

const HEADER = 'external_order_id,asset,from_currency,to_currency';
const EXACT = '12345678901234567.123456789012345678';

let store: Store;
let merchant: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  merchant = database.connect();
});

type Content = string | Buffer | Readable;

async function importFrom(format: ImportFormat, content: Content): Promise<ImportResult> {
  const input = content instanceof Readable ? content : Readable.from([Buffer.from(content)]);
  return await importOrders(store, 'default', input, { format });
}
const csv = (content: Content) => importFrom('csv', content);
const ndjson = (content: Content) => importFrom('ndjson', content);

const rows = () =>
  merchant.prepare('select * from merchant_orders order by external_order_id').all() as Record<string, unknown>[];
const ids = () => rows().map((row) => row['external_order_id']);
/** Problems as `line column problem`. */
const told = ({ problems }: ImportResult) =>
  problems.map(({ line, column, problem }) => `${line} ${column ?? '-'} ${problem}`);

/** Nothing of the file may have been inserted. */
async function refused(result: Promise<ImportResult>): Promise<string[]> {
  const settled = await result;
  expect(settled).toMatchObject({ inserted: 0, alreadyPresent: 0, problemCount: settled.problems.length });
  expect(ids()).toEqual([]);
  return told(settled);
}

describe('an import of CSV', () => {
  it('inserts every row, as the merchant would, in columns of any order', async () => {
    const file = `bonus,to_currency,from_currency,asset,external_order_id,asset_position,order_type,order_limit,payment_token,provider_type,crypto_address
0.1,EUR,BTC,${EXACT},a,OUTPUT,WITHDRAW,2.50,tok,CARDPROV,addr
,USD,ETH,1e-7,"b ""x"", y",,,,,,
`;
    expect(await csv(file)).toEqual({
      read: 2,
      inserted: 2,
      alreadyPresent: 0,
      assumedSent: 0,
      problems: [],
      problemCount: 0,
    });
    expect(rows()).toEqual([
      expect.objectContaining({
        account: 'default',
        external_order_id: 'a',
        asset: EXACT,
        asset_position: 'OUTPUT',
        from_currency: 'BTC',
        to_currency: 'EUR',
        order_type: 'WITHDRAW',
        order_limit: '2.50',
        payment_token: 'tok',
        provider_type: 'CARDPROV',
        crypto_address: 'addr',
        bonus: '0.1',
        state: 'pending',
        attempts: 0,
      }),
      expect.objectContaining({
        external_order_id: 'b "x", y',
        asset: '0.0000001',
        asset_position: 'INPUT',
        order_type: 'DEPOSIT',
        order_limit: null,
        payment_token: null,
        provider_type: null,
        crypto_address: null,
        bonus: null,
      }),
    ]);
  });

  it.each<[string, Content]>([
    ['LF', `${HEADER}\na,1,BTC,EUR\nb,1,BTC,EUR\n`],
    ['LF, with no line end at the end', `${HEADER}\na,1,BTC,EUR\nb,1,BTC,EUR`],
    ['CRLF', `${HEADER}\r\na,1,BTC,EUR\r\nb,1,BTC,EUR\r\n`],
    ['CR', `${HEADER}\ra,1,BTC,EUR\rb,1,BTC,EUR\r`],
    ['LF in the header and CRLF below', `${HEADER}\na,1,BTC,EUR\r\nb,1,BTC,EUR\r\n`],
    ['CRLF in the header and LF below', `${HEADER}\r\na,1,BTC,EUR\nb,1,BTC,EUR\n`],
    ['a byte order mark', `\uFEFF${HEADER}\na,1,BTC,EUR\nb,1,BTC,EUR\n`],
    ['UTF-16 with a byte order mark', Buffer.from(`\uFEFF${HEADER}\na,1,BTC,EUR\nb,1,BTC,EUR\n`, 'utf16le')],
    ['empty lines', `${HEADER}\n\na,1,BTC,EUR\n\n\nb,1,BTC,EUR\n\n`],
    [
      'one byte at a time',
      Readable.from([...Buffer.from(`${HEADER}\r\na,1,BTC,EUR\r\nb,1,BTC,EUR\r\n`)].map((byte) => Buffer.from([byte]))),
    ],
  ])('reads %s', async (_name, content) => {
    expect(await csv(content)).toMatchObject({ read: 2, inserted: 2, problemCount: 0 });
    expect(rows().map((row) => [row['external_order_id'], row['to_currency']])).toEqual([
      ['a', 'EUR'],
      ['b', 'EUR'],
    ]);
  });

  it('keeps a line end that stands in quotes, and characters that are cut by the pieces they come in', async () => {
    const bytes = Buffer.from(`${HEADER}\nü😀,1,BTC,"ü\r\n€\n😀"\n`);
    await csv(Readable.from([...bytes].map((byte) => Buffer.from([byte]))));
    expect(rows()).toMatchObject([{ external_order_id: 'ü😀', to_currency: 'ü\r\n€\n😀' }]);
  });

  it('names the line on which a row begins, also behind quoted line ends and empty lines', async () => {
    const file = `${HEADER}\r\na,1,"B\r\n\r\nC",EUR\r\n\r\nc,0,BTC,EUR\r\nd,x,"B\nC",EUR\r\nf,-1,BTC,\r\n`;
    expect(await refused(csv(file))).toEqual([
      '6 asset must be positive, is "0"',
      '7 asset is not a decimal number: "x"',
      '9 asset must be positive, is "-1"',
      '9 to_currency is missing',
    ]);
  });

  it.each<[string, string, string[]]>([
    ['an empty file', '', ['1 - is empty; the first line names the columns']],
    [
      'a file without a header',
      'a,1,BTC,EUR,tok\n',
      [expect.stringMatching(/^1 - names no column; .* the columns are external_order_id, (?!.*tok\b)/) as string],
    ],
    [
      'a column that is unknown',
      `${HEADER},state\na,1,BTC,EUR,final\n`,
      [expect.stringMatching(/^1 "state" is not a column; /) as string],
    ],
    ['a column named twice', `${HEADER},asset\na,1,BTC,EUR,2\n`, ['1 asset is in the header twice']],
    [
      'a required column that is missing',
      'external_order_id,asset,to_currency\na,1,EUR\n',
      ['1 from_currency is missing in the header'],
    ],
    ['fields that are missing', `${HEADER}\na,1,BTC\nb,1,BTC,EUR\n`, ['2 - has 3 fields, the header has 4']],
    ['fields that are too many', `${HEADER}\nb,1,BTC,EUR\na,1,5,BTC,EUR\n`, ['3 - has 5 fields, the header has 4']],
    [
      'an empty field that is required',
      `${HEADER}\n,1,BTC,EUR\na,,BTC,EUR\n`,
      ['2 external_order_id is missing or not text', '3 asset is missing'],
    ],
    ['a NUL byte', `${HEADER}\na,1,B\0TC,EUR\n`, ['2 from_currency contains a NUL byte; save the file as UTF-8 text']],
    [
      'a quote that is never closed',
      `${HEADER}\na,1,BTC,EUR\n\n"b,1,BTC,EUR\nc,1,BTC,EUR\n`,
      ['4 - a quote is opened and never closed; reading stopped here'],
    ],
    [
      'a quote within a field',
      `${HEADER}\na"b,1,BTC,EUR\n`,
      [expect.stringMatching(/^2 - a quote is inside a field; .*; reading stopped here$/) as string],
    ],
    [
      'text behind a quote',
      `${HEADER}\n"a"b,1,BTC,EUR\n`,
      [expect.stringMatching(/^2 - a quoted field continues .*; reading stopped here$/) as string],
    ],
    [
      'a huge line',
      `${HEADER}\na,1,BTC,EUR\nb,${'9'.repeat(1_000_001)},BTC,EUR\n`,
      ['3 - is longer than 1000000 bytes; reading stopped here'],
    ],
    ['a decimal comma', `${HEADER}\na,"1,5",BTC,EUR\n`, ['2 asset is not a decimal number: "1,5"']],
    ['spaces around an amount', `${HEADER}\na, 1,BTC,EUR\n`, ['2 asset is not a decimal number: " 1"']],
    [
      'a text that an export guarded from spreadsheets',
      `${HEADER},crypto_address\n'=7,1,BTC,EUR,\na,1,BTC,EUR,'-Zk3x\nb;'+1,1,BTC,EUR,\n`,
      [
        expect.stringMatching(/^2 external_order_id .*ndjson/) as string,
        expect.stringMatching(/^3 crypto_address .*ndjson/) as string,
        expect.stringMatching(/^4 external_order_id .*ndjson/) as string,
      ],
    ],
    [
      'the mark of a hidden token',
      `${HEADER},payment_token\na,1,BTC,EUR,<hidden>\n`,
      [expect.stringMatching(/^2 payment_token .*--reveal/) as string],
    ],
  ])('refuses %s, with the line and the column', async (_name, content, problems) => {
    expect(await refused(csv(content))).toEqual(problems);
  });

  it('refuses text that is not UTF-8, with the line and the column', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${HEADER}\na,1,BTC,EUR\nb`),
      Buffer.from([0xe4]),
      Buffer.from(',1,BTC,EUR\n'),
    ]);
    expect(await refused(csv(bytes))).toEqual(['3 external_order_id is not valid Unicode text']);
  });

  it('takes an apostrophe that guards no formula', async () => {
    expect(await csv(`${HEADER}\n'q,1,BTC,EUR\na'=b,1,BTC,EUR\n`)).toMatchObject({ inserted: 2, problems: [] });
    expect(ids()).toEqual(["'q", "a'=b"]);
  });

  it('names what is wrong before a quote that ends the reading, too', async () => {
    expect(await refused(csv(`${HEADER}\na,0,BTC,EUR\n"b"x,1,BTC,EUR\nc,0,BTC,EUR\n`))).toEqual([
      '2 asset must be positive, is "0"',
      expect.stringMatching(/^3 - a quoted field continues/),
    ]);
  });

  it('takes a file that has only a header for one without rows', async () => {
    expect(await csv(`${HEADER}\n`)).toEqual({
      read: 0,
      inserted: 0,
      alreadyPresent: 0,
      assumedSent: 0,
      problems: [],
      problemCount: 0,
    });
  });
});

describe('an import of amounts with an exponent', () => {
  it('writes them out', async () => {
    expect(await csv(`${HEADER}\na,1e5,BTC,EUR\n`)).toMatchObject({ inserted: 1, problemCount: 0 });
    expect(rows()).toEqual([expect.objectContaining({ asset: '100000' })]);
  });
});

describe('an import of NDJSON', () => {
  const line = (fields: Record<string, unknown>) =>
    `${JSON.stringify({ external_order_id: 'a', asset: '1', from_currency: 'BTC', to_currency: 'EUR', ...fields })}\n`;

  it('keeps every digit of a number, and takes a number for an id as it is written', async () => {
    const content =
      `{"external_order_id": 007, "asset": 1, "from_currency": "BTC", "to_currency": "EUR"}
`.replace('007', '70071992547409931234') +
      `{"external_order_id":"b","asset":${EXACT},"order_limit":1.50,"bonus":1e-2,"from_currency":"BTC","to_currency":"EUR"}`;
    expect(await ndjson(content)).toMatchObject({ read: 2, inserted: 2, problemCount: 0 });
    expect(rows()).toEqual([
      expect.objectContaining({ external_order_id: '70071992547409931234', asset: '1' }),
      expect.objectContaining({ external_order_id: 'b', asset: EXACT, order_limit: '1.50', bonus: '0.01' }),
    ]);
  });

  it.each<[string, Content, string[]]>([
    ['a byte order mark', `\uFEFF${line({})}`, ['a']],
    ['CRLF and empty lines', `\r\n${line({}).trimEnd()}\r\n\r\n`, ['a']],
    ['nothing at all', '', []],
    ['line separators of Unicode in a text', line({ external_order_id: 'a\u2028b\u2029c' }), ['a\u2028b\u2029c']],
    [
      'one byte at a time',
      Readable.from([...Buffer.from(line({ external_order_id: '€😀' }))].map((byte) => Buffer.from([byte]))),
      ['€😀'],
    ],
    ['null for what is not given', line({ bonus: null, asset_position: null, payment_token: null }), ['a']],
  ])('reads %s', async (_name, content, expected) => {
    expect(await ndjson(content)).toMatchObject({ read: expected.length, inserted: expected.length, problemCount: 0 });
    expect(ids()).toEqual(expected);
  });

  it.each<[string, string, unknown[]]>([
    [
      'what is not JSON',
      `${line({})}{"external_order_id": }\n`,
      [expect.stringMatching(/^2 - is not JSON: .* at position 22$/)],
    ],
    ['two objects on a line', `{}{}\n`, [expect.stringMatching(/^1 - is not JSON: /)]],
    ['an array', '[1]\n', ['1 - is not a JSON object']],
    ['a bare number', '\n5\n', ['2 - is not a JSON object']],
    ['null', 'null\n', ['1 - is not a JSON object']],
    [
      'a key that stands twice',
      '{"asset":"1","asset":"2"}\n',
      [expect.stringMatching(/^1 - is not JSON: Duplicate key 'asset'/)],
    ],
    [
      'a key that is unknown',
      line({ state: 'final' }),
      [expect.stringMatching(/^1 "state" is not a column; the columns are /)],
    ],
    [
      'a key that is special',
      line({}).replace('"asset"', '"__proto__":{"x":1},"asset"'),
      [expect.stringMatching(/^1 "__proto__" is not a column/)],
    ],
    [
      'a value that is no text',
      line({ from_currency: true, asset: [1] }),
      ['1 asset is not a decimal number', '1 from_currency is not text'],
    ],
    [
      'an object nested too deep',
      `{"asset":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`,
      ['1 - is nested too deep'],
    ],
    ['an empty text', line({ from_currency: '' }), ['1 from_currency is empty']],
    [
      'an id that is not one to be sent',
      line({ external_order_id: 'a ' }) + line({ external_order_id: 'a\0' }),
      ['1 external_order_id begins or ends with a blank', '2 external_order_id contains a control character'],
    ],
    [
      'a NUL character',
      line({ from_currency: 'B\0C' }),
      ['1 from_currency contains a NUL character, which PostgreSQL does not take'],
    ],
    [
      'half a character',
      line({}).replace('"a"', String.raw`"\ud800"`),
      ['1 external_order_id is not valid Unicode text'],
    ],
    [
      'a line without end',
      `${line({})}{"asset":"${'9'.repeat(1_000_001)}`,
      ['2 - is longer than 1000000 bytes; reading stopped here'],
    ],
  ])('refuses %s, with the line and the column', async (_name, content, problems) => {
    expect(await refused(ndjson(content))).toEqual(problems);
  });

  it('refuses text that is not UTF-8, with the line and the column', async () => {
    const bytes = Buffer.concat([
      Buffer.from(line({}).slice(0, 23)),
      Buffer.from([0xff]),
      Buffer.from(line({}).slice(23)),
    ]);
    expect(await refused(ndjson(bytes))).toEqual(['1 external_order_id is not valid Unicode text']);
  });
});

describe('an order that is there already', () => {
  const insert = (values: string) =>
    merchant.exec(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, bonus) values ${values}`,
    );

  it('is passed over when its content is the same, and nothing of it changes', async () => {
    insert(`('a', '1.5', 'BTC', 'EUR', null)`);
    const before = rows();
    expect(await csv(`${HEADER}\na,1.5,BTC,EUR\nb,1,BTC,EUR\n`)).toMatchObject({
      read: 2,
      inserted: 1,
      alreadyPresent: 1,
    });
    expect(rows()[0]).toEqual(before[0]);
    expect(ids()).toEqual(['a', 'b']);
  });

  it('is passed over also when it was sent, by the same file once more', async () => {
    const file = `${HEADER}\na,1.50,BTC,EUR\nb,1,BTC,EUR\n`;
    await csv(file);
    merchant.exec(
      `update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1 where external_order_id = 'a'`,
    );
    expect(await csv(file)).toEqual({
      read: 2,
      inserted: 0,
      alreadyPresent: 2,
      assumedSent: 0,
      problems: [],
      problemCount: 0,
    });
  });

  it.each([
    [`'1.50'`, '1.5'],
    [`'1.5'`, '1.50'],
    ['5', '5'],
    [`'5'`, '5.00'],
    [`'100'`, '100.0'],
    [`'${EXACT}'`, `${EXACT}000`],
  ])('has the same amount when the number is the same: %s and %s', async (stands, imported) => {
    insert(`('a', ${stands}, 'BTC', 'EUR', ${stands})`);
    merchant.exec(`update merchant_orders set asset_position = 'OUTPUT'`);
    const file = `${HEADER},bonus,asset_position\na,${imported},BTC,EUR,${imported},OUTPUT\n`;
    expect(await csv(file)).toMatchObject({ inserted: 0, alreadyPresent: 1, problemCount: 0 });
  });

  it.each([
    [`'10'`, '1'],
    [`'1.05'`, '1.5'],
    [`'${EXACT}'`, '12345678901234567.123456789012345679'],
    [`'1.50e1'`, '1.5'],
    ['null', '1'],
  ])('has another amount when the number is another: %s and %s', async (stands, imported) => {
    insert(`('a', ${stands}, 'BTC', 'EUR', null)`);
    expect(told(await csv(`${HEADER}\na,${imported},BTC,EUR\n`))).toEqual([
      '2 asset differs from merchant_orders, which has "a" too',
    ]);
  });

  it('is an error when its content is another, which names the columns and nothing of their content', async () => {
    insert(`('a', '1', 'BTC', 'EUR', null), ('b', '1', 'BTC', 'EUR', '0.5')`);
    const result = await csv(`${HEADER},payment_token\nnew,1,BTC,EUR,\na,1,ETH,EUR,secret\nb,1,BTC,EUR,\n`);
    expect(told(result)).toEqual([
      '3 from_currency, payment_token differs from merchant_orders, which has "a" too',
      '4 bonus differs from merchant_orders, which has "b" too',
    ]);
    expect(result).toMatchObject({ read: 3, inserted: 0, alreadyPresent: 0, problemCount: 2 });
    expect(ids()).toEqual(['a', 'b']);
  });

  it('is another order when it is of another case or of another account', async () => {
    insert(`('A', '1', 'BTC', 'EUR', null)`);
    merchant.exec(`insert into merchant_orders (account, external_order_id) values ('other', 'a')`);
    expect(await csv(`${HEADER}\na,2,BTC,EUR\n`)).toMatchObject({ inserted: 1, problemCount: 0 });
  });
});

describe('an order that stands twice in the file', () => {
  it('is inserted once when its content is the same', async () => {
    const file = `${HEADER}\na,1,BTC,EUR\nb,1,BTC,EUR\na,1.0,BTC,EUR\na,1,BTC,EUR\n`;
    expect(await csv(file)).toMatchObject({ read: 4, inserted: 2, alreadyPresent: 2, problemCount: 0 });
    expect(rows().map((row) => [row['external_order_id'], row['asset']])).toEqual([
      ['a', '1'],
      ['b', '1'],
    ]);
  });

  it('is an error when its content is another, which names both lines', async () => {
    const file = `${HEADER}\na,1,BTC,EUR\nb,1,BTC,EUR\na,2,BTC,EUR\na,1,BTC,USD\n`;
    expect(await refused(csv(file))).toEqual([
      '4 asset differs from line 2, which has "a" too',
      '5 to_currency differs from line 2, which has "a" too',
    ]);
  });
});

describe('an import', () => {
  it('names the first 50 problems and counts all of them', async () => {
    const lines = Array.from({ length: 2_500 }, (_, index) => `o${index},0,BTC,EUR\n`);
    const result = await csv(`${HEADER}\n${lines.join('')}`);
    expect(result).toMatchObject({ read: 2_500, inserted: 0, problemCount: 2_500 });
    expect(told(result)).toHaveLength(50);
    expect(told(result)[0]).toBe('2 asset must be positive, is "0"');
  });

  it('counts all conflicts, too', async () => {
    const lines = (currency: string) =>
      Array.from({ length: 120 }, (_, index) => `o${index},1,BTC,${currency}\n`).join('');
    await csv(`${HEADER}\n${lines('EUR')}`);
    const result = await csv(`${HEADER}\n${lines('USD')}`);
    expect([result.problems.length, result.problemCount, result.inserted]).toEqual([50, 120, 0]);
  });

  it('can be followed by another on the same connection', async () => {
    await csv(`${HEADER}\na,1,BTC,EUR\n`);
    expect(await csv(`${HEADER}\nb,1,BTC,EUR\n`)).toMatchObject({ read: 1, inserted: 1 });
  });

  it('inserts nothing when reading fails in the middle, and rejects with the reason', async () => {
    async function* failing() {
      yield Buffer.from(`${HEADER}\na,1,BTC,EUR\n`);
      throw new Error('the disk is gone');
    }
    await expect(csv(Readable.from(failing()))).rejects.toThrow('the disk is gone');
    await expect(ndjson(Readable.from(failing()))).rejects.toThrow('the disk is gone');
    expect(ids()).toEqual([]);
  });

  it('inserts all rows or none: the database refuses one of them', async () => {
    merchant.exec(`create trigger of_the_merchant before insert on merchant_orders when new.external_order_id = 'o1500'
      begin select raise(abort, 'no more'); end`);
    const lines = Array.from({ length: 2_000 }, (_, index) => `o${index},1,BTC,EUR\n`);
    await expect(csv(`${HEADER}\n${lines.join('')}`)).rejects.toMatchObject({ problem: 'refused' });
    expect(ids()).toEqual([]);
  });

  it('stops reading at a header that cannot be used', async () => {
    let pieces = 0;
    async function* endless() {
      yield Buffer.from('nonsense\n');
      for (; pieces < 10_000; pieces += 1) yield Buffer.alloc(65_536, 'a\n');
    }
    const input = Readable.from(endless());
    expect(await csv(input)).toMatchObject({ read: 0, inserted: 0 });
    expect(input.destroyed).toBe(true);
    expect(pieces).toBeLessThan(100);
  });

  it.each(['csv', 'ndjson'] as const)(
    'reads 30,000 rows of %s no faster than they are staged, and other programs can write meanwhile',
    async (format) => {
      const total = 30_000;
      let produced = 0;
      let staged = 0;
      let furthestAhead = 0;
      function* source() {
        if (format === 'csv') yield Buffer.from(`${HEADER}\n`);
        for (; produced < total; produced += 1) {
          furthestAhead = Math.max(furthestAhead, produced - staged);
          const [id, asset] = [`o${produced}`, `${produced + 1}.000000000000000001`];
          yield Buffer.from(
            format === 'csv'
              ? `${id},${asset},BTC,EUR\n`
              : `{"external_order_id":"${id}","asset":${asset},"from_currency":"BTC","to_currency":"EUR"}\n`,
          );
        }
      }
      const insert = merchant.prepare('insert into merchant_orders (external_order_id) values (?)');
      const onProgress = (read: number) => {
        staged = read;
        insert.run(`meanwhile-${read}`);
      };
      const result = await importOrders(store, 'default', Readable.from(source()), { format, onProgress });
      expect(result).toMatchObject({ read: total, inserted: total, problemCount: 0 });
      expect(staged).toBe(total);
      expect(furthestAhead).toBeLessThan(5_000);
      const written = merchant.prepare(`select count(*) from merchant_orders where asset like '%.000000000000000001'`);
      expect(written.pluck().get()).toBe(total);
    },
  );
});
