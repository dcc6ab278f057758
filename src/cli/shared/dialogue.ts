import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError, EXIT } from './exit.ts';

/** Questions to a person at the terminal. */
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
    // On a terminal the echo is ours, so that it can be left out; a history would show a hidden answer at the next question.
    this.#lines = createInterface({ input, output: echo, terminal: true, historySize: 0 });
    this.#ended = new Promise((_resolve, reject) => {
      const stopped = new CommandError(EXIT.look, 'stopped: nothing was made');
      this.#lines.once('close', () => reject(stopped));
    });
    this.#ended.catch(() => {});
  }

  /** Asks until `read` takes the answer. Throws `CommandError` at Ctrl-C and at the end of the input. */
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
