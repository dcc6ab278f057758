import type { Column, Row } from '../formats/document.ts';
import type { Supplement } from './document.ts';

const PROBLEMS = {
  duplicate: 'more than once in the ledger',
  notOurs: 'not among our orders of the period',
  notInLedger: 'missing in the ledger',
  notAtExchange: 'in the ledger, but never at the exchange',
  givenUp: 'in the ledger, but abandoned by a person; the exchange may have it',
  currencyDiffers: 'the currency differs',
  amountDiffers: 'the amount differs',
  amountUnreadable: 'an amount cannot be read',
} as const;

/** One difference between a ledger and our orders. */
export type LedgerDifference = Readonly<{
  problem: keyof typeof PROBLEMS;
  external_order_id: string;
  file: string | null;
  line: number | null;
  ours: string | null;
  ledger: string | null;
}>;

const COLUMNS: readonly Column[] = [
  { key: 'problem', label: 'Problem', kind: 'text' },
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'ours', label: 'Ours', kind: 'text' },
  { key: 'ledger', label: 'Ledger', kind: 'text' },
  { key: 'file', label: 'File', kind: 'text', isDetail: true },
  { key: 'line', label: 'Line', kind: 'count' },
];

/** Makes the part of the report about a ledger. */
export function ledgerSupplement(found: {
  readonly files: readonly string[];
  readonly lines: number;
  readonly count: number;
  readonly differences: Iterable<LedgerDifference>;
}): Supplement {
  const { files, lines, count, differences } = found;
  return {
    facts: [
      { key: 'ledger', label: 'Ledger', value: files.join(', ') },
      { key: 'ledger_lines', label: 'Ledger lines', value: lines },
      { key: 'ledger_differences', label: 'Ledger differences', value: count },
    ],
    sections: [
      { name: 'ledger', title: 'Differences from the ledger', columns: COLUMNS, rows: described(differences) },
    ],
    problems: count === 0 ? [] : [`differences from the ledger: ${count}`],
  };
}

function* described(differences: Iterable<LedgerDifference>): Generator<Row> {
  for (const difference of differences) yield { ...difference, problem: PROBLEMS[difference.problem] };
}
