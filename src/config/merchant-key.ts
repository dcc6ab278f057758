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

  /** Reads the file again; returns true if there is another key in it. A file without a key that can be used changes nothing. */
  reread(onUnreadable: (error: ConfigError) => void = () => {}): boolean {
    // A pipe can be read only once.
    if (this.#file === undefined || statSync(this.#file, { throwIfNoEntry: false })?.isFile() === false) return false;
    try {
      const key = readMerchantKey(this.#file);
      const isOther = key !== this.#current;
      this.#current = key;
      return isOther;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      onUnreadable(error);
      return false;
    }
  }
}
