import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mostRowsRead, type FailOver } from '../../../src/accounts/rules/fail-over.ts';
import { sweep } from '../../../src/extensions/sweep/sweep.ts';
import { reportSent } from '../../../src/orders/fail-over.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { copyPostgresDatabase, type PostgresTestDatabase } from '../../support/postgres.ts';
import {
  failOverIn,
  idsIn,
  moveToAnotherServer,
  openedBy,
  openFindings,
  promote,
  query,
  send,
  sendSome,
  shop,
} from '../../support/promoted-shop.ts';
import { echo, NOT_FOUND, record, refusal } from '../../support/scripted-exchange.ts';

const NEVER = new AbortController().signal;

describe('a promoted standby that lacks the last commits', () => {
  it('has no order created twice: orders that may have been sent are unknown under one finding, and the rest continues', async () => {
    const { drive, database, promotedLater, created, settings } = await shop(2_000);
    await drive(database, async () => {});
    const standby = await promotedLater();
    await drive(database, sendSome(8));
    const lost = [...created().keys()];
    await drive(standby, sendSome(5));
    expect([...created().values()].filter((count) => count > 1)).toEqual([]);
    const unknown = idsIn(standby, 'unknown');
    expect(unknown).toEqual(expect.arrayContaining(lost));
    const [fact] = query(standby, `select value from account_facts where name like 'fail-over%'`);
    expect(unknown.length).toBeLessThanOrEqual(mostRowsRead(JSON.parse(String(fact?.['value'])) as FailOver) ?? 0);
    expect(idsIn(standby, 'accepted').length).toBeGreaterThanOrEqual(5);
    const actual = expect.stringContaining(String(unknown.length)) as string;
    expect(openFindings(standby)).toEqual([{ class: 'FAIL_OVER', external_order_id: null, actual }]);
    const pending = idsIn(standby, 'pending');
    const args = ['db', 'accept-restore', '--failover', failOverIn(standby), '--not-sent', '--reason', 'none is there'];
    const decided = await runProgram(args, { environment: settings(standby) });
    expect(decided).toMatchObject({ code: 0, stdout: expect.stringContaining(`${unknown.length} orders`) as string });
    expect([openFindings(standby), idsIn(standby, 'unknown')]).toEqual([[], []]);
    expect(idsIn(standby, 'pending')).toEqual([...pending, ...unknown].toSorted());
  });

  it('has no order in doubt if both owners required a synchronous standby, and as many as ever if one of them did not', async () => {
    const { drive, database, promotedLater } = await shop(30);
    const required = { ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS: '1' };
    const doubted = async (lost: Record<string, string>, next: Record<string, string>) => {
      await drive(database, async () => {}, lost);
      const standby = await promotedLater();
      await drive(standby, async () => {}, next);
      return idsIn(standby, 'unknown').length;
    };
    expect([
      await doubted(required, required),
      await doubted(required, {}),
      await doubted({}, required),
      await doubted({}, {}),
    ]).toEqual([0, 30, 30, 30]);
  });

  it('leaves all in doubt whatever the worker names that comes back: another may have followed it on the lost server', async () => {
    const { drive, database, promotedLater, created } = await shop(30);
    await drive(database, async () => {});
    const standby = await promotedLater();
    const intents = await drive(database, async (app) => {
      await sendSome(3)(app);
      app.creates.intents.owned.set('default', { generation: 1, at: new Date(0) });
      return app.creates.intents;
    });
    await drive(standby, send);
    const { clock, settings, log, store } = await openedBy(standby);
    await reportSent({ account: 'default', clock, settings, log, store, intents });
    await drive(standby, send);
    expect(idsIn(standby, 'unknown')).toHaveLength(30);
    expect([...created().values()].every((count) => count === 1)).toBe(true);
  });

  it('has those in doubt that a worker had sent, though both owners required a synchronous standby, if it names them', async () => {
    const { drive, database, promotedLater, created } = await shop(30);
    const required = { ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS: '1' };
    await drive(database, async () => {}, required);
    const standby = await promotedLater();
    const intents = await drive(database, async (app) => {
      await sendSome(3)(app);
      app.creates.intents.owned.set('default', { generation: 1, at: new Date(0) });
      return app.creates.intents;
    });
    await drive(standby, async () => {}, required);
    const { clock, settings, log, store } = await openedBy(standby);
    await reportSent({ account: 'default', clock, settings, log, store, intents });
    expect(idsIn(standby, 'unknown')).toEqual([...created().keys()].toSorted());
  });

  it('has its finding resolved once look-ups have found each order in doubt', async () => {
    const { drive, database, promotedLater, exchange } = await shop(3);
    await drive(database, async () => {});
    const standby = await promotedLater();
    const found = await drive(standby, async (app) => {
      const before = openFindings(standby).length;
      exchange.answer = ({ externalOrderId }) => (externalOrderId === 'o0003' ? NOT_FOUND : record(externalOrderId));
      await followPass(app, 'all', NEVER);
      await sweep(app, NEVER);
      const between = openFindings(standby).length;
      exchange.answer = ({ externalOrderId }) => record(externalOrderId);
      await followPass(app, 'all', NEVER);
      await sweep(app, NEVER);
      return [before, between, openFindings(standby).length];
    });
    expect(found).toEqual([1, 1, 0]);
  });

  it('has those stand as sent that a person says were sent, and those of a list alone', async () => {
    const { drive, database, promotedLater, settings } = await shop(6);
    await drive(database, async () => {});
    const standby = await promotedLater();
    await drive(standby, send);
    expect(idsIn(standby, 'unknown')).toHaveLength(6);
    const file = join(temporaryFolder(), 'ids.txt');
    writeFileSync(file, 'o0001\no0002\n');
    const decide = async (...more: string[]) => {
      const args = [
        'db',
        'accept-restore',
        '--failover',
        failOverIn(standby),
        '--reason',
        'as the exchange says',
        ...more,
      ];
      return await runProgram(args, { environment: settings(standby) });
    };
    expect(await decide('--sent', '--file', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('4 left') as string,
    });
    expect([idsIn(standby, 'accepted'), openFindings(standby).length]).toEqual([['o0001', 'o0002'], 1]);
    expect(await decide('--not-sent')).toMatchObject({ code: 0, stdout: expect.stringContaining('0 left') as string });
    expect([idsIn(standby, 'pending').length, openFindings(standby)]).toEqual([4, []]);
    expect(await decide('--sent', '--not-sent')).toMatchObject({ code: 64 });
  });

  it('is not trusted about orders that a person or the shop may have set free: none is sent until a person says so', async () => {
    const { drive, database, promotedLater, exchange, created, settings } = await shop(2);
    exchange.answer = () => refusal(400, 'no such pair');
    query(database, `update merchant_orders set asset = 'none' where external_order_id = 'o0002'`);
    await drive(database, send);
    expect([idsIn(database, 'rejected'), idsIn(database, 'invalid')]).toEqual([['o0001'], ['o0002']]);
    const standby = await promotedLater();
    exchange.answer = (request) => echo(request);
    query(standby, `update merchant_orders set asset = '1' where external_order_id = 'o0002'`);
    await drive(standby, send);
    expect([idsIn(standby, 'unknown'), [...created().keys()]]).toEqual([['o0002'], ['o0001']]);
    const environment = settings(standby);
    const retry = ['orders', 'retry', 'o0001', '--reason', 'the pair is there now'];
    expect(await runProgram(retry, { environment })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('fail-over') as string,
    });
    const [{ value }] = query(standby, `select value from account_facts where name like 'fail-over%'`) as [
      { value: string },
    ];
    const { id } = JSON.parse(value) as { id: number };
    await runProgram(['db', 'accept-restore', '--failover', String(id), '--not-sent', '--reason', 'none'], {
      environment,
    });
    expect(await runProgram(retry, { environment })).toMatchObject({ code: 0 });
  });

  it('writes no event with an id that another event may have had', async () => {
    const { drive, database, promotedLater } = await shop(3);
    await drive(database, send);
    const newest = (place: PostgresTestDatabase) => Number(query(place, 'select max(id) as id from events')[0]?.['id']);
    expect(newest(database)).toBeLessThan(1_000);
    const standby = await promotedLater();
    await runProgram(['pause', '--reason', 'a look'], { environment: { ORDER_SYNC_DATABASE_URL: standby.url } });
    expect(newest(standby)).toBeGreaterThan(1_000_000_000);
  });

  it('leaves an order whose row is locked in doubt of the first of two fail-overs, whoever speaks of the second', async () => {
    const { drive, database, promotedLater } = await shop(3);
    await drive(database, async () => {});
    const standby = await promotedLater();
    const lock = openMerchant(standby);
    onTestFinished(() => void lock.close());
    lock.exec('begin');
    lock.exec(`select from merchant_orders where external_order_id = 'o0001' for update`);
    await drive(standby, async () => {});
    expect(idsIn(standby, 'pending')).toEqual(['o0001']);
    promote(standby, 3);
    await drive(standby, async (app) => {
      lock.exec('commit');
      await send(app);
    });
    const doubts = query(standby, `select distinct fail_over::int as id from merchant_orders where state = 'unknown'`);
    const failOvers = query(
      standby,
      `select value::json ->> 'id' as id from account_facts where name like 'fail-over%'`,
    );
    expect([idsIn(standby, 'unknown').length, doubts.map(({ id }) => Number(id))]).toEqual([
      3,
      [Math.min(...failOvers.map(({ id }) => Number(id)))],
    ]);
    expect(failOvers).toHaveLength(2);
  });

  it('lets the process continue that wrote last and finds its last commit there', async () => {
    const { drive, database, created } = await shop(6);
    await drive(database, async (app) => {
      await sendSome(2)(app);
      promote(database, 2);
      await send(app);
    });
    expect([...created().values()]).toEqual([1, 1, 1, 1, 1, 1]);
    await drive(database, send);
    expect([openFindings(database), idsIn(database, 'accepted').length]).toEqual([[], 6]);
  });
});

describe('an older dump that was restored on another server', () => {
  it('is no promoted standby: the account stops until a person accepts the older state', async () => {
    const { drive, database, created, settings } = await shop(1);
    const marks = { ORDER_SYNC_DATABASE_MARKS: join(temporaryFolder(), 'marks.db') };
    await drive(database, send, marks);
    const restored = await copyPostgresDatabase(database);
    moveToAnotherServer(restored);
    const later = `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
      values ('later', '1.5', 'BTC', 'EUR')`;
    query(database, later);
    await drive(database, send, marks);
    for (const work of [async () => {}, send]) {
      await expect(drive(restored, work, marks)).rejects.toThrow(/accept-restore/);
    }
    query(restored, later);
    await expect(drive(restored, send, marks)).rejects.toThrow(/accept-restore/);
    expect(created().get('later')).toBe(1);
    expect(await runProgram(['db', 'check'], { environment: settings(restored, marks) })).toMatchObject({ code: 65 });
  });
});
