import { shortTime } from './words.ts';
import { cut, styled, toned, widthOf, wrapped, type Screen } from '../../cli/shared/terminal.ts';
import { mostOf, printable, sumOf } from '../../base/words.ts';
import { isNumeric, toneOf, type Column, type Row } from './document.ts';

const GAP = '  ';
/** In cells of a terminal. A column is left out if texts would otherwise be cut to less than this width. */
const LEAST_TEXT = 16;
const LEAST_VALUE = 40;
const LONGEST_LABEL = 40;
/** In cells. In a file, a longer value is not cut but exceeds its column, so that other rows stay short. */
const WIDEST_COLUMN = 100;

type LaidColumn = ReturnType<typeof measured>;

export function textColumns(...keys: readonly string[]): readonly Column[] {
  return keys.map((key) => ({ key, label: key, kind: 'text' }));
}

export function tableOf(columns: readonly Column[], rows: readonly Row[], screen: Screen): string {
  const { text, leftOut } = layOut(columns, rows, screen);
  return text + leftOutLine(leftOut, screen);
}

export function leftOutLine(leftOut: readonly Column[], screen: Screen): string {
  if (leftOut.length === 0) return '';
  return noteText(`not shown here: ${labelsOf(leftOut)}. A wider terminal or --json shows them.`, screen);
}

export function noteText(text: string, screen: Screen): string {
  return `${styled('dim', wrapped(text, screen.width), screen)}\n`;
}

export function labelsOf(columns: readonly Column[]): string {
  // No comma separates labels, because a label may contain a comma.
  return columns.map(({ label }) => printable(label)).join(' · ');
}

/**
 * Lays rows out below a heading and a rule. To fit the screen, shortens times, cuts texts and leaves out columns. Leaves
 * out empty columns first, then columns of the greatest rank. Keeps the first column and ids of rank 0, and cuts no id.
 */
export function layOut(all: readonly Column[], rows: readonly Row[], screen: Screen) {
  const shown = all.filter(({ isForPrograms }) => isForPrograms !== true);
  const whole = shown.map((column) => measured(column, rows));
  const isNarrow = lineWidth(whole, 'natural') > screen.width;
  const columns = isNarrow ? shown.map((column) => measured(column, rows, screen.now)) : whole;
  const kept = keptWithin(columns, screen.width);
  shareOut(kept, screen.width);
  const line = (textOf: (column: LaidColumn) => string) => {
    const cells = kept.map((one) => {
      const text = textOf(one);
      const space = ' '.repeat(Math.max(0, one.width - widthOf(text)));
      return isNumeric(one.column) ? space + text : text + space;
    });
    return `${cells.join(GAP).trimEnd()}\n`;
  };
  const heads = new Map(kept.map((one) => [one, wrapped(one.label, one.width).split('\n')]));
  const height = mostOf([...heads.values()], ({ length }) => length);
  const head = Array.from({ length: height }, (_, index) =>
    line((one) => styled('bold', heads.get(one)?.at(index - height) ?? '', screen)),
  );
  const rule = styled('dim', kept.map(({ width }) => '─'.repeat(width)).join(GAP), screen);
  const lines = rows.map((row, index) =>
    line(({ column, cells, width }) => {
      const cell = cells[index] ?? '';
      const text = screen.width === Infinity || column.isId === true ? cell : cut(cell, width);
      return toned(toneOf(column.kind, row[column.key] ?? null), text, screen);
    }),
  );
  const leftOut = columns.filter((one) => !kept.includes(one)).map(({ column }) => column);
  return { text: [...head, `${rule}\n`, ...lines].join(''), leftOut };
}

function measured(column: Column, rows: readonly Row[], now?: Date) {
  const { key, kind, isId } = column;
  const texts = rows.map((row) => printable(row[key]));
  const isShortTime = now !== undefined && kind === 'time';
  const shown = isShortTime ? texts.map((text) => shortTime(text, now)) : texts;
  const cells = isAmount(column) ? alignedAtPoint(texts) : shown;
  const label = cut(`${printable(column.label)}${isShortTime ? ' UTC' : ''}`, LONGEST_LABEL);
  const widest = mostOf(cells, widthOf);
  const word = Math.max(1, mostOf(label.split(' '), widthOf));
  const most = isId === true ? WIDEST_COLUMN : kind === 'text' ? LEAST_TEXT : LEAST_VALUE;
  const least = Math.max(Math.min(widest, most), Math.min(word, LEAST_TEXT));
  // The heading of a column of short times may take a second line, so that other columns can be wider.
  const natural = Math.min(Math.max(widest, isShortTime ? word : widthOf(label)), WIDEST_COLUMN);
  return { column, label, cells, natural, least, width: least };
}

function isAmount({ kind }: Column): boolean {
  return kind === 'decimal' || kind === 'digits';
}

function alignedAtPoint(texts: readonly string[]): readonly string[] {
  const fractionOf = (text: string) => /^-?\d+(\.\d+)?$/.exec(text)?.[1]?.length ?? 0;
  const longest = mostOf(texts, fractionOf);
  if (longest > LEAST_VALUE) return texts;
  return texts.map((text) => text + ' '.repeat(/^-?\d/.test(text) ? longest - fractionOf(text) : 0));
}

function keptWithin(columns: readonly LaidColumn[], width: number): readonly LaidColumn[] {
  let kept = columns;
  while (lineWidth(kept, 'least') > width) {
    const others = kept.slice(1).filter(({ column }) => column.isId !== true || (column.rank ?? 0) > 0);
    const [first] = others.toReversed().toSorted((one, other) => dispensable(other) - dispensable(one));
    if (first === undefined) break;
    kept = kept.filter((column) => column !== first);
  }
  return kept;
}

function dispensable({ column, cells }: LaidColumn): number {
  if (cells.every((cell) => /^(0(\.0+)?)? *$/.test(cell))) return Number.MAX_SAFE_INTEGER;
  return column.rank ?? (isAmount(column) ? -1 : 0);
}

function lineWidth(columns: readonly LaidColumn[], of: 'natural' | 'least'): number {
  return sumOf(columns, (column) => column[of]) + GAP.length * (columns.length - 1);
}

function shareOut(columns: readonly LaidColumn[], screenWidth: number): void {
  // A single column is at most as wide as the screen. Several columns may be wider, because ids are not cut.
  let free = Math.max(columns.length === 1 ? -Infinity : 0, screenWidth - lineWidth(columns, 'least'));
  const lacking = columns.toSorted((a, b) => a.natural - a.least - (b.natural - b.least));
  for (const [index, column] of lacking.entries()) {
    const share = Math.floor(free / (lacking.length - index));
    const more = Math.min(column.natural - column.least, share);
    column.width = Math.max(1, column.least + more);
    free -= more;
  }
}

export const PLAIN: Screen = { width: Infinity, hasColour: false };
