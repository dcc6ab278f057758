import { sql, type Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { MIGRATIONS } from '../../../../migrations/index.ts';
import { MIGRATIONS as OF_POSTGRES } from '../../../../migrations/postgres/index.ts';
import { isSqlite } from '../../../support/database.ts';
import {
  delivering,
  endpointAt,
  nameOf,
  names,
  rowsOf,
  webhookReceiver,
  type Delivering,
} from '../../../support/webhooks.ts';
import { withWebhooks } from '../../../support/webhook-tables.ts';

const HOUR = 3_600_000;
const KEY = { account: 'default', endpoint: 'shop' };
const AT = '2026-01-01T00:00:00.000Z';

/** Puts the tables back as they were before the migration. */
async function tablesBefore({ store: { db } }: Delivering): Promise<void> {
  for (const text of [
    'drop table webhook_deliveries',
    `create table webhook_parked (account text not null, endpoint text not null, kind text not null, subject text not null,
      from_event_id bigint not null, tries bigint not null, next_try_at text not null, status bigint not null, since text not null)`,
    `create table webhook_dead_letters (account text not null, endpoint text not null, event_id bigint not null,
      status bigint not null, at text not null, delivered_at text)`,
  ])
    await sql.raw(text).execute(db);
}

async function migrate({ store: { db } }: Delivering): Promise<void> {
  const migrations = isSqlite() ? MIGRATIONS : OF_POSTGRES;
  await migrations['0002_webhook_deliveries'].up(db as unknown as Kysely<unknown>);
}

async function park({ store: { db } }: Delivering, subject: string, from: number, tries: number, kind = 'order') {
  await sql`insert into webhook_parked (account, endpoint, kind, subject, from_event_id, tries, next_try_at, status, since)
    values (${KEY.account}, ${KEY.endpoint}, ${kind}, ${subject}, ${from}, ${tries}, ${AT}, 400, ${AT})`.execute(db);
}

async function deadLetter({ store: { db } }: Delivering, id: number, deliveredAt: string | null): Promise<void> {
  await sql`insert into webhook_dead_letters (account, endpoint, event_id, status, at, delivered_at)
    values (${KEY.account}, ${KEY.endpoint}, ${id}, 410, ${AT}, ${deliveredAt})`.execute(db);
}

it('what an earlier version has not delivered is sent in its order, and its dead letters stay', async () => {
  const receiver = await webhookReceiver();
  const program = await delivering([endpointAt(receiver)]);
  await program.stop();
  await tablesBefore(program);
  // 1 to 9; the cursor is at 7.
  for (const [order, value] of [
    ['dead', '1'],
    ['resent', '1'],
    ['bad', '1'],
    ['good', '1'],
    ['bad', '2'],
    ['left', '1'],
    ['other', '1'],
    ['late', '1'],
    ['bad', '3'],
  ] as const)
    await program.add(order, value);
  await withWebhooks(program.store.db)
    .insertInto('webhook_cursors')
    .values({ ...KEY, event_id: 7 })
    .execute();
  await park(program, 'bad', 3, 2);
  await park(program, 'left', 6, 0);
  // The process was killed before it wrote its cursor.
  await park(program, 'late', 8, 1);
  // A link may have the name of an order.
  await park(program, 'good', 4, 1, 'link');
  await deadLetter(program, 1, null);
  await deadLetter(program, 2, AT);
  await migrate(program);
  expect(await rowsOf(program, 'retrying')).toMatchObject([
    { ...KEY, kind: 'order', subject: 'bad', event_id: 3, attempts: 2, next_attempt_at: AT, answer: 400, since: AT },
    { kind: 'link', subject: 'good', event_id: 4 },
  ]);
  expect(await rowsOf(program, 'behind')).toMatchObject([
    { ...KEY, kind: 'order', subject: 'bad', event_id: 5, attempts: 0, next_attempt_at: null },
  ]);
  expect(await rowsOf(program, 'waiting')).toMatchObject([{ subject: 'left', event_id: 6, failed_at: null }]);
  const ended = { next_attempt_at: null, answer: 410, since: AT };
  expect(await rowsOf(program, 'dead')).toMatchObject([{ ...ended, subject: 'dead', event_id: 1 }]);
  expect(await rowsOf(program, 'delivered')).toMatchObject([{ ...ended, subject: 'resent', event_id: 2 }]);
  await withWebhooks(program.store.db).deleteFrom('webhook_deliveries').where('kind', '=', 'link').execute();
  receiver.answer = (event) => (nameOf(event) === 'bad 1' ? 400 : 204);
  await program.start();
  await program.webhooks.eachSecond();
  await program.webhooks.idle();
  receiver.answer = () => 204;
  await program.pass(HOUR);
  const taken = names(receiver.taken);
  expect(taken.toSorted()).toEqual(['bad 1', 'bad 2', 'bad 3', 'late 1', 'left 1']);
  expect(taken.filter((name) => name.startsWith('bad'))).toEqual(['bad 1', 'bad 2', 'bad 3']);
  const left = await withWebhooks(program.store.db)
    .selectFrom('webhook_deliveries')
    .select('event_id')
    .orderBy('event_id')
    .execute();
  expect(left.map(({ event_id }) => event_id)).toEqual([1, 2]);
});

it('a database without refused events is brought up to date too', async () => {
  const program = await delivering([]);
  await program.stop();
  await tablesBefore(program);
  await migrate(program);
  expect(await withWebhooks(program.store.db).selectFrom('webhook_deliveries').selectAll().execute()).toEqual([]);
});
