import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { CommandError, EXIT } from './exit.ts';

const LONGEST_TEXT = 500;

/** The options of every decision of a person. */
export interface DecisionOptions {
  readonly reason: string;
  readonly actor?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Adds `--reason` and `--actor`, which become part of the history. */
export function addReasonOptions(command: Command, { isMandatory } = { isMandatory: true }): Command {
  return command
    .addOption(
      new Option('--reason <text>', 'why; part of the history').argParser(plainText).makeOptionMandatory(isMandatory),
    )
    .addOption(new Option('--actor <name>', 'who decides, if not the user of this system').argParser(plainText));
}

/** The name of the person who decides: the user of this system unless `--actor` says otherwise. Throws `CommandError`. */
export function actorOf({ actor }: Pick<DecisionOptions, 'actor'>): string {
  try {
    return actor ?? userInfo().username;
  } catch {
    throw new CommandError(EXIT.usage, 'the user of this system has no name: say who decides with --actor');
  }
}

/** Asks the person at the terminal to go on. Throws `CommandError` where they do not agree, or nobody is there to ask. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new CommandError(EXIT.usage, 'nothing was changed: there is nobody to ask; give --yes to go on');
  }
  if (await agrees(question, process.stdin, process.stderr)) return;
  throw new CommandError(EXIT.look, 'nothing was changed');
}

/** Asks a question. Any answer but yes, and the end of the input, is a no. */
export async function agrees(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const dialogue = createInterface({ input, output });
  const ended = new Promise<string>((resolve) => dialogue.once('close', () => resolve('')));
  try {
    return /^y(es)?$/i.test((await Promise.race([dialogue.question(question), ended])).trim());
  } finally {
    dialogue.close();
  }
}

function plainText(given: string): string {
  const trimmed = given.trim();
  if (trimmed === '' || trimmed.length > LONGEST_TEXT || !trimmed.isWellFormed()) {
    throw new InvalidArgumentError(`Give a text of 1 to ${LONGEST_TEXT} characters.`);
  }
  return trimmed;
}
