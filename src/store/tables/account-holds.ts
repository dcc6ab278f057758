import { sql } from 'kysely';
import type { Restraint, RestraintKind } from '../../accounts/rules/restraints.ts';
import { setAccountFact } from './accounts.ts';
import { insertHappenings } from './events.ts';
import type { Database, Transaction } from '../port.ts';
import { queries, statement, textToFind, upsert } from '../statement.ts';

const holdsStatement = statement((v: { account: string }) =>
  queries.selectFrom('account_holds').selectAll().where('account', '=', textToFind(v.account)).orderBy('kind'),
);

export async function readHolds(db: Database, account: string): Promise<readonly Restraint[]> {
  const { rows } = await holdsStatement(db, { account });
  return rows.map(({ kind, since, until, reason, actor }) => ({
    kind: kind as RestraintKind,
    since: new Date(since),
    until: until === null ? null : new Date(until),
    reason,
    actor,
  }));
}

/** Sets a hold in place of a hold of that kind. A new hold, or a person's, is an event, but no wait of the rate is. */
export async function setHold(tx: Transaction, account: string, hold: Restraint, now: Date): Promise<void> {
  const { kind, reason, actor } = hold;
  const values = { since: hold.since.toISOString(), until: hold.until?.toISOString() ?? null, reason, actor };
  const before = (await readHolds(tx, account)).find((one) => one.kind === kind);
  await upsert('account_holds', { account, kind, ...values }, 'account', 'kind').execute(tx);
  if (before === undefined || actor !== null) await recordChange(tx, account, { to: hold, reason, actor, now });
}

export async function pause(
  tx: Transaction,
  account: string,
  kind: 'creates-paused' | 'all-paused',
  { now, ...by }: { readonly actor: string; readonly reason: string; readonly now: Date },
): Promise<void> {
  await setHold(tx, account, { kind, since: now, until: null, ...by }, now);
}

/** The fact that holds the time from which creates count for `guard.*`: a person allowed creates then. */
export const GUARD_COUNTS_FROM = 'guard.countsFrom';

export async function endHolds(
  tx: Transaction,
  account: string,
  kinds: readonly RestraintKind[],
  how: { readonly reason: string; readonly actor: string | null; readonly now: Date },
): Promise<readonly Restraint[]> {
  const ended = (await readHolds(tx, account)).filter(({ kind }) => kinds.includes(kind));
  for (const hold of ended) {
    await sql`delete from account_holds where account = ${account} and kind = ${hold.kind}`.execute(tx);
    if (hold.kind === 'guarded') {
      const { now } = how;
      await setAccountFact(tx, { account, name: GUARD_COUNTS_FROM, value: now.toISOString(), now });
    }
    await recordChange(tx, account, { from: hold, ...how });
  }
  return ended;
}

interface Change {
  readonly from?: Restraint;
  readonly to?: Restraint;
  readonly reason: string;
  readonly actor: string | null;
  readonly now: Date;
}

async function recordChange(tx: Transaction, account: string, { from, to, reason, actor, now }: Change): Promise<void> {
  // Waits of the rate are no events, because they may be many and no person looks back at them.
  const { kind } = from ?? to ?? {};
  if (kind === 'rate-limited') return;
  const event = { account, type: 'account', subject: account, field: 'hold' } as const;
  const values = { old_value: from?.kind ?? null, new_value: to?.kind ?? null };
  const source = actor !== null ? 'operator' : kind === 'guarded' ? 'create' : 'exchange';
  await insertHappenings(tx, [{ ...event, ...values, source, reason, actor }], now);
}
