import { statSync } from 'node:fs';
import { messageOf } from '../../../base/text.ts';
import type { FlowDeps } from '../../../orders/pass/deps.ts';
import { ConfigError } from '../../../settings/config.ts';
import { areDifferent } from '../../../settings/shapes.ts';
import { isEqual } from '../../http/secret.ts';
import type { Caller } from '../caller.ts';
import { readSecret, type TokenSettings } from '../settings.ts';

/** The file of a secret is examined once in this many ms, at most. */
const LOOK_MS = 1_000;

type TokenDeps = Pick<FlowDeps, 'clock' | 'log'>;

/**
 * Returns a function that finds the token with a secret. It compares with every token, so that the time does not tell
 * which token matched. Throws `ConfigError` if two tokens have the same secret.
 */
export function finderOf(settings: readonly TokenSettings[], deps: TokenDeps): (secret: string) => Token | undefined {
  const tokens = settings.map((one) => new Token(one, deps));
  if (!areDifferent(tokens.map((token, at) => token.secret ?? String(at)))) {
    throw new ConfigError('api.tokens: two tokens have the same secret: make one for each');
  }
  return (secret) => tokens.filter((token) => token.secret !== undefined && isEqual(secret, token.secret))[0];
}

/** A token with its secret, which is read again when the file changes, and the bucket of its rate. */
class Token {
  readonly caller: Caller;
  readonly #file: string;
  readonly #rate: number;
  readonly #deps: TokenDeps;
  #secret: string | undefined;
  /** The state of the file that was read last. */
  #read = '';
  #isRefused = false;
  #lookedAt = -Infinity;
  #left: number;
  #filledAt: number;

  constructor({ caller, secretFile, rate }: TokenSettings, deps: TokenDeps) {
    this.caller = caller;
    this.#file = secretFile;
    this.#rate = this.#left = rate;
    this.#deps = deps;
    this.#filledAt = deps.clock.monotonic();
  }

  /** Undefined while the file cannot be used; the token is refused then. */
  get secret(): string | undefined {
    const now = this.#deps.clock.monotonic();
    if (now - this.#lookedAt < LOOK_MS) return this.#secret;
    this.#lookedAt = now;
    try {
      const found = statSync(this.#file);
      const state = `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
      // A pipe can be read only once.
      const isSame = state === this.#read || (this.#read !== '' && !found.isFile());
      if (!isSame) this.#secret = readSecret(this.#file);
      this.#read = state;
      this.#isRefused = false;
    } catch (error) {
      const { name } = this.caller;
      const facts = { token: name, cause: messageOf(error) };
      if (!this.#isRefused) this.#deps.log.warn(facts, 'a token is refused until its file can be used');
      this.#isRefused = true;
      this.#secret = undefined;
      this.#read = '';
    }
    return this.#secret;
  }

  /** Takes one request from the bucket. Returns 0, or, if the bucket is empty, the wait in ms. */
  take(): number {
    const now = this.#deps.clock.monotonic();
    this.#left = Math.min(this.#rate, this.#left + ((now - this.#filledAt) * this.#rate) / 1_000);
    this.#filledAt = now;
    if (this.#left < 1) return ((1 - this.#left) * 1_000) / this.#rate;
    this.#left -= 1;
    return 0;
  }
}
