import { describe, expect, it } from 'vitest';
import { ACCOUNT_NAME, accountWords, DEFAULT_ACCOUNT } from '../../../src/accounts/rules/name.ts';

describe('the name of an account', () => {
  it.each([DEFAULT_ACCOUNT, 'a', '7', '.hidden', '_', 'a-b', '..a', 'allowed', 'A.b_C-9', 'x'.repeat(64)])(
    'may be %s',
    (name) => {
      expect(name).toMatch(ACCOUNT_NAME);
    },
  );

  it.each(['', 'all', '.', '..', '-a', 'a b', 'a/b', 'ä', 'a\n', ' a', 'x'.repeat(65)])('may not be %j', (name) => {
    expect(name).not.toMatch(ACCOUNT_NAME);
  });

  it('is left out of a command if it is the default, and quoted if a shell would read it otherwise', () => {
    expect(['default', 'shop', 'shop 1'].map(accountWords)).toEqual(['', ' --account shop', " --account 'shop 1'"]);
  });
});
