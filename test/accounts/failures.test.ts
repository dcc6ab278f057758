import { expect, it } from 'vitest';
import type { OwnedAccount, AccountsDeps } from '../../src/accounts/account.ts';
import { stopFailed } from '../../src/accounts/failures.ts';
import { createLog } from '../../src/base/log.ts';
import { StoreError } from '../../src/store/errors.ts';

it.each([
  ['the database was lost', new StoreError('disk', 'out of reach'), 5_000, 0],
  ['the database gives it no rights', new StoreError('denied', 'refuses'), 60_000, 1],
  ['of another failure', new Error('unforeseen'), 60_000, 1],
])('an account that could not begin because %s is tried again', (_, error, afterMs, records) => {
  let written = 0;
  const writer = { write: async () => void (written += 1) };
  const deps = {
    log: createLog('silent'),
    clock: { monotonic: () => 1_000, now: () => new Date() },
    config: { accounts: [{ name: 'shop', exchange: {} }] },
    store: { forAccount: () => ({ writer }) },
  } as unknown as AccountsDeps;
  const account = { name: 'shop' } as OwnedAccount;
  stopFailed(deps, account, error);
  expect([account.failure?.nextAt, written]).toEqual([1_000 + afterMs, records]);
});
