import fc from 'fast-check';
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { explainError, EXIT } from '../../../src/cli/shared/exit.ts';
import { checkFields, adoptOrder } from '../../../src/extensions/intake/add.ts';
import { importOrders, readLines } from '../../../src/extensions/intake/import.ts';
import { ORDER_COLUMNS } from '../../../src/store/orders/order-columns.ts';
import { broken, type Entry } from '../entry.ts';
import { ground, sandbox, BEGINNING } from '../ground.ts';
import { testClock } from '../../support/test-clock.ts';
import { bytesOf, oddBytes, ODD_NUMBERS, oddJson, oddObject, oddPlace, oddText } from '../odd.ts';

/** An import file: its bytes, and in which pieces they are read. */
interface OddFile {
  readonly format: 'csv' | 'ndjson';
  readonly bytes: string;
  readonly pieceBytes: number;
}

const HEADER = ['external_order_id', 'asset', 'from_currency', 'to_currency', 'bonus'] as const;
const rowOf = (id: string) => [id, '1.5', 'BTC', 'EUR', ''];
const field = fc.oneof(oddText, fc.constantFrom<string>(...ODD_NUMBERS));
const LINE_ENDS = ['\n', '\r\n', '\r', '\n\n'] as const;

const wholeCsv = stringify([HEADER, rowOf('a'), rowOf('b')]);
const csv = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...LINE_ENDS).map((end) => wholeCsv.replaceAll('\n', end)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(4), field, fc.boolean())
      .map(([at, value, isQuoted]) =>
        stringify([HEADER, rowOf('a'), rowOf('b').with(at, value)], { quoted: isQuoted }),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(4), field)
      .map(([at, value]) => stringify([HEADER.with(at, value as never), rowOf('a')])),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat(4), field)
      .map(([at, value]) => `${HEADER.join()}\n${rowOf('a').with(at, value).join()}\n`),
  },
  { weight: 4, arbitrary: oddPlace(wholeCsv) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '\n',
      '"',
      `${HEADER.join()}\n"${'x'.repeat(1_100_000)}"`,
      `${HEADER.join()}\n${','.repeat(100_000)}`,
      `${HEADER.join()}\n${'\n'.repeat(50_000)}a,1,BTC,EUR,`,
      `${'a,'.repeat(20_000)}\n`,
      `external_order_id;asset\na;1`,
      `__proto__,${HEADER.join()}\nx,a,1.5,BTC,EUR,`,
      `constructor,${HEADER.join()}\nx,a,1.5,BTC,EUR,`,
    ),
  },
);
const object = { external_order_id: 'b', asset: '1.5', from_currency: 'BTC', to_currency: 'EUR', bonus: null };
const first = JSON.stringify({ ...object, external_order_id: 'a' });
const ndjson = fc.oneof(
  { weight: 6, arbitrary: oddObject(object, ORDER_COLUMNS).map((line) => `${first}\n${line}\n`) },
  { weight: 1, arbitrary: oddJson.map((value) => `${first}\n{"asset":${value},"from_currency":"BTC"}`) },
  { weight: 1, arbitrary: oddPlace(`${first}\r\n${JSON.stringify(object)}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '\n\n', '{}', `{"a":"${'x'.repeat(1_100_000)}"}`, 'x'.repeat(1_100_000)),
  },
);
const file: fc.Arbitrary<OddFile> = fc
  .record({
    format: fc.constantFrom('csv', 'ndjson'),
    pieceBytes: fc.constantFrom(1, 3, 65_536),
    bytes: fc.constant(''),
  })
  .chain(({ format, pieceBytes }) =>
    oddBytes(format === 'csv' ? csv : ndjson).map((bytes) => ({
      format,
      bytes,
      // A million pieces of one byte show nothing more.
      pieceBytes: bytes.length > 10_000 ? 65_536 : pieceBytes,
    })),
  );

/** Import files, also of orders to adopt: all rows or none, and what is wrong is said with its line. */
export const imports: Entry<OddFile> = {
  name: 'imports',
  inputs: file,
  inputsAProgram: 200,
  async open() {
    const clock = testClock(BEGINNING);
    const on = await ground({ clock, answer: sandbox(clock).answer });
    const { app, merchant } = on;
    const all = merchant.prepare('select * from merchant_orders');
    return {
      async give({ format, bytes, pieceBytes }) {
        merchant.exec('delete from merchant_orders');
        const input = () => Readable.from(pieces(bytesOf(bytes), pieceBytes));
        const result = await importOrders(app.store, app.account, input(), { format }).catch(usable);
        const rows = all.all() as Record<string, unknown>[];
        if (result === undefined) return;
        const { inserted, problems, problemCount, read } = result;
        if (rows.length !== inserted) broken(`${inserted} rows are said to be inserted, ${rows.length} are there`);
        if (problemCount > 0 && inserted > 0) broken('a file with problems was inserted in part');
        if (problemCount === 0 && inserted + result.alreadyPresent !== read) broken('a row is not counted');
        for (const { line, problem } of problems) {
          if (!Number.isSafeInteger(line) || line < 1 || problem === '') broken('a problem has no line or no text');
        }
        for (const one of rows)
          if (!checkFields(one).ok) broken(`a row that is not valid was inserted: ${JSON.stringify(one)}`);
        await adoptAll(input(), format);
      },
      [Symbol.asyncDispose]: () => on[Symbol.asyncDispose](),
    };

    async function adoptAll(input: Readable, format: OddFile['format']): Promise<void> {
      for await (const line of readLines(input, format)) {
        if ('problem' in line) continue;
        const result = await adoptOrder(app, line.fields);
        const isAdopted = result.kind === 'ok' && result.body.includes('"adopted"');
        if (isAdopted) broken('an order that the exchange does not have was adopted');
      }
    }
  },
};

function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A file may be refused as a whole, in words. */
function usable(error: unknown): undefined {
  const { code, message } = explainError(error);
  if (code === EXIT.bug) broken(`it is taken for a bug: ${message}`);
}
