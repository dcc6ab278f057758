import { type Readable, pipeline } from 'node:stream';
import { CsvError, parse, type CsvErrorCode, type Info } from 'csv-parse';

/** Longer than any sound record: a file without line ends must not fill the memory. */
export const MAX_RECORD_LENGTH = 1_000_000;
export const TOO_LONG = `is longer than ${MAX_RECORD_LENGTH} bytes; reading stopped here`;
const PROBLEMS: Partial<Record<CsvErrorCode | 'INVALID_OPENING_QUOTE', string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quoted field continues after its closing quote; write a quote within a field twice',
  INVALID_OPENING_QUOTE: 'a quote is inside a field; quote the whole field and write the quote twice',
  CSV_MAX_RECORD_SIZE: TOO_LONG,
};

/** Yields the records of a CSV file, the header among them. A record that cannot be read is the last. */
export async function* csvRecords(input: Readable) {
  // The parser counts a line end within quotes in another way, so the lines are counted here.
  let [end, emptyLines] = [0, 0];
  const nextLine = ({ empty_lines }: Pick<Info, 'empty_lines'>) => end + 1 + empty_lines - emptyLines;
  // When the parser throws, it forgets rows that it has read but not passed on.
  const ahead: { readonly line: number; readonly record: readonly string[] }[] = [];
  const parser = parse({
    bom: true,
    skip_empty_lines: true,
    // The reader of the records counts their fields, so that each line is named.
    relax_column_count: true,
    // Given, because a delimiter guessed from the first line could make a carriage return part of the last field.
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
  // Ends both streams when one of them ends; an error of the input comes out of the parser.
  pipeline(input, parser, () => {});
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      yield { line: ahead.shift()?.line ?? 0, record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield* ahead;
    yield { line: nextLine(error as CsvError & Info), problem: PROBLEMS[error.code] ?? error.message };
  }
}
