import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, expect, it } from 'vitest';
import { feedEventOf, type EventRow } from '../../../src/extensions/feed/event.ts';
import { runProgram } from '../../support/cli-function.ts';
import { commandFolder } from '../../support/folders.ts';
import { endpointAt, OLD_SECRET, SECRET, webhookReceiver, type Receiver } from '../../support/webhooks.ts';

const place = commandFolder();
let receiver: Receiver;

beforeEach(async () => {
  receiver = await webhookReceiver();
});

const run = (...args: string[]) => {
  const { url, secrets, allowPrivate } = endpointAt(receiver);
  const endpoints = JSON.stringify([{ name: 'shop', url, secrets, allowPrivate }]);
  const environment = { ...place.options.environment, ORDER_SYNC_WEBHOOKS_ENDPOINTS: endpoints };
  return runProgram(['webhooks', ...args], { ...place.options, environment });
};

/** Cancels an order, and returns the event of it. */
async function event(): Promise<EventRow> {
  const db = new Database(place.path);
  db.exec(
    "insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values ('a', '1', 'BTC', 'EUR')",
  );
  expect((await runProgram(['orders', 'cancel', 'a', '--reason', 'a test'], place.options)).code).toBe(0);
  const row = db.prepare('select * from events').get() as EventRow;
  db.prepare(
    `insert into webhook_deliveries (endpoint, account, event_id, kind, subject, status, attempts, answer, since)
      values ('shop', 'default', ?, 'order', 'a', 'dead', 11, 400, '2026-01-01T00:00:00.000Z')`,
  ).run(row.id);
  db.close();
  return row;
}

it('resends a dead letter with the id that it had, once', async () => {
  const row = await event();
  expect(JSON.parse((await run('show', 'shop', '--json')).stdout)).toMatchObject({
    deadLetters: [{ event_id: row.id }],
  });
  receiver.answer = () => 400;
  expect((await run('resend', 'shop', '--all')).code).toBe(1);
  receiver.answer = () => 204;
  const { code, stdout } = await run('resend', 'shop', '--dead-letter', String(row.id), '--json');
  expect({ code, counts: JSON.parse(stdout) }).toEqual({ code: 0, counts: { taken: 1, left: 0, notTried: 0 } });
  expect(receiver.taken).toEqual([feedEventOf(row)]);
  expect((await run('resend', 'shop', '--dead-letter', String(row.id))).code).toBe(2);
});

it('says that it reads no more than 10,000 dead letters', async () => {
  await event();
  const db = new Database(place.path);
  const columns = (id: string) => `endpoint, account, ${id}, kind, subject, status, attempts, answer, since`;
  db.exec(`with recursive ids(id) as (select 1 union all select id + 1 from ids where id < 10000)
    insert into webhook_deliveries (${columns('event_id')}) select ${columns('event_id + id')} from webhook_deliveries, ids`);
  db.close();
  const { code, stderr } = await run('resend', 'shop', '--dead-letter', '20000');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('only 10000 dead letters') });
});

it('shows why an endpoint accepts no events, what helps, and as many refused events as are listed', async () => {
  await event();
  const db = new Database(place.path);
  const columns = (id: string) => `endpoint, account, ${id}, kind, subject, status, attempts, answer, since`;
  db.exec(
    `insert into webhook_deliveries (${columns('event_id')}) select ${columns('event_id + 1')} from webhook_deliveries`,
  );
  db.prepare(
    `insert into webhook_endpoints (name, since, failing_since, cause)
      values ('shop', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', 'ECONNREFUSED')`,
  ).run();
  db.close();
  const failing = { failingSince: '2026-01-02T00:00:00.000Z', cause: 'ECONNREFUSED' };
  expect(JSON.parse((await run('show', 'shop', '--json')).stdout)).toMatchObject({ failing, retrying: [] });
  const { stdout, stderr } = await run('show', 'shop', '--limit', '1');
  expect(stdout).toMatch(
    /^The receiver shop has accepted no event since .* \(ECONNREFUSED\), .*2 dead letters\.\nCheck that /,
  );
  expect(stderr).toContain('--limit');
});

it('resends the events of an account from one on', async () => {
  const row = await event();
  expect((await run('resend', 'shop', '--from', String(row.id))).code).toBe(0);
  expect(receiver.taken).toEqual([feedEventOf(row)]);
  expect((await run('resend', 'shop')).code).toBe(64);
  const beyond = await run('resend', 'shop', '--from', String(row.id + 1));
  expect(beyond).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`newest is ${row.id}\n`) as string,
  });
});

it('says how many it has not tried if the endpoint takes nothing', async () => {
  const row = await event();
  expect((await runProgram(['pause', '--reason', 'a test'], place.options)).code).toBe(0);
  receiver.answer = () => 503;
  const { code, stdout } = await run('resend', 'shop', '--from', String(row.id), '--json');
  expect({ code, counts: JSON.parse(stdout) }).toEqual({ code: 1, counts: { taken: 0, left: 1, notTried: 1 } });
  expect(receiver.deliveries).toHaveLength(1);
});

it('tries an endpoint by one message, which verify takes with its secret alone', async () => {
  expect((await run('test', 'shop')).code).toBe(0);
  const [{ headers, event: body } = { headers: {}, event: {} }] = receiver.deliveries;
  const file = join(place.folder, 'body.json');
  writeFileSync(file, JSON.stringify(body));
  const {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  } = headers as Record<string, string>;
  const verify = (signed = signature) =>
    run('verify', 'shop', file, '--id', `${id}`, '--timestamp', `${timestamp}`, '--signature', `${signed}`);
  expect((await verify()).code).toBe(0);
  expect((await verify('v1,AAAA')).code).toBe(65);
  writeFileSync(file, readFileSync(file, 'utf8').replace('webhook.test', 'order.other'));
  expect((await verify()).code).toBe(65);
  receiver.secret = OLD_SECRET;
  expect((await run('test', 'shop')).code).toBe(1);
});

it('lists the endpoints of the settings without their secrets; one that is not there is none', async () => {
  const { stdout } = await run('list', '--json');
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'shop', oldestWaiting: null, parked: 0, deadLetters: 0 }]);
  expect(stdout).not.toContain(SECRET);
  expect((await run('show', 'shopp')).code).toBe(2);
});
