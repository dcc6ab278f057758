import {
  saysNothing,
  rowsForPeople,
  type Cell,
  type Column,
  type GroupHead,
  type Row,
  type Section,
} from '../document.ts';
import { shownColumns, type ShownColumn } from './cells.ts';

/** Nobody reads more rows, and they make the page slow. */
const MOST_ROWS = 1_000;
/** Of one group; those that follow say nothing new. */
const MOST_ROWS_OF_GROUP = 50;

/** Rows that stand in one table. */
export interface ReadGroup {
  readonly head: GroupHead | null;
  readonly rows: readonly Row[];
  /** Those that are not shown count too. */
  readonly count: number;
}

/** A section whose rows were read, with the first ones. */
export interface ReadSection {
  readonly section: Section;
  /** Whatever says nothing throughout is left out. */
  readonly columns: readonly ShownColumn[];
  readonly leftOut: readonly Column[];
  readonly groups: readonly ReadGroup[];
  readonly count: number;
}

/** Reads a section to its end, and keeps the rows that a page shows. */
export async function readSection(section: Section): Promise<ReadSection> {
  const candidates = section.columns.filter(
    ({ key, isForPrograms }) => isForPrograms !== true && key !== section.groups?.key,
  );
  const silent = new Set(candidates);
  const groups = new Groups(section);
  for await (const row of rowsForPeople(section)) {
    groups.add(row);
    for (const column of silent) if (!saysNothing(row[column.key] ?? null, column)) silent.delete(column);
  }
  // The first column names the row.
  const shown = candidates.filter((column, index) => index === 0 || groups.count === 0 || !silent.has(column));
  const rows = groups.all.flatMap((group) => group.rows);
  const columns = shownColumns(shown, rows);
  const leftOut = candidates.filter((column) => !shown.includes(column));
  return { section, columns, leftOut, groups: groups.all, count: groups.count };
}

class Groups {
  readonly #section: Section;
  readonly all: (ReadGroup & { rows: Row[]; count: number })[] = [];
  #value: Cell | undefined;
  #shown = 0;
  count = 0;

  constructor(section: Section) {
    this.#section = section;
  }

  add(row: Row): void {
    this.count += 1;
    const group = this.#groupOf(row);
    group.count += 1;
    if (this.#shown >= MOST_ROWS) return;
    if (this.#section.groups !== undefined && group.rows.length >= MOST_ROWS_OF_GROUP) return;
    group.rows.push(row);
    this.#shown += 1;
  }

  #groupOf(row: Row) {
    const { groups } = this.#section;
    const value = groups === undefined ? null : (row[groups.key] ?? null);
    const last = this.all.at(-1);
    // Without end there may be many values: those that no row is shown of share the last group.
    if (last !== undefined && (value === this.#value || this.#shown >= MOST_ROWS)) return last;
    this.#value = value;
    const group = { head: groups?.describe(value) ?? null, rows: [], count: 0 };
    this.all.push(group);
    return group;
  }
}
