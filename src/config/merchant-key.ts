import { statSync } from 'node:fs';
import type { Config } from './config.ts';
import { readValueFile } from './settings-file.ts';
import { SETTINGS } from './settings.ts';

/** The merchant key in force. One that stands in a file is read again, so that it can be changed while the program runs. */
export class MerchantKey {
  readonly #file: string | undefined;
  #current: string | undefined;

  constructor({ apiKey, apiKeyFile }: Config['exchange']) {
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
    const text = readValueFile(this.#file, 'exchange.apiKey');
    const key = SETTINGS['exchange.apiKey'](text);
    const isOther = key !== this.#current;
    this.#current = key;
    return isOther;
  }
}
