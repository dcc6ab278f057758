import type { Blob } from 'node:buffer';
import type { Stream } from 'node:stream';
import writeExcelFile, { type CellObject, type Feature, type Row as SheetRow } from 'write-excel-file/node';
import { getCellAddress, sanitizeAttributeValue, sanitizeTextContent } from 'write-excel-file/utility';
import type { Tone } from '../../../cli/shared/terminal.ts';
import { printable } from '../../../base/words.ts';

/** Texts fit the widths of columns, because every machine has this font or a font of the same widths. */
const FONT = { fontFamily: 'Arial', fontSize: 10 } as const;
export const LINE_HEIGHT_PT = 13;
export const COLORS: Readonly<Record<Tone, string | undefined>> = {
  good: '#1a7f37',
  info: '#0550ae',
  warning: '#8a5a00',
  error: '#b3261e',
  neutral: undefined,
};
const MOST_CHARACTERS = 32_000;
/** In characters. Older versions of Excel show a longer cell with the text format as `#####`. */
const MOST_OF_TEXT_FORMAT = 255;

export type Look = Omit<CellObject, 'value' | 'type' | 'format'>;

/** Returns a cell. With the text format, Excel makes no formula of the text when a person edits the cell. */
export function textCell(value: string, look: Look = {}): CellObject {
  const shown = shownText(value);
  return { value: shown, type: String, ...(shown.length <= MOST_OF_TEXT_FORMAT && { format: '@' }), ...look };
}

export function wrappedCell(value: string, width: number, mostLines: number, look: Look = {}): CellObject {
  const scale = (look.fontSize ?? FONT.fontSize) / FONT.fontSize;
  const lines = Math.min(mostLines, Math.ceil((scale * widthOf(printable(value))) / width));
  const height = Math.ceil(scale * lines * LINE_HEIGHT_PT) + 3;
  return textCell(value, { wrap: true, alignVertical: 'top', ...(height > LINE_HEIGHT_PT + 3 && { height }), ...look });
}

export function widthOf(value: string): number {
  const count = (pattern: RegExp) => value.match(pattern)?.length ?? 0;
  return value.length + count(/[A-Z@%]/g) * 0.3 + count(/[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]/g);
}

/** Escapes characters that XML cannot contain, and texts that a spreadsheet would read as escapes. Cuts long texts. */
function shownText(value: string): string {
  const whole = printable(value)
    .toWellFormed()
    .replaceAll('\ufffd', String.raw`\ufffd`)
    .replace(/_x(?=[0-9a-f]{4}_)/gi, '_x005F_x');
  if (whole.length > MOST_CHARACTERS) return `${whole.slice(0, MOST_CHARACTERS).toWellFormed()}…`;
  // The library uses texts as keys of an object, so a key that every object has, such as `toString`, is escaped.
  return whole in {} ? `_x${whole.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_${whole.slice(1)}` : whole;
}

const END_OF_DIRECTORY = 0x06054b50;
const END_LENGTH = 22;
const DIRECTORY_ENTRY_LENGTH = 46;
/** 1980-01-01 00:00, the earliest time of a zip archive: time and day, two bytes each. */
const FIRST_MOMENT = 0x00210000;

export interface Sheet {
  readonly name: string;
  readonly data: SheetRow[];
  readonly widths: readonly number[];
  readonly table?: Readonly<Record<'columns' | 'rows' | 'keyColumns', number>>;
  /** Links from cells of the first column; `row` counts from 0. */
  readonly links?: readonly { readonly row: number; readonly sheet: string }[];
  readonly isHidden?: boolean;
}

/** In characters. A wider sheet is printed on several pages side by side, so that letters have at least 6 points. */
const WIDEST_PAGE = 230;

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006';
const FOOTER = '<headerFooter><oddFooter>&amp;L&amp;A&amp;R&amp;P / &amp;N</oddFooter></headerFooter>';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

/** Returns a workbook whose sheets are scaled to pages of A4 for printing. Equal sheets make equal bytes. */
export async function workbookBytes(title: string, sheets: readonly Sheet[]): Promise<Buffer> {
  const book = sheets.map(({ name, data, widths, table }) => ({
    sheet: name,
    data,
    columns: widths.map((width) => ({ width })),
    orientation: 'landscape' as const,
    ...(table === undefined ? { showGridLines: false } : { stickyRowsCount: 1, stickyColumnsCount: table.keyColumns }),
  }));
  return fixZipTimes(await writeExcelFile(book, { ...FONT, features: [partsOf(title, sheets)] }).toBuffer());
}

function partsOf(title: string, sheets: readonly Sheet[]): Feature<Buffer | Blob | Stream> {
  const name = sanitizeTextContent(shownText(title));
  const core = `${HEAD}<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${name}</dc:title><dc:creator>order-sync</dc:creator></cp:coreProperties>`;
  const app = `${HEAD}<Properties xmlns="${DOCUMENT}/extended-properties"><Application>order-sync</Application></Properties>`;
  return {
    files: {
      transform: {
        'xl/worksheets/sheet{id}.xml': {
          transform: (content, _options, { sheetIndex }) => pageXml(content, sheets[sheetIndex]!),
        },
        'xl/workbook.xml': { transform: (content) => bookXml(content, sheets) },
        '[Content_Types].xml': {
          insert: () =>
            typeXml('core', 'vnd.openxmlformats-package.core-properties') +
            typeXml('app', 'vnd.openxmlformats-officedocument.extended-properties'),
        },
        '_rels/.rels': {
          insert: () =>
            relationXml('core', `${PACKAGE}/relationships/metadata/core-properties`) +
            relationXml('app', `${DOCUMENT}/relationships/extended-properties`),
        },
      },
      write: { files: () => ({ 'docProps/core.xml': core, 'docProps/app.xml': app }) },
    },
  };
}

function typeXml(part: string, type: string): string {
  return `<Override PartName="/docProps/${part}.xml" ContentType="application/${type}+xml"/>`;
}

function relationXml(part: string, type: string): string {
  return `<Relationship Id="rId-${part}" Type="${type}" Target="docProps/${part}.xml"/>`;
}

function pageXml(content: string, { table, links = [], widths }: Sheet): string {
  const across = Math.ceil(widths.reduce((sum, width) => sum + width, 0) / WIDEST_PAGE);
  const filter = table && `<autoFilter ref="A1:${getCellAddress(table.rows - 1, table.columns - 1)}"/>`;
  const linked = links.map(({ row, sheet }) => {
    return `<hyperlink ref="${getCellAddress(row, 0)}" location="${sanitizeAttributeValue(`${quoted(sheet)}!A1`)}"/>`;
  });
  return content
    .replace(/<worksheet[^>]*>/, (tag) => `${tag}<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>`)
    .replace('</sheetData>', (tag) => tag + (filter ?? ''))
    .replace('<pageMargins', (tag) => (links.length === 0 ? '' : `<hyperlinks>${linked.join('')}</hyperlinks>`) + tag)
    .replace(/<pageSetup ([^>]*)\/>/, `<pageSetup $1 fitToWidth="${across}" fitToHeight="0"/>${FOOTER}`);
}

function bookXml(content: string, sheets: readonly Sheet[]): string {
  const titles = sheets.map(({ name, table }, index) => {
    if (table === undefined) return '';
    const columns = table.keyColumns === 0 ? [] : [`$A:$${getCellAddress(0, table.keyColumns - 1).slice(0, -1)}`];
    const ranges = [...columns, '$1:$1'].map((range) => `${quoted(name)}!${range}`);
    return `<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${sanitizeTextContent(ranges.join(','))}</definedName>`;
  });
  return content
    .replace('<definedNames/>', () => `<definedNames>${titles.join('')}</definedNames>`)
    .replaceAll(/<sheet [^>]*sheetId="(\d+)"/g, (tag, id) =>
      sheets[Number(id) - 1]?.isHidden === true ? `${tag} state="hidden"` : tag,
    );
}

function quoted(sheet: string): string {
  return `'${sheet.replaceAll("'", "''")}'`;
}

/** Sets all times to one moment, so that equal content makes equal bytes. Throws if a comment ends the archive. */
function fixZipTimes(zip: Buffer): Buffer {
  const end = zip.length - END_LENGTH;
  if (zip.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error('the zip archive does not end as expected');
  const entries = zip.readUInt16LE(end + 10);
  let entry = zip.readUInt32LE(end + 16);
  for (let index = 0; index < entries; index += 1) {
    const file = zip.readUInt32LE(entry + 42);
    zip.writeUInt32LE(FIRST_MOMENT, entry + 12);
    zip.writeUInt32LE(FIRST_MOMENT, file + 10);
    // The name, the extra field and the comment of a file follow the fixed part of its entry.
    const behind = zip.readUInt16LE(entry + 28) + zip.readUInt16LE(entry + 30) + zip.readUInt16LE(entry + 32);
    entry += DIRECTORY_ENTRY_LENGTH + behind;
  }
  return zip;
}
