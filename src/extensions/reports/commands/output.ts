import { statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Option, type Command } from 'commander';
import { quote } from '../../../base/text.ts';
import { csvText, jsonText, ndjsonText } from '../../documents/data.ts';
import { factSection } from '../../documents/sections.ts';
import type { ReportDocument, Section } from '../../documents/document.ts';
import { tableText } from '../../documents/table.ts';
import { printable } from '../../../base/words.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { writeFolder, writePieces, type Pieces } from '../../../cli/shared/files.ts';

/** Writers of a document, by format. Those that draw or zip take time to load, so they are loaded when they are needed. */
const WRITERS = {
  table: tableText,
  csv: (document: ReportDocument) => csvText(onlyTable(document)),
  json: jsonText,
  ndjson: (document: ReportDocument) => ndjsonText(onlyTable(document)),
  async *xlsx(document: ReportDocument) {
    const { xlsxBytes } = await import('../../documents/xlsx.ts');
    yield await xlsxBytes(document);
  },
  async *html(document: ReportDocument) {
    const { htmlText } = await import('../../documents/html.ts');
    yield* htmlText(document);
  },
} as const satisfies Record<string, (document: ReportDocument) => Pieces>;
type Format = keyof typeof WRITERS;
const ENDINGS: readonly string[] = Object.keys(WRITERS);
const FORMATS = ['table', 'csv', 'json', 'xlsx', 'html'] as const satisfies readonly Format[];
/** Formats that no person reads at a terminal. */
const FILES: readonly string[] = ['xlsx', 'html'] satisfies readonly Format[];

export interface OutputOptions {
  readonly format?: Format;
  readonly json?: boolean;
  readonly section?: string;
  readonly out?: string | undefined;
  readonly allowEmpty?: true;
}

export function addReportOptions(command: Command, sections: readonly string[] = []): Command {
  if (sections.length > 0) {
    const names = ['facts', ...sections];
    command.addOption(new Option('--section <name>', 'only this table of the report, in any format').choices(names));
  }
  return (
    command
      .addOption(
        new Option('--format <format>', 'format of the report; unless given, the name of --out tells it').choices(
          FORMATS,
        ),
      )
      .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
      .option('--out <path>', 'write to a file, made readable for you alone, or as CSV to a folder, instead of stdout')
      // A mistyped period must not look like a quiet one.
      .option('--allow-empty', 'exit 0, not 1, where the period is empty')
      .hook('preAction', () => {
        // Many a report takes long: a form that it cannot be written in is found before.
        const options = command.opts<OutputOptions>();
        const format = formatOf(options);
        const hasOneTable = options.section !== undefined || sections.length < 2 || isFolder(options.out);
        if (format === 'csv' && !hasOneTable) throw severalTables(['facts', ...sections]);
      })
  );
}

/** On a terminal stderr says where the report is, and what it says. Throws `CommandError`, once all is written, if the period is empty and may not be. */
export async function writeReport(document: ReportDocument, options: OutputOptions, isEmpty = false): Promise<void> {
  await write(document, options);
  if (!isEmpty || options.allowEmpty === true) return;
  const reason = document.verdict?.reasons.join(' ') ?? '';
  throw new CommandError(EXIT.look, reason.slice(0, 1).toLowerCase() + reason.slice(1));
}

async function write(document: ReportDocument, options: OutputOptions): Promise<void> {
  const { section, out } = options;
  const shown = section === undefined ? document : sectionOf(document, section);
  if (out !== undefined && isFolder(out)) {
    const files = tablesOf(shown).map((table) => ({ name: `${table.name}.csv`, pieces: csvText(table) }));
    await writeFolder(out, files);
    const paths = files.map(({ name }) => join(out, name));
    return sayWritten(paths, document);
  }
  const format = formatOf(options);
  const isSeen = format === 'table' && out === undefined;
  await writePieces(isSeen ? tableText(shown, screenOf()) : WRITERS[format](shown), out);
  if (out !== undefined) sayWritten([out], document);
}

function formatOf({ format, json, out }: OutputOptions): Format {
  const given = format ?? (json === true ? 'json' : undefined);
  return chooseFormat(FORMATS, given, out) ?? (out === undefined ? 'table' : 'csv');
}

/** Undefined if no format is given and there is no file to tell one. Throws `CommandError` if format and name contradict each other, or the name tells none. */
export function chooseFormat<Name extends string>(
  formats: readonly Name[],
  given: Name | undefined,
  out: string | undefined,
): Name | undefined {
  if (out === undefined) {
    if (given === undefined || !FILES.includes(given) || !process.stdout.isTTY) return given;
    throw new CommandError(EXIT.usage, `--format ${given} is for a file: give --out`);
  }
  if (isFolder(out)) {
    if (given === undefined || given === 'csv') return given;
    throw new CommandError(
      EXIT.usage,
      `${quote(out)} is a folder, which is for CSV: name a file for --format ${given}`,
    );
  }
  const ending = extname(out).slice(1).toLowerCase();
  const named = formats.find((format) => format === ending);
  if (given === undefined && named === undefined) {
    const endings = formats.map((format) => `.${format}`).join(', ');
    throw new CommandError(
      EXIT.usage,
      `the name ${quote(out)} tells no format: end it in ${endings}, or give --format`,
    );
  }
  if (given !== undefined && ending !== given && ENDINGS.includes(ending)) {
    throw new CommandError(EXIT.usage, `${quote(out)} ends as another format does than --format ${given}: change one`);
  }
  return given ?? named;
}

/** Tells whether the path is a folder, or its name says that it should be one. */
export function isFolder(path: string | undefined): boolean {
  return (
    path !== undefined && (/[/\\]$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
  );
}

function tablesOf(document: ReportDocument): readonly Section[] {
  const sections = document.sections.filter(({ isForPeople }) => isForPeople !== true);
  return document.facts.length === 0 ? sections : [factSection(document), ...sections];
}

function onlyTable(document: ReportDocument): Section {
  const [only, ...others] = document.sections;
  if (only !== undefined && others.length === 0) return only;
  throw severalTables(tablesOf(document).map(({ name }) => name));
}

function severalTables(names: readonly string[]): CommandError {
  const ways = `name one with --section (${names.join(', ')}), or give a folder, such as --out january/`;
  return new CommandError(EXIT.usage, `a CSV file has one table: ${ways}`);
}

function sectionOf(document: ReportDocument, name: string): ReportDocument {
  const tables = tablesOf(document);
  const section = tables.find((table) => table.name === name);
  if (section !== undefined) {
    const { title } = section;
    return { schema: null, title, facts: [], sections: [{ ...section, isForPrograms: false }], charts: [] };
  }
  const names = tables.map((table) => table.name).join(', ');
  throw new CommandError(EXIT.usage, `this report has no section ${quote(name)}; it has ${names}`);
}

function sayWritten(paths: readonly string[], { verdict, worst = [] }: ReportDocument): void {
  if (!process.stderr.isTTY) return;
  const lines = [...paths, ...(verdict === undefined ? [] : [verdict.text]), ...worst.map((line) => `  ${line}`)];
  process.stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
}
