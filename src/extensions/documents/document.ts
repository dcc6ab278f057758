import type { Cell, Tone } from '../../cli/shared/terminal.ts';

/** `count` is for numbers, other kinds for strings. A `day` is in UTC, `2026-01-31`. `digits` keeps its last zeros. */
export type CellKind = 'text' | 'time' | 'day' | 'decimal' | 'digits' | 'count' | 'severity' | 'state' | 'outcome';

export type Row = Readonly<Record<string, Cell>>;
export type Rows = Iterable<Row> | AsyncIterable<Row>;

/** `key` is the name of the column for programs (CSV, JSON), `label` its name for people (table, XLSX, HTML). */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly kind: CellKind;
  /** In a narrow line, columns of the greatest rank are left out first. Default: 0; on a terminal, -1 for amounts. */
  readonly rank?: number;
  /** True for an id, which a terminal never cuts. */
  readonly isId?: boolean;
  /** True if the table and HTML leave the column out, because another column says the same to people. */
  readonly isForPrograms?: boolean;
  readonly href?: (row: Row) => string | undefined;
  readonly isCopied?: boolean;
  /** The time of the page. Beside each time of the column, HTML shows how old that time is at `agesAt`. */
  readonly agesAt?: string;
}

/** A table of a report. Rows can be read only once, and are read while the report is written. */
export interface Section {
  /** The name of the CSV file, the JSON key and the id in HTML: short, `a-z` and `_`. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: Rows;
  /** Replaces `rows` in the table and in HTML. Also contains rows of sums, which programs would count twice. */
  readonly rowsForPeople?: Rows;
  readonly part?: SectionPart;
  readonly lead?: string;
  readonly empty?: string;
  readonly groups?: Groups;
  /** True if HTML folds the section and XLSX hides its sheet. If the document has `isWhole`, both show the section. */
  readonly isFolded?: boolean;
  /** True if the table and HTML leave the section out, and XLSX hides it unless the document has `isWhole`. */
  readonly isForPrograms?: boolean;
}

export const PARTS = {
  attention: 'What needs a person',
  money: 'Orders and money',
  days: 'By day',
  details: 'Details',
} as const;
export type SectionPart = keyof typeof PARTS;

/** Adjacent rows with equal values in the columns `says` are a group. The group's heading replaces these columns. */
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

export type Look = { readonly tone: Tone; readonly pattern?: 'plain' | 'stripes' | 'dots' | 'grid' };

export type Chart = ColumnChart | SpanChart;

type ChartHead = Readonly<{ title: string; part: SectionPart; text: string }>;

/** The names of the steps of an axis, such as days; null if a step shows no name. */
export type Steps = readonly (string | null)[];

export type Series = { readonly name: string; readonly look: Look; readonly note?: string };

/** The columns of a step, one for each series, are stacked unless `isBeside`. `values` are by series, then by step. */
export interface ColumnChart extends ChartHead {
  readonly kind: 'columns';
  readonly steps: Steps;
  readonly series: readonly Series[];
  readonly isBeside?: boolean;
  readonly panels: readonly { readonly unit: string; readonly values: readonly (readonly number[])[] }[];
}

/** Durations in ms: N % of all durations are not longer than `pN`. */
export type Span = Readonly<Record<'p1' | 'p25' | 'p50' | 'p75' | 'p99', number>>;

export interface SpanChart extends ChartHead {
  readonly kind: 'spans';
  readonly rows: readonly (Series & { readonly span: Span })[];
}

export interface Verdict {
  readonly tone: Tone;
  readonly text: string;
  readonly reasons: readonly string[];
  /** `head` is the entry that a person should read first. `section` is the section that begins with this entry. */
  readonly first?: { readonly section?: string; readonly head: GroupHead } | undefined;
  /** True if the period is empty and `--allow-empty` is missing. */
  readonly isEmpty?: true;
}

export type Card = Readonly<{ label: string; value: string; note?: string; tone?: Tone; section?: string }>;

/** A report before it is written in a format. Equal documents make equal files, byte for byte. */
export interface ReportDocument {
  /** Name and version of the JSON, such as `order-sync.ageing/1`; null if JSON has only rows of the first section. */
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

/** Returns `neutral` for a kind or a value without a tone of its own. */
export function toneOf(kind: CellKind, value: Cell): Tone {
  const tones = TONES[kind] ?? {};
  return (Object.hasOwn(tones, String(value)) ? tones[String(value)] : undefined) ?? 'neutral';
}
