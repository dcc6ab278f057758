import { type Readable, pipeline } from 'node:stream';
import { CsvError, parse, type CsvErrorCode, type Info } from 'csv-parse';

/** In bytes. Valid records are shorter. Without a limit, a file without line ends would fill the memory. */
export const MAX_RECORD_LENGTH = 1_000_000;
export const TOO_LONG = `is longer than ${MAX_RECORD_LENGTH} bytes`;
export const STOPPED = 'reading stopped here';
const PROBLEMS: Partial<Record<CsvErrorCode | 'INVALID_OPENING_QUOTE', string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quoted field continues after its closing quote; write a quote within a field twice',
  INVALID_OPENING_QUOTE: 'a quote is inside a field; quote the whole field and write the quote twice',
  CSV_MAX_RECORD_SIZE: TOO_LONG,
};

/** Yields the records of a CSV file, the header first. After a problem, no further record is yielded. */
export async function* csvRecords(input: Readable) {
  // The parser counts CRLF within quotes as two lines, so the lines are counted here.
  let [end, emptyLines] = [0, 0];
  const nextLine = ({ empty_lines }: Pick<Info, 'empty_lines'>) => end + 1 + empty_lines - emptyLines;
  // Keeps the records that the parser has read and not yielded, because the parser drops them if it throws.
  const ahead: { readonly line: number; readonly record: readonly string[] }[] = [];
  const parser = parse({
    bom: true,
    skip_empty_lines: true,
    // The callers check the number of fields, so that their errors name the line.
    relax_column_count: true,
    // If the parser guessed the delimiter from the first line, a later CRLF could leave a CR in the last field.
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: MAX_RECORD_LENGTH,
    on_record: (record: string[], info) => {
      const line = nextLine(info);
      ahead.push({ line, record });
      end = record.reduce((last, field) => last + (field.match(/\r\n|\n|\r/g)?.length ?? 0), line);
      emptyLines = info.empty_lines;
      return record;
    },
  });
  // `pipeline` destroys both streams if one fails. The callback ignores the error, because the loop below throws it.
  pipeline(input, parser, () => {});
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      yield { line: ahead.shift()?.line ?? 0, record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield* ahead;
    const problem = `${PROBLEMS[error.code] ?? error.message}; ${STOPPED}`;
    yield { line: nextLine(error as CsvError & Info), problem };
  }
}
