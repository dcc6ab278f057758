import { isAcceptedAndAbsent } from '../../domain/orders/absent.ts';
import type { FollowSettings, LookupAnswer } from '../../domain/orders/lookup.ts';
import type { Tracking } from '../../domain/orders/tracking.ts';
import { accountFact, readAccountFact } from '../../store/accounts.ts';
import type { Database, Transaction } from '../../store/port.ts';
import type { FlowDeps } from '../pass/deps.ts';

/** The first order of the account whose pre-order was accepted and then not found. The fact is never taken back. */
const ACCEPTED_AND_ABSENT = 'lookup.acceptedAndAbsent';

/** Reads an order which shows that absence proves nothing in this account; undefined where there is none. */
export async function readAcceptedAndAbsent(db: Database, account: string): Promise<string | undefined> {
  return await readAccountFact(db, { account, name: ACCEPTED_AND_ABSENT });
}

/**
 * Remembers an accepted order that is absent, and gives the settings for what is decided about the answer: where absence
 * proves nothing no create is sent again because of it, whatever `create.onUnknown` says.
 */
export async function settingsOnAbsence(
  tx: Transaction,
  { account, settings }: Pick<FlowDeps, 'account' | 'settings'>,
  before: Tracking,
  answer: LookupAnswer,
  now: Date,
): Promise<FollowSettings> {
  if (answer.kind !== 'absent') return settings;
  if (isAcceptedAndAbsent(before, now)) {
    await accountFact(tx, { account, name: ACCEPTED_AND_ABSENT, given: before.externalOrderId, now });
  }
  const mayResend = settings.onUnknown === 'resend' && before.state === 'unknown';
  if (!mayResend || (await readAcceptedAndAbsent(tx, account)) === undefined) return settings;
  return { ...settings, onUnknown: 'hold' };
}
