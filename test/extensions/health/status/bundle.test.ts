import { expect, it } from 'vitest';
import { RESTRAINT_KINDS } from '../../../../src/accounts/rules/restraints.ts';
import { bundledDaemon, bundledEvent, bundledOverview } from '../../../../src/extensions/health/status/bundle.ts';
import type { DaemonStatus } from '../../../../src/extensions/health/status/status.ts';
import { liveStatus, overviewOf } from '../../../support/reading.ts';

const HOLD_EVENT = {
  id: 1,
  account: 'shop',
  type: 'account' as const,
  subject: 'shop',
  field: 'hold',
  hash: '',
  exchange_time: null,
};
const pseudonym = (kind: string) => `(${kind})`;

it('a support file has pseudonyms of accounts that the settings do not name', () => {
  const overview = overviewOf({ otherAccounts: [{ account: 'canary', orders: 3 }] });
  expect(bundledOverview(overview, pseudonym)).toMatchObject({ otherAccounts: [{ account: '(account)', orders: 3 }] });
});

it('a support file has neither ids of orders nor words of the database or the system', () => {
  const keptBack = [{ externalOrderId: 'canary', since: '', cause: 'canary' }];
  const accounts = [liveStatus({ account: 'canary', unwritten: 'canary', keptBack })];
  const daemon = { unwritten: 'canary', opsFailure: 'EADDRINUSE canary', accounts } as unknown as DaemonStatus;
  const shown = bundledDaemon(daemon, pseudonym);
  const flags = { unwritten: true, opsFailure: true };
  expect(shown).toMatchObject({ ...flags, accounts: [{ account: '(account)', unwritten: true, keptBack: 1 }] });
  expect(JSON.stringify(shown)).not.toContain('canary');
});

it.each(RESTRAINT_KINDS)('a support file says that an account came to be %s', (kind) => {
  const event = { ...HOLD_EVENT, old_value: null, new_value: kind, observed_at: '2026-01-05T12:00:00.000Z' } as const;
  const shown = bundledEvent({ ...event, source: 'exchange', reason: 'canary', actor: 'canary' }, pseudonym);
  expect(shown).toMatchObject({ account: '(account)', to: kind });
  expect(JSON.stringify(shown)).not.toContain('canary');
});
