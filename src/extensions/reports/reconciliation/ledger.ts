import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { quote } from '../../../base/text.ts';
import type { Tolerance } from '../../../base/decimal.ts';
import type { Column } from '../../documents/document.ts';
import { LedgerTables, type LedgerOrder } from '../tables/ledger.ts';
import type { JudgedOrder } from './judge.ts';
import type { Supplement } from './verdict.ts';
import { counted } from '../../documents/words.ts';

interface Ledger {
  readonly files: readonly string[];
  readonly id: string;
  readonly amount: string;
  /** Undefined if currencies are not compared. */
  readonly currency?: string | undefined;
}

export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

export const PROGRESS_EVERY = 5_000;

/** Reads the files of a ledger into temporary tables. Throws `LedgerError` if a file is not CSV or lacks a column. */
export async function readLedger(ledger: Ledger, onProgress: (text: string) => Promise<void>): Promise<LedgerTables> {
  const { csvRecords } = await import('../../documents/csv.ts');
  using resources = new DisposableStack();
  const tables = resources.use(new LedgerTables());
  let lines = 0;
  for (const path of ledger.files) {
    const file = basename(path);
    let columns: ReturnType<typeof columnsOf> | undefined;
    await using handle = await open(path);
    if ((await handle.stat()).isDirectory()) throw new LedgerError(`${path} is a folder; name a CSV file`);
    for await (const read of csvRecords(handle.createReadStream())) {
      const refuse = (problem: string) => new LedgerError(`${file}:${read.line}: ${problem}`);
      if ('problem' in read) throw refuse(read.problem);
      const { line, record } = read;
      if (columns === undefined) {
        columns = columnsOf(record, ledger, refuse);
        continue;
      }
      const { count, id, amount, currency } = columns;
      if (record.length !== count) throw refuse(`has ${record.length} fields, the header has ${count}`);
      const textOf = (place: number | undefined) => record[place ?? -1]?.trim() ?? null;
      tables.addLine({ id: record[id] ?? '', amount: textOf(amount), currency: textOf(currency), file, line });
      lines += 1;
      if (lines % PROGRESS_EVERY === 0) await onProgress(`${lines} lines of the ledger read`);
    }
    if (columns === undefined) throw new LedgerError(`${file}: is empty; the first line names the columns`);
  }
  resources.move();
  return tables;
}

function columnsOf(header: readonly string[], { id, amount, currency }: Ledger, refuse: (problem: string) => Error) {
  const placeOf = (column: string) => {
    const place = header.indexOf(column);
    if (place < 0) throw refuse(`has no column ${quote(column)}; it has ${header.map(quote).join(', ')}`);
    if (header.lastIndexOf(column) !== place) throw refuse(`has the column ${quote(column)} twice`);
    return place;
  };
  const places = { id: placeOf(id), amount: placeOf(amount) };
  return { count: header.length, ...places, currency: currency === undefined ? undefined : placeOf(currency) };
}

export function ledgerOrder({ row, currency, judgement }: JudgedOrder): LedgerOrder {
  // The exchange may have an abandoned order. For the id of a disputed order, the exchange may have only another order.
  const isUncertain = row.state === 'abandoned' || row.state === 'disputed';
  const isAtExchange = isUncertain ? null : judgement === 'nothing' ? 0 : 1;
  const amount = typeof row.asset === 'string' ? row.asset : null;
  return { id: row.external_order_id, amount, currency, isAtExchange };
}

const PROBLEMS: Readonly<Record<string, string>> = {
  duplicate: 'more than once in the ledger',
  notOurs: 'not among our orders of the period',
  notInLedger: 'missing in the ledger',
  notAtExchange: 'in the ledger, but never at the exchange',
  givenUp: 'in the ledger, but abandoned or disputed; the exchange may have the order',
  currencyDiffers: 'the currency differs',
  amountDiffers: 'the amount differs',
  amountUnreadable: 'an amount cannot be read',
};
const COLUMNS: readonly Column[] = [
  { key: 'problem', label: 'Problem', kind: 'text' },
  { key: 'external_order_id', label: 'Order', kind: 'text', isId: true },
  { key: 'ours', label: 'Ours', kind: 'text' },
  { key: 'ledger', label: 'Ledger', kind: 'text' },
  { key: 'file', label: 'File', kind: 'text', rank: 2 },
  { key: 'line', label: 'Line', kind: 'count' },
];

export function ledgerSupplement(tables: LedgerTables, files: readonly string[], tolerance: Tolerance): Supplement {
  const count = tables.compare(tolerance);
  const reason = `${counted(count, 'line or order differs', 'lines or orders differ')} between the ledger and our orders.`;
  return {
    facts: [
      { key: 'ledger', label: 'Ledger', value: files.map((file) => basename(file)).join(', ') },
      { key: 'ledger_lines', label: 'Ledger lines', value: tables.lines() },
      { key: 'ledger_differences', label: 'Ledger differences', value: count },
    ],
    sections: [
      {
        name: 'ledger',
        title: 'Differences from the ledger',
        part: 'attention',
        empty: 'The ledger and our orders agree.',
        columns: COLUMNS,
        rows: Iterator.from(tables.differences()).map((row) => {
          return { ...row, problem: PROBLEMS[row.problem] ?? row.problem };
        }),
      },
    ],
    problems: count === 0 ? [] : [{ because: `differences from the ledger: ${count}`, reason, tone: 'error' }],
  };
}
