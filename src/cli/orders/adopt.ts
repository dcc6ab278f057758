import type { Command } from 'commander';
import { parse } from 'lossless-json';
import { checkFields } from '../../flows/orders/add.ts';
import { readLines, type ImportFormat } from '../../flows/orders/import.ts';
import type { ImportLine } from '../../flows/orders/import-lines.ts';
import { forEachConcurrently } from '../../flows/pass/run.ts';
import type { InputOf } from '../../http/control/operations/index.ts';
import { printable } from '../../reports/formats/text.ts';
import { COLUMN_OF, columnsOf } from '../../store/order-columns.ts';
import { commandError, withExchange, type Ask } from '../shared/exchange.ts';
import { EXIT } from '../shared/exit.ts';
import { addFileOptions, openFile } from '../shared/files.ts';
import { print } from '../shared/print.ts';

/** Orders that are looked up at a time. */
const CONCURRENCY = 8;

const HELP = `
Columns: as for orders import.
Each order is looked up first. One that the exchange has is put into the table
as it is there, and is never created; one that it does not find is named and not
put in; one that stands in the table is left as it is. So the command can be run
again.

Example:
  order-sync orders adopt before-we-used-order-sync.csv`;

interface Options {
  readonly format?: ImportFormat;
  readonly json?: boolean;
}

/** The outcome for one order of the file. */
interface Adopted {
  readonly line: number;
  readonly externalOrderId: string | null;
  readonly result: 'adopted' | 'present' | 'absent' | 'unanswered' | 'invalid';
  readonly state: string | null;
  readonly why: string | null;
}

export function define(command: Command): void {
  addFileOptions(command)
    .option('--json', 'print a line of JSON for each order')
    .addHelpText('after', HELP)
    .action(async (file: string, { format: given, json }: Options) => {
      const { format, input } = await openFile(command, file, given);
      const lines = new Lines(readLines(input, format));
      const counts = { adopted: 0, present: 0, absent: 0, unanswered: 0, invalid: 0 };
      await withExchange(command, async (ask) => {
        await forEachConcurrently(lines, CONCURRENCY, async (line) => {
          const adopted =
            'problem' in line ? invalid(line.line, problemOf(line)) : await lines.orAgain(line, adopt(ask, line));
          counts[adopted.result] += 1;
          printAdopted(adopted, json);
        });
      });
      const text = Object.entries(counts).map(([result, orders]) => `${orders} ${result}`);
      process.stderr.write(`${text.join(', ')}\n`);
      process.exitCode = exitCodeOf(counts);
    });
}

/** The lines of a file. A line that an owner did not take, because it ended meanwhile, comes again for the next. */
class Lines implements AsyncIterable<ImportLine> {
  readonly #lines: AsyncGenerator<ImportLine>;
  readonly #again: ImportLine[] = [];

  constructor(lines: AsyncGenerator<ImportLine>) {
    this.#lines = lines;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ImportLine> {
    for (;;) {
      const again = this.#again.shift();
      const next = again === undefined ? await this.#lines.next() : { value: again, done: false };
      if (next.done === true) return;
      yield next.value;
    }
  }

  async orAgain<Result>(line: ImportLine, work: Promise<Result>): Promise<Result> {
    return await work.catch((error: unknown) => {
      this.#again.push(line);
      throw error;
    });
  }
}

async function adopt(ask: Ask, { line, fields }: { line: number; fields: Readonly<Record<string, unknown>> }) {
  const checked = checkFields(fields);
  if (!checked.ok) {
    return invalid(line, checked.problems.map(({ field, reason }) => `${COLUMN_OF[field]} ${reason}`).join('; '));
  }
  const { externalOrderId } = checked.order;
  const result = await ask('adoptOrder', columnsOf(checked.order) as InputOf<'adoptOrder'>);
  if (result.kind !== 'ok') {
    const why = commandError(result).message;
    return { line, externalOrderId, result: 'unanswered', state: null, why } as const;
  }
  const answer = parse(result.body) as Pick<Adopted, 'result' | 'state'>;
  return { line, externalOrderId, result: answer.result, state: answer.state, why: null };
}

function problemOf({ column, problem }: Extract<ImportLine, { problem: string }>): string {
  return column === undefined ? problem : `${column} ${problem}`;
}

function invalid(line: number, why: string): Adopted {
  return { line, externalOrderId: null, result: 'invalid', state: null, why };
}

function printAdopted({ line, externalOrderId, result, state, why }: Adopted, json: boolean | undefined): void {
  const id = JSON.stringify(externalOrderId);
  const text = {
    adopted: `${id} is adopted: ${state}`,
    present: `${id} stands in the table already: ${state}`,
    absent: `${id} is not at the exchange and was not put in`,
    unanswered: `${id} was not put in: ${printable(why ?? '')}`,
    invalid: `line ${line}: ${printable(why ?? '')}`,
  }[result];
  print(json, { line, external_order_id: externalOrderId, result, state, why }, () => `${text}\n`);
}

function exitCodeOf({ invalid: wrong, unanswered, absent }: Readonly<Record<Adopted['result'], number>>): number {
  if (wrong > 0) return EXIT.data;
  if (unanswered > 0) return EXIT.unavailable;
  return absent > 0 ? EXIT.look : EXIT.ok;
}
