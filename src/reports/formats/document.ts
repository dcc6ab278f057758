/**
 * The kind of the cells of a column: texts, times, decimals and digits are strings, counts and percents are numbers. Digits
 * are decimals whose very digits count, zeros at the end too.
 */
export type CellKind = 'text' | 'time' | 'decimal' | 'digits' | 'count' | 'percent';
/** The value of a cell; null is an empty cell. */
export type Cell = string | number | null;

/** A row of a section; keys without a column are not shown. */
export type Row = Readonly<Record<string, Cell>>;
/** The rows of a section. */
export type Rows = Iterable<Row> | AsyncIterable<Row>;

/** A column: `key` names it to programs (CSV, JSON), `label` to people (table, XLSX, HTML). */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly kind: CellKind;
  /** Left out in the form for terminals, which are narrow. */
  readonly isDetail?: boolean;
}

/** A table of a report. Its rows are read once, while they are written, so there may be many. */
export interface Section {
  /** The name of its CSV file and XLSX sheet: short, `a-z` and `-`. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: Rows;
}

/** A line of the head of a report, such as its period or its verdict. */
export interface Fact {
  readonly key: string;
  readonly label: string;
  readonly value: Cell;
}

/** A chart in the HTML form. Its numbers are only drawn: the sections have the exact ones. */
export interface Chart {
  readonly title: string;
  readonly kind: 'bar' | 'flow';
  /** The names along the axis, or of the nodes of a flow. */
  readonly categories: readonly string[];
  /** One number for each category; empty for a flow. */
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  /** The links of a flow between two categories. */
  readonly links?: readonly { readonly from: string; readonly to: string; readonly value: number }[];
  /** The unit of the numbers: `orders`, `hours`. */
  readonly unit: string;
}

/** A report before it is written in a form. The same document always gives the same bytes. */
export interface ReportDocument {
  /** Name and version of the JSON form, such as `order-sync.reconciliation/1`; null where JSON is only the rows of the one section. */
  readonly schema: string | null;
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  readonly charts: readonly Chart[];
}

/** Makes a section of the facts, for forms that have only tables. */
export function factSection({ facts }: ReportDocument): Section {
  const columns: readonly Column[] = [
    { key: 'fact', label: 'Fact', kind: 'text' },
    { key: 'value', label: 'Value', kind: 'text' },
  ];
  return { name: 'report', title: 'Report', columns, rows: facts.map(({ key, value }) => ({ fact: key, value })) };
}
