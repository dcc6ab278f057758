import type { Column, Row } from '../formats/document.ts';
import { counted } from '../formats/text.ts';
import type { Supplement } from './document.ts';
import type { Problem } from './verdict.ts';

const PROBLEMS = {
  duplicate: 'more than once in the ledger',
  notOurs: 'not among our orders of the period',
  notInLedger: 'missing in the ledger',
  notAtExchange: 'in the ledger, but never at the exchange',
  givenUp: 'in the ledger, but abandoned by a person or disputed; the exchange may have it',
  currencyDiffers: 'the currency differs',
  amountDiffers: 'the amount differs',
  amountUnreadable: 'an amount cannot be read',
} as const;

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
  { key: 'file', label: 'File', kind: 'text', rank: 2 },
  { key: 'line', label: 'Line', kind: 'count' },
];

export interface ComparedLedger {
  readonly files: readonly string[];
  readonly lines: number;
  readonly count: number;
  readonly differences: Iterable<LedgerDifference>;
}

export function ledgerSupplement({ files, lines, count, differences }: ComparedLedger): Supplement {
  return {
    facts: [
      { key: 'ledger', label: 'Ledger', value: files.join(', ') },
      { key: 'ledger_lines', label: 'Ledger lines', value: lines },
      { key: 'ledger_differences', label: 'Ledger differences', value: count },
    ],
    sections: [
      {
        name: 'ledger',
        title: 'Differences from the ledger',
        part: 'attention',
        empty: 'The ledger has the same orders with the same amounts.',
        columns: COLUMNS,
        rows: described(differences),
      },
    ],
    problems: count === 0 ? [] : [ledgerProblem(count)],
  };
}

function ledgerProblem(count: number): Problem {
  const reason = `${counted(count, 'line or order differs', 'lines or orders differ')} between the ledger and our orders.`;
  return { because: `differences from the ledger: ${count}`, reason, tone: 'error' };
}

function* described(differences: Iterable<LedgerDifference>): Generator<Row> {
  for (const difference of differences) yield { ...difference, problem: PROBLEMS[difference.problem] };
}

export interface PreOrderCounts {
  readonly asked: number;
  /** Not answered with the pre-order, or no longer asked because too many in a row were not answered. */
  readonly unanswered: number;
  readonly missing: number;
  readonly differing: number;
}

export function preOrderSupplement({ asked, unanswered, missing, differing }: PreOrderCounts): Supplement {
  return {
    facts: [
      { key: 'pre_orders_asked', label: 'Pre-orders asked for', value: asked },
      { key: 'pre_orders_missing', label: 'Pre-orders missing', value: missing },
      { key: 'pre_orders_differing', label: 'Pre-orders that differ', value: differing },
      { key: 'pre_orders_unanswered', label: 'Pre-orders not answered', value: unanswered },
    ],
    sections: [],
    problems: unanswered === 0 ? [] : [unansweredProblem(unanswered)],
  };
}

function unansweredProblem(count: number): Problem {
  const reason = `The exchange did not answer for ${counted(count, 'pre-order')}: make the report again when it does.`;
  return { because: `pre-orders not answered: ${count}`, reason, tone: 'warning' };
}
