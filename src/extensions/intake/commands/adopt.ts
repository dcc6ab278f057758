import type { Command } from 'commander';
import { parse } from 'lossless-json';
import { type ImportFormat, addFileOptions, openFile } from '../../commands/files.ts';
import { readLines, type ImportLine } from '../import.ts';
import { forEachConcurrently } from '../../../orders/pass/run.ts';
import type { InputOf } from '../../api/operation.ts';
import { INTAKE_OPERATIONS } from '../addresses.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { pasteable } from '../../../base/invocation.ts';
import { printable } from '../../../base/words.ts';
import { columnsOf } from '../../../store/orders/order-columns.ts';
import { commandError, withExchange, type Ask } from '../../api/asking/ask.ts';
import { addUrlOption } from '../../../cli/shared/options.ts';
import { EXIT } from '../../../cli/shared/exit.ts';
import { print } from '../../commands/print.ts';
import { checkFields } from '../add.ts';
import { describeProblems } from '../../../orders/rules/check.ts';

const CONCURRENCY = 8;
const { adoptOrder } = INTAKE_OPERATIONS;

const HELP = `
Columns: as for orders import.
Each order is looked up first. If the exchange has the order, the command
inserts it with its state at the exchange, and never creates it. If the exchange
shows no order, the command names it and does not insert it. Such an order may
still have a pre-order: insert it with orders import --may-have-been-sent. An
order that is in the table already does not change, so the command can be run
again.

Example:
  order-sync orders adopt before-we-used-order-sync.csv`;

interface Adopted {
  readonly line: number;
  readonly external_order_id: string | null;
  readonly result: 'adopted' | 'present' | 'absent' | 'unanswered' | 'invalid';
  readonly state: string | null;
  readonly why: string | null;
}

export function define(command: Command): void {
  addUrlOption(addFileOptions(command))
    .option('--json', 'print a line of JSON for each order')
    .addHelpText('after', HELP)
    .action(async (file: string, { format: given, json }: { format?: ImportFormat; json?: boolean }) => {
      const { format, input } = await openFile(command, file, given);
      const lines = readLines(input, format);
      const again: ImportLine[] = [];
      const counts = { adopted: 0, present: 0, absent: 0, unanswered: 0, invalid: 0 };
      const { account } = await withExchange(command, async (ask, config) => {
        await forEachConcurrently(linesOf(lines, again), CONCURRENCY, async (line) => {
          const adopted = await adopt(ask, line).catch((error: unknown) => {
            again.push(line);
            throw error;
          });
          counts[adopted.result] += 1;
          printAdopted(adopted, json);
        });
        return config;
      });
      const text = Object.entries(counts).map(([result, orders]) => `${orders} ${result}`);
      process.stderr.write(`${text.join(', ')}\n`);
      const insert = `order-sync orders import FILE --may-have-been-sent${accountWords(account)}`;
      if (counts.absent > 0) process.stderr.write(pasteable(`an absent order may still have a pre-order: ${insert}\n`));
      process.exitCode = exitCodeOf(counts);
    });
}

/** Yields the lines of a file. Lines in `again` come first, because the asked owner ended before it answered. */
async function* linesOf(lines: AsyncGenerator<ImportLine>, again: ImportLine[]): AsyncGenerator<ImportLine> {
  for (;;) {
    const line = again.shift() ?? ((await lines.next()).value as ImportLine | undefined);
    if (line === undefined) return;
    yield line;
  }
}

async function adopt(ask: Ask, read: ImportLine): Promise<Adopted> {
  const none = { line: read.line, external_order_id: null, state: null };
  const checked = checkedOrder(read);
  if (typeof checked === 'string') return { ...none, result: 'invalid', why: checked };
  const found = { ...none, external_order_id: checked.externalOrderId };
  const answer = await ask(adoptOrder, columnsOf(checked) as InputOf<typeof adoptOrder>);
  if (answer.kind !== 'ok') return { ...found, result: 'unanswered', why: commandError(answer).message };
  return { ...found, ...(parse(answer.body) as Pick<Adopted, 'result' | 'state'>), why: null };
}

function printAdopted({ line, external_order_id, result, state, why }: Adopted, json: boolean | undefined): void {
  const id = JSON.stringify(external_order_id);
  const text = {
    adopted: `${id} is adopted: ${state}`,
    present: `${id} is in the table already: ${state}`,
    absent: `${id} was not inserted: the exchange shows no order, and may have a pre-order`,
    unanswered: `${id} was not inserted: ${printable(why ?? '')}`,
    invalid: `line ${line}: ${printable(why ?? '')}`,
  }[result];
  print(json, { line, external_order_id, result, state, why }, () => `${text}\n`);
}

function exitCodeOf({ invalid: wrong, unanswered, absent }: Readonly<Record<Adopted['result'], number>>): number {
  if (wrong > 0) return EXIT.data;
  if (unanswered > 0) return EXIT.unavailable;
  return absent > 0 ? EXIT.look : EXIT.ok;
}

export function checkedOrder(line: ImportLine) {
  if ('problem' in line) return line.column === undefined ? line.problem : `${line.column} ${line.problem}`;
  const checked = checkFields(line.fields);
  return checked.ok ? checked.order : describeProblems(checked.problems);
}
