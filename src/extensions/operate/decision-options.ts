import { userInfo } from 'node:os';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { type ListColumn, listText } from '../commands/print.ts';
import { screenOf } from '../../cli/shared/help.ts';

const LONGEST_TEXT = 500;
const MOST_SHOWN = 100;

export type DecisionOptions = Readonly<{ reason: string; actor?: string; yes?: boolean; json?: boolean }>;

export function addReasonOptions(command: Command, { isMandatory } = { isMandatory: true }): Command {
  const reason = new Option('--reason <text>', 'why; the history keeps it').argParser(readReason);
  return command
    .addOption(reason.makeOptionMandatory(isMandatory))
    .addOption(new Option('--actor <name>', 'who decides; default: the user of this system').argParser(plainText));
}

/** Refuses TEXT, which printed commands have in place of a reason. */
function readReason(text: string): string {
  if (text === 'TEXT') throw new InvalidArgumentError('Write the reason in place of TEXT.');
  return plainText(text);
}

/** Returns `--actor`, else the name of the user of this system. Throws `CommandError` if that user has no name. */
export function actorOf({ actor }: Pick<DecisionOptions, 'actor'>): string {
  try {
    return actor ?? userInfo().username;
  } catch {
    throw new CommandError(EXIT.usage, 'the user of this system has no name: say who decides with --actor');
  }
}

export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CommandError(EXIT.usage, 'nothing was changed: no terminal to confirm on; use --yes');
  if (await agrees(question)) return;
  throw new CommandError(EXIT.look, 'stopped: nothing more was changed');
}

export async function confirmShown<Row>(rows: readonly Row[], columns: readonly ListColumn<Row>[], question: string) {
  const more = rows.length > MOST_SHOWN ? `… and ${rows.length - MOST_SHOWN} more\n` : '';
  process.stderr.write(`${listText(rows.slice(0, MOST_SHOWN), columns, screenOf(process.stderr))}${more}`);
  await confirm(question);
}

/** Returns true for a yes. Enter is a yes if the question has (Y/n). Ctrl-C and the end of the input are a no. */
export async function agrees(question: string, ...streams: ConstructorParameters<typeof Dialogue>): Promise<boolean> {
  using dialogue = new Dialogue(...streams);
  const atEnter = question.includes('(Y/n)') ? 'y' : 'n';
  return /^y(es)?$/i.test(await dialogue.ask(question, (answer) => answer || atEnter).catch(() => 'n'));
}

function plainText(given: string): string {
  const trimmed = given.trim();
  if (trimmed === '' || trimmed.length > LONGEST_TEXT || !trimmed.isWellFormed())
    throw new InvalidArgumentError(`Write a text of 1 to ${LONGEST_TEXT} characters.`);
  return trimmed;
}

export class Dialogue implements Disposable {
  readonly #output: NodeJS.WritableStream;
  readonly #lines: Interface;
  readonly #ended: Promise<never>;
  #isHidden = false;

  constructor(input: NodeJS.ReadableStream = process.stdin, output: NodeJS.WritableStream = process.stderr) {
    this.#output = output;
    const echo = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.#isHidden) output.write(chunk);
        done();
      },
    });
    // With `terminal`, typed keys show only through `echo`, which can hide them. A history would show them later.
    this.#lines = createInterface({ input, output: echo, terminal: true, historySize: 0 });
    this.#ended = new Promise((_resolve, reject) => {
      this.#lines.once('close', () => reject(new CommandError(EXIT.look, 'stopped: nothing was changed')));
    });
    this.#ended.catch(() => {});
  }

  /** Asks until `read` accepts the answer. Throws `CommandError` at Ctrl-C and at the end of the input. */
  async ask(question: string, read: (answer: string) => string, { isHidden } = { isHidden: false }): Promise<string> {
    for (;;) {
      const answer = this.#lines.question(question);
      this.#isHidden = isHidden;
      const given = await Promise.race([answer, this.#ended]).catch((error: unknown) => {
        this.#output.write('\n');
        throw error;
      });
      this.#isHidden = false;
      if (isHidden) this.#output.write('\n');
      try {
        return read(given.trim());
      } catch (error) {
        this.#output.write(`It ${(error as Error).message}.\n`);
      }
    }
  }

  [Symbol.dispose](): void {
    this.#lines.close();
  }
}
