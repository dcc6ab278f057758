/** What a cell holds: texts, times and decimals are strings, counts and percents are numbers; null is an empty cell. */
export type CellKind = 'text' | 'time' | 'decimal' | 'count' | 'percent';
export type Cell = string | number | null;

/** One row of a section; keys without a column are not shown. */
export type Row = Readonly<Record<string, Cell>>;
export type Rows = Iterable<Row> | AsyncIterable<Row>;

/** A column: `key` names it to programs (CSV, JSON), `label` to people (table, XLSX, HTML). */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly kind: CellKind;
  /** Left out at a terminal, which is narrow. */
  readonly isDetail?: boolean;
}

/** One table of a report. Its rows are read once, as they are written, so that there may be many. */
export interface Section {
  /** In the name of a CSV file and of an XLSX sheet: short, `a-z` and `-`. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: Rows;
}

/** One line of the head of a report: its period, the moment it speaks for, its verdict. */
export interface Fact {
  readonly key: string;
  readonly label: string;
  readonly value: Cell;
}

/** A picture in the HTML form. Its numbers are for drawing only: the sections hold the exact ones. */
export interface Chart {
  readonly title: string;
  readonly kind: 'bar' | 'line' | 'flow';
  /** Names along the axis, or of the nodes of a flow. */
  readonly categories: readonly string[];
  /** One number a category; empty for a flow. */
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  /** Of a flow: from one category to another, how many. */
  readonly links?: readonly { readonly from: string; readonly to: string; readonly value: number }[];
  /** What the numbers are: `orders`, `hours`. */
  readonly unit: string;
}

/** A report before it has a form. The same document gives the same bytes in each form. */
export interface ReportDocument {
  /** Name and version of its shape, such as `order-sync.reconciliation/1`; null where JSON is the rows of its one section alone. */
  readonly schema: string | null;
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  readonly charts: readonly Chart[];
}

/** The facts as a section, for forms that have nothing but tables. */
export function factSection({ facts }: ReportDocument): Section {
  const columns: readonly Column[] = [
    { key: 'fact', label: 'Fact', kind: 'text' },
    { key: 'value', label: 'Value', kind: 'text' },
  ];
  return { name: 'report', title: 'Report', columns, rows: facts.map(({ key, value }) => ({ fact: key, value })) };
}
