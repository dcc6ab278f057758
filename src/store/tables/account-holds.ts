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

/** Sets or replaces a restraint. A new one, or one by a person, adds an event, unless its kind is `rate-limited`. */
export async function setHold(tx: Transaction, account: string, hold: Restraint, now: Date): Promise<void> {
  const { kind, reason, actor } = hold;
  const values = { since: hold.since.toISOString(), until: hold.until?.toISOString() ?? null, reason, actor };
  const before = (await readHolds(tx, account)).find((one) => one.kind === kind);
  await upsert('account_holds', { account, kind, ...values }, 'account', 'kind').execute(tx);
  if (before === undefined || actor !== null) await recordChange(tx, account, [null, kind], { reason, actor, now });
}

export async function pause(
  tx: Transaction,
  account: string,
  kind: 'creates-paused' | 'all-paused',
  { now, ...by }: { readonly actor: string; readonly reason: string; readonly now: Date },
): Promise<void> {
  await setHold(tx, account, { kind, since: now, until: null, ...by }, now);
}

type How = Readonly<{ reason: string; actor: string | null; now: Date }>;

/** The fact with the time at which a person ended a `guarded` restraint. Only later creates count for `guard.*`. */
export const GUARD_COUNTS_FROM = 'guard.countsFrom';

export async function endHolds(
  tx: Transaction,
  account: string,
  kinds: readonly RestraintKind[],
  how: How,
): Promise<readonly Restraint[]> {
  const ended = (await readHolds(tx, account)).filter(({ kind }) => kinds.includes(kind));
  for (const hold of ended) {
    await sql`delete from account_holds where account = ${account} and kind = ${hold.kind}`.execute(tx);
    if (hold.kind === 'guarded') {
      const { now } = how;
      await setAccountFact(tx, { account, name: GUARD_COUNTS_FROM, value: now.toISOString(), now });
    }
    await recordChange(tx, account, [hold.kind, null], how);
  }
  return ended;
}

type Kinds = readonly [old: RestraintKind | null, next: RestraintKind | null];

async function recordChange(tx: Transaction, account: string, [old, next]: Kinds, { reason, actor, now }: How) {
  const kind = old ?? next;
  // `rate-limited` adds no event, because it may come very often and no person reads about it later.
  if (kind === 'rate-limited') return;
  const event = { account, type: 'account', subject: account, field: 'hold', old_value: old, new_value: next } as const;
  const source = actor !== null ? 'operator' : kind === 'guarded' ? 'create' : 'exchange';
  await insertHappenings(tx, [{ ...event, source, reason, actor }], now);
}
