import { statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Option, type Command } from 'commander';
import { pasteable } from '../../base/invocation.ts';
import { quote } from '../../base/text.ts';
import { csvText, jsonText, ndjsonText } from '../documents/data.ts';
import { factSection, firstText } from '../documents/sections.ts';
import type { ReportDocument, Rows, Section } from '../documents/document.ts';
import { tableText } from '../documents/table.ts';
import { printable, sumOf, withCommas } from '../../base/words.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { screenOf } from '../../cli/shared/help.ts';
import { show } from './print.ts';
import { writeFolder, writePieces, type Pieces } from './files.ts';
import { counted } from '../documents/words.ts';

/** Writers of a document, by format. XLSX and HTML are loaded when used, because loading takes time. */
const WRITERS = {
  table: tableText,
  csv: (document: ReportDocument) => csvText(firstTable(document)),
  json: jsonText,
  ndjson: (document: ReportDocument) => ndjsonText(firstTable(document)),
  async *xlsx(document: ReportDocument) {
    const { xlsxBytes } = await import('../documents/xlsx.ts');
    yield await xlsxBytes(document);
  },
  async *html(document: ReportDocument) {
    const { htmlText } = await import('../documents/html.ts');
    yield* htmlText(document);
  },
} as const satisfies Record<string, (document: ReportDocument) => Pieces>;
type Format = keyof typeof WRITERS;
const FORMATS = ['table', 'csv', 'json', 'xlsx', 'html'] as const satisfies readonly Format[];

export interface OutputOptions {
  readonly format?: Format;
  readonly json?: boolean;
  readonly section?: string;
  readonly out?: string | undefined;
  readonly allowEmpty?: true;
}

export function addReportOptions(command: Command, sections: readonly string[] = []): Command {
  const names = ['facts', ...sections];
  if (sections.length > 0) {
    command.addOption(new Option('--section <name>', 'only this table of the report, in any format').choices(names));
  }
  const format = new Option('--format <format>', 'format of the report; default: by the ending of --out, else table');
  return (
    command
      .addOption(format.choices(FORMATS))
      .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
      .option('--out <path>', 'write to a file, made readable for you alone, or as CSV to a folder, instead of stdout')
      // Without the option an empty period exits with 1, because the period may be mistyped.
      .option('--allow-empty', 'exit 0, not 1, if the period is empty')
      .hook('preAction', () => {
        // An unusable format is refused before the report is read, because reading may take long.
        const options = command.opts<OutputOptions>();
        const isOneTable = options.section !== undefined || sections.length < 2 || isFolder(options.out);
        if (formatOf(options) !== 'csv' || isOneTable) return;
        const ways = `name a table with --section (${names.join(', ')}), or give a folder, such as --out january/`;
        throw new CommandError(EXIT.usage, `a CSV file has one table: ${ways}`);
      })
  );
}

/** Writes a report, and names a written file on stderr. Then throws `CommandError` if the verdict is `isEmpty`. */
export async function writeReport(document: ReportDocument, options: OutputOptions): Promise<void> {
  const { section, out } = options;
  const whole = section === undefined ? document : sectionOf(document, section);
  let rows = 0;
  const counting = async function* (all: Rows) {
    for await (const row of all) {
      rows += 1;
      yield row;
    }
  };
  const sections = whole.sections.map((one) => {
    const { rowsForPeople } = one;
    return { ...one, rows: counting(one.rows), ...(rowsForPeople && { rowsForPeople: counting(rowsForPeople) }) };
  });
  const size = await write(out === undefined ? whole : { ...whole, sections }, options);
  const { verdict } = document;
  if (out !== undefined) {
    const written = `wrote ${out}: ${withCommas(size)} bytes, ${counted(rows, 'table row')}`;
    const lines = [written, verdict?.text, firstText(document)].filter((line) => typeof line === 'string');
    process.stderr.write(lines.map((line) => `${printable(pasteable(line))}\n`).join(''));
  }
  if (verdict?.isEmpty !== true) return;
  const reason = verdict.reasons.join(' ');
  throw new CommandError(EXIT.look, reason.slice(0, 1).toLowerCase() + reason.slice(1));
}

async function write(document: ReportDocument, options: OutputOptions): Promise<number> {
  const { out } = options;
  let paths = out === undefined ? [] : [out];
  if (out !== undefined && isFolder(out)) {
    const files = tablesOf(document).map((table) => ({ name: `${table.name}.csv`, pieces: csvText(table) }));
    await writeFolder(out, files);
    paths = files.map(({ name }) => join(out, name));
  } else {
    const format = formatOf(options);
    if (format === 'table' && out === undefined)
      await show((await Array.fromAsync(tableText(document, screenOf()))).join(''));
    else await writePieces(WRITERS[format](document), out);
  }
  return sumOf(paths, (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

function formatOf({ format, json, out }: OutputOptions): Format {
  const given = format ?? (json === true ? 'json' : undefined);
  return chooseFormat(FORMATS, given, out) ?? (out === undefined ? 'table' : 'csv');
}

/** Returns undefined for stdout or a folder without a format. Throws `CommandError` if format and path do not fit. */
export function chooseFormat<Name extends string>(formats: readonly Name[], given?: Name, out?: string) {
  const problem = problemOf(formats, given, out);
  if (problem !== undefined) throw new CommandError(EXIT.usage, problem);
  return given ?? formats.find((format) => format === endingOf(out));
}

function problemOf(formats: readonly string[], given: string | undefined, out: string | undefined): string | undefined {
  if (out === undefined) {
    // A person cannot read XLSX and HTML at a terminal.
    const isForFile = (given === 'xlsx' || given === 'html') && process.stdout.isTTY;
    return isForFile ? `--format ${given} is for a file: give --out` : undefined;
  }
  const name = quote(out);
  if (isFolder(out)) {
    if (given === undefined || given === 'csv') return undefined;
    return `${name} is a folder, which is for CSV: name a file for --format ${given}`;
  }
  const ending = endingOf(out);
  if (given === undefined && !formats.includes(ending)) {
    const endings = formats.map((format) => `.${format}`).join(', ');
    return `the ending of ${name} names no format: end the name in ${endings}, or give --format`;
  }
  if (given === undefined || given === ending || !Object.hasOwn(WRITERS, ending)) return undefined;
  return `the ending of ${name} contradicts --format ${given}: change one of them`;
}

function endingOf(out = ''): string {
  return extname(out).slice(1).toLowerCase();
}

export function isFolder(path = ''): boolean {
  return /[/\\]$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function tablesOf(document: ReportDocument): readonly Section[] {
  return document.facts.length === 0 ? document.sections : [factSection(document), ...document.sections];
}

function firstTable(document: ReportDocument): Section {
  return document.sections[0] ?? factSection(document);
}

function sectionOf(document: ReportDocument, name: string): ReportDocument {
  const tables = tablesOf(document);
  const section = tables.find((table) => table.name === name);
  if (section === undefined) {
    const names = tables.map((table) => table.name).join(', ');
    throw new CommandError(EXIT.usage, `this report has no section ${quote(name)}; it has ${names}`);
  }
  const sections = [{ ...section, isForPrograms: false }];
  return { schema: null, title: section.title, facts: [], sections, charts: [] };
}
