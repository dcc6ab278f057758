import type { Cell, Tone } from '../../cli/shared/terminal.ts';

/** Cells are strings; counts are numbers. `day`: UTC, `2026-01-31`. `digits`: a decimal with significant last zeros. */
export type CellKind = 'text' | 'time' | 'day' | 'decimal' | 'digits' | 'count' | 'severity' | 'state' | 'outcome';

export type Row = Readonly<Record<string, Cell>>;
export type Rows = Iterable<Row> | AsyncIterable<Row>;

/** A column: `key` names it to programs (CSV, JSON), `label` to people (table, XLSX, HTML). */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly kind: CellKind;
  /** On a narrow line the columns with the greatest rank are left out first, and named. Without a rank it is 0. */
  readonly rank?: number;
  /** An id, which tells a row from others. No table on a terminal cuts an id. */
  readonly isId?: boolean;
  /** Left out in the forms for people (table, HTML): another column says the same to them. */
  readonly isForPrograms?: boolean;
  readonly href?: (row: Row) => string | undefined;
  readonly isCopied?: boolean;
  /** In HTML: the time of the page. The age at this time is shown beside each time of the column. */
  readonly agesAt?: string;
}

/** A table of a report. Its rows are read once, while they are written, so there may be many. */
export interface Section {
  /** The name of its CSV file, XLSX sheet and JSON key: short, `a-z` and `_`. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: Rows;
  /** In the forms for people in place of `rows`, with group sums, which programs would count twice. */
  readonly rowsForPeople?: Rows;
  readonly part?: SectionPart;
  readonly lead?: string;
  readonly empty?: string;
  readonly groups?: Groups;
  /** In HTML the section folds behind its title, and in XLSX its sheet is hidden, unless the document is whole. */
  readonly isFolded?: boolean;
  /** Left out in the forms for people (table, HTML), and hidden in XLSX: another section says the same to them. */
  readonly isForPrograms?: boolean;
}

export const PARTS = {
  attention: 'What needs a person',
  money: 'Orders and money',
  days: 'By day',
  details: 'Details',
} as const;
export type SectionPart = keyof typeof PARTS;

/** Adjacent rows with equal values of some columns. In HTML a group folds behind its heading, without the columns. */
export interface Groups {
  readonly says: readonly string[];
  describe(row: Row): GroupHead;
}

export interface GroupHead {
  readonly title: string;
  readonly part?: SectionPart;
  readonly tone?: Tone;
  readonly meaning?: string;
  readonly advice?: string;
}

export type Fact = { readonly key: string; readonly label: string; readonly value: Cell };

export const PATTERNS = ['plain', 'stripes', 'dots', 'grid'] as const;

export type Look = { readonly tone: Tone; readonly pattern?: (typeof PATTERNS)[number] };

export type Chart = ColumnChart | SpanChart;

type ChartHead = Readonly<{ title: string; part: SectionPart; text: string }>;

/** The names of the steps of an axis, such as days; null for a step without a name. */
export type Steps = readonly (string | null)[];

export type Series = { readonly name: string; readonly look: Look; readonly note?: string };

/** Numbers by step, as columns, stacked or side by side. Each panel has numbers of one unit. */
export interface ColumnChart extends ChartHead {
  readonly kind: 'columns';
  readonly steps: Steps;
  readonly series: readonly Series[];
  readonly isBeside?: boolean;
  readonly panels: readonly { readonly unit: string; readonly values: readonly (readonly number[])[] }[];
}

/** Durations in ms by percentile: this part of all durations is not longer. */
export type Span = Readonly<Record<'p1' | 'p25' | 'p50' | 'p75' | 'p99', number>>;

export interface SpanChart extends ChartHead {
  readonly kind: 'spans';
  readonly rows: readonly (Series & { readonly span: Span })[];
}

export interface Verdict {
  readonly tone: Tone;
  readonly text: string;
  readonly reasons: readonly string[];
  /** The entry that a person begins with, and the section that begins with it, if there is one. */
  readonly first?: { readonly section?: string; readonly head: GroupHead } | undefined;
  /** The period is empty, and must not be. */
  readonly isEmpty?: true;
}

export type Card = Readonly<{ label: string; value: string; note?: string; tone?: Tone; section?: string }>;

/** A report before it is written in a form. The same document always makes the same bytes. */
export interface ReportDocument {
  /** Name and version of the JSON form, such as `order-sync.ageing/1`; null if JSON has only the section's rows. */
  readonly schema: string | null;
  readonly title: string;
  readonly verdict?: Verdict;
  readonly cards?: readonly Card[];
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  readonly charts: readonly Chart[];
  readonly isWhole?: boolean | undefined;
}

export function isNumeric({ kind }: Pick<Column, 'kind'>): boolean {
  return kind === 'count' || kind === 'decimal' || kind === 'digits';
}

export function saysNothing(value: Cell, column: Column): boolean {
  if (value === null || value === '' || value === 0) return true;
  return isNumeric(column) && /^-?0+(?:\.0*)?$/.test(String(value));
}

const TONES: Readonly<Record<string, Readonly<Record<string, Tone>>>> = {
  severity: { error: 'error', warning: 'warning', info: 'info' },
  state: {
    accepted: 'info',
    open: 'info',
    final: 'good',
    unknown: 'warning',
    held: 'error',
    disputed: 'error',
    rejected: 'warning',
    invalid: 'warning',
  },
  outcome: { succeeded: 'good', paid: 'good', failed: 'warning', open: 'info', disputed: 'error' },
};

/** Returns the tone of a value, `neutral` for kinds without tones. A value has the same tone in every form. */
export function toneOf(kind: CellKind, value: Cell): Tone {
  const tones = TONES[kind] ?? {};
  return (Object.hasOwn(tones, String(value)) ? tones[String(value)] : undefined) ?? 'neutral';
}
