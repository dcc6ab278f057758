import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { extname } from 'node:path';
import { Option, type Command } from 'commander';
import { csvParts, csvText } from '../../reports/formats/csv.ts';
import type { ReportDocument } from '../../reports/formats/document.ts';
import { jsonText } from '../../reports/formats/json.ts';
import { tableText } from '../../reports/formats/table.ts';

type Pieces = AsyncIterable<string | Uint8Array>;

/** Writers of a document, by format. Those that draw or zip take time to load, so they are loaded when they are needed. */
const WRITERS = {
  table: tableText,
  csv: csvText,
  json: jsonText,
  async *xlsx(document: ReportDocument) {
    const { xlsxBytes } = await import('../../reports/formats/xlsx.ts');
    yield await xlsxBytes(document);
  },
  async *html(document: ReportDocument) {
    const { htmlText } = await import('../../reports/formats/html.ts');
    yield* htmlText(document);
  },
} as const satisfies Record<string, (document: ReportDocument) => Pieces>;
type Format = keyof typeof WRITERS;
const FORMATS = Object.keys(WRITERS) as readonly Format[];
/** Formats that nobody reads at a terminal. */
const FILES: readonly Format[] = ['xlsx', 'html'];
/** Texts are gathered into writes of about so many characters. */
const CHUNK = 64 * 1024;

/** The options of every report for its format. */
export interface OutputOptions {
  readonly format?: Format;
  readonly json?: boolean;
  readonly out?: string;
}

/** Adds `--format`, `--json` and `--out`. */
export function addReportOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--format <format>', 'format of the report; unless given, the name of --out tells it').choices(
        FORMATS,
      ),
    )
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .option('--out <file>', 'write to a file, made readable for you alone, instead of stdout')
    .hook('preAction', () => {
      const options = command.opts<OutputOptions>();
      const format = formatOf(options);
      if (FILES.includes(format) && options.out === undefined && process.stdout.isTTY) {
        command.error(`error: --format ${format} is for a file: give --out`);
      }
    });
}

/**
 * Writes the document to stdout or to `--out`. CSV of several sections is one file each: `--out january.csv` makes
 * `january-pairs.csv` and its sisters.
 */
export async function writeReport(document: ReportDocument, options: OutputOptions): Promise<void> {
  const format = formatOf(options);
  const { out } = options;
  if (out === undefined || format !== 'csv') return await writePieces(WRITERS[format](document), out);
  const extension = extname(out);
  const stem = out.slice(0, out.length - extension.length);
  for (const { name, text } of csvParts(document)) {
    await toFile(name === null ? out : `${stem}-${name}${extension}`, text);
  }
}

function formatOf({ format, json, out = '' }: OutputOptions): Format {
  if (format !== undefined) return format;
  if (json === true) return 'json';
  return FORMATS.find((known) => extname(out) === `.${known}`) ?? 'table';
}

/** Writes to a file, readable for the user alone and only once it is complete, or to stdout. */
export async function writePieces(pieces: Pieces, out: string | undefined): Promise<void> {
  if (out === undefined) await toStdout(pieces);
  else await toFile(out, pieces);
}

async function toStdout(text: Pieces): Promise<void> {
  for await (const chunk of gathered(text)) {
    // An error is the stream's own event; a reader that has gone ends the report.
    const isGone = await new Promise<boolean>((resolve) => {
      process.stdout.write(chunk, (error) => resolve(error instanceof Error));
    });
    if (isGone) return;
  }
}

/** A file that is there already stays until the report is complete. */
async function toFile(path: string, text: Pieces): Promise<void> {
  // A pipe or a device is written to and not replaced.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return await writeTo(openSync(path, 'w'), text);
  const made = `${path}.tmp`;
  const file = openSync(made, 'wx', 0o600);
  try {
    await writeTo(file, text, fsyncSync);
    renameSync(made, path);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
}

async function writeTo(file: number, text: Pieces, beforeClose?: (file: number) => void): Promise<void> {
  try {
    for await (const chunk of gathered(text)) writeAll(file, chunk);
    beforeClose?.(file);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, chunk: string | Uint8Array): void {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}

async function* gathered(pieces: Pieces): Pieces {
  let text = '';
  for await (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else yield piece;
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}
