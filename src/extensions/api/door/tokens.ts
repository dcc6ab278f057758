import { statSync } from 'node:fs';
import { messageOf } from '../../../base/text.ts';
import type { FlowDeps } from '../../../orders/pass/deps.ts';
import { ConfigError } from '../../../settings/config.ts';
import { areDifferent } from '../../../settings/shapes.ts';
import { isEqual } from '../../http/secret.ts';
import { readSecret, type TokenSettings } from '../settings.ts';

/** The file of a secret is examined once in this many ms, at most. */
const LOOK_MS = 1_000;

type TokenDeps = Pick<FlowDeps, 'clock' | 'log'>;

/**
 * Returns a function that finds the token with a secret. It compares with every token, so that the time does not tell
 * which token matched. Throws `ConfigError` if two tokens have the same secret.
 */
export function finderOf(settings: readonly TokenSettings[], deps: TokenDeps): (secret: string) => Token | undefined {
  const tokens = settings.map((one) => tokenOf(one, deps));
  if (!areDifferent(tokens.map((token, at) => token.secret ?? String(at)))) {
    throw new ConfigError('api.tokens: two tokens have the same secret: make one for each');
  }
  return (secret) => tokens.filter((token) => token.secret !== undefined && isEqual(secret, token.secret))[0];
}

type Token = ReturnType<typeof tokenOf>;

/** A token with its secret, which is read again when the file changes, and the bucket of its rate. */
function tokenOf({ caller, secretFile, rate }: TokenSettings, { clock, log }: TokenDeps) {
  let secret: string | undefined;
  /** The state of the file that was read last. */
  let read = '';
  let [isRefused, lookedAt] = [false, -Infinity];
  let [left, filledAt] = [rate, clock.monotonic()];
  return {
    caller,
    /** Undefined while the file cannot be used; the token is refused then. */
    get secret() {
      if (clock.monotonic() - lookedAt < LOOK_MS) return secret;
      lookedAt = clock.monotonic();
      try {
        const found = statSync(secretFile);
        const state = `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
        // A pipe can be read only once.
        const isSame = state === read || (read !== '' && !found.isFile());
        if (!isSame) secret = readSecret(secretFile);
        [read, isRefused] = [state, false];
      } catch (error) {
        const facts = { token: caller.name, cause: messageOf(error) };
        if (!isRefused) log.warn(facts, 'a token is refused until its file can be used');
        [secret, read, isRefused] = [undefined, '', true];
      }
      return secret;
    },
    /** Takes one request from the bucket. Returns 0, or, if the bucket is empty, the wait in ms. */
    take(): number {
      const now = clock.monotonic();
      left = Math.min(rate, left + ((now - filledAt) * rate) / 1_000);
      filledAt = now;
      if (left < 1) return ((1 - left) * 1_000) / rate;
      left -= 1;
      return 0;
    },
  };
}
