import { statSync } from 'node:fs';
import { readValueFile } from './settings-file.ts';
import { ConfigError } from './settings.ts';
import { headerText, reader } from './values.ts';

/** Reads a merchant key from its file. Throws ConfigError. */
export function readMerchantKey(file: string): string {
  const text = readValueFile(file, 'exchange.apiKey');
  try {
    return reader(headerText)(text);
  } catch (error) {
    throw new ConfigError(`the key in ${file} ${(error as Error).message}`, { cause: error });
  }
}

/** The merchant key in force. One that stands in a file is read again, so that it can be changed while the program runs. */
export class MerchantKey {
  readonly #file: string | undefined;
  #current: string | undefined;

  constructor({
    apiKey,
    apiKeyFile,
  }: {
    readonly apiKey?: string | undefined;
    readonly apiKeyFile?: string | undefined;
  }) {
    this.#current = apiKey;
    this.#file = apiKeyFile;
  }

  get current(): string {
    if (this.#current === undefined) throw new Error('the settings were read without the key');
    return this.#current;
  }

  /** Reads the file again; tells whether there is another key in it. Throws ConfigError, and keeps the key that it has. */
  reread(): boolean {
    // A pipe can be read only once.
    if (this.#file === undefined || statSync(this.#file, { throwIfNoEntry: false })?.isFile() === false) return false;
    const key = readMerchantKey(this.#file);
    const isOther = key !== this.#current;
    this.#current = key;
    return isOther;
  }
}
