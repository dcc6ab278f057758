import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { spentByLastOwner } from '../../src/orders/pass/lease.ts';
import { RateWindow } from '../../src/exchange/transport/rate-window.ts';
import { after } from '../../src/base/instant.ts';
import type { WrapStatement } from '../../src/store/sqlite/connection.ts';
import { capturedLog } from '../support/captured-log.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';
import { ofSqlite } from '../support/database.ts';

const NEVER = new AbortController().signal;
const BEGAN_AT = new Date('2026-01-05T12:00:00.000Z');

/** The rows in the database when the last owner died; then a new one takes over. */
async function afterCrash(program: TestProgram, requestsUntil: Date | undefined, change = '', also = () => {}) {
  const log = capturedLog();
  await program.app[Symbol.asyncDispose]();
  unguarded(program.merchant, () => program.merchant.exec(change));
  also();
  program.merchant.exec('delete from request_leases');
  if (requestsUntil !== undefined) {
    program.merchant
      .prepare(`insert into request_leases values ('default', ?, 100000, 1000, '[]', 8, 15000, null, null)`)
      .run(requestsUntil.toISOString());
  }
  program.app = await program.start({ log: log.logger });
  return log;
}

/** Grants the program's requests the time to reach the exchange. */
async function settle({ clock }: TestProgram): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await clock.turn();
}

describe('orders found sending at start', () => {
  it('become unknown, however many there are, each once, and none is sent again', async () => {
    const { program, exchange } = await scriptedProgram();
    const ids = Array.from({ length: 450 }, (_, index) => `o${index}`);
    program.insert(...ids.map((external_order_id) => ({ external_order_id })), { external_order_id: 'waiting' });
    const dying = `update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1, next_action_at = null where external_order_id <> 'waiting'`;
    const log = await afterCrash(program, undefined, dying);
    expect(log.with(/found orders whose create was under way/)).toMatchObject([{ orders: 450 }]);
    for (const id of ids) expect(program.states(id)).toEqual(['unknown']);
    expect(program.row('o449')).toMatchObject({
      state_reason: 'the process ended while the create was under way',
      next_action_at: after(program.clock.now(), 5 * SECOND).toISOString(),
    });
    await createPass(program.app, NEVER);
    expect(exchange.requests.map(({ externalOrderId }) => externalOrderId)).toEqual(['waiting']);
    await program.restart();
    expect(program.states('o0')).toEqual(['unknown']);
  });

  it('do not keep the program from starting if one of them cannot be changed', async () => {
    const { program } = await scriptedProgram();
    program.insert(...Array.from({ length: 201 }, (_, index) => ({ external_order_id: `o${index}` })));
    const dying = `update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1, next_action_at = null`;
    const log = await afterCrash(program, undefined, dying, () =>
      program.merchant.exec(`create trigger of_the_merchant before update of state on merchant_orders
        when new.external_order_id in ('o0', 'o99') begin select raise(abort, 'not now'); end`),
    );
    expect(log.with(/cannot be written/)).toMatchObject([{ externalOrderId: 'o0' }, { externalOrderId: 'o99' }]);
    const count = (state: string) =>
      program.merchant.prepare('select count(*) from merchant_orders where state = ?').pluck().get(state);
    expect([count('sending'), count('unknown')]).toEqual([2, 199]);
  });

  it(
    'are at most as many as requests may be in flight, at whatever commit the process dies',
    ofSqlite('its commits'),
    async () => {
      const sending: number[] = [];
      let countSending = () => 0;
      const { program, exchange } = await scriptedProgram({
        environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '3' },
        overrides: {
          store: {
            wrap: (text, statement) => {
              if (text !== 'commit') return statement;
              const run = (parameters: readonly unknown[]) => {
                const result = statement.run(parameters);
                sending.push(countSending());
                return result;
              };
              return { reader: false, run, all: () => [], iterate: (parameters) => statement.iterate(parameters) };
            },
          },
        },
      });
      const count = program.merchant.prepare(`select count(*) from merchant_orders where state = 'sending'`).pluck();
      countSending = () => count.get() as number;
      program.insert(...Array.from({ length: 60 }, (_, index) => ({ external_order_id: `o${index}` })));
      await createPass(program.app, NEVER);
      expect(exchange.count('POST')).toBe(60);
      expect(Math.max(...sending)).toBe(3);
    },
  );
});

describe('due times at start', () => {
  const dueAt = (program: TestProgram, id: string) => program.row(id)['next_action_at'];
  const due = (id: string, state: string, at: Date) =>
    `update merchant_orders set revision = revision + 1, state = '${state}', next_action_at = '${at.toISOString()}' where external_order_id = '${id}';`;

  it('further away than any schedule plans were written under another clock: those orders are due now', async () => {
    const { program } = await scriptedProgram();
    program.insert(...['far', 'farther', 'week', 'final'].map((external_order_id) => ({ external_order_id })));
    const week = after(BEGAN_AT, 7 * DAY);
    const year = after(BEGAN_AT, 365 * DAY);
    const log = await afterCrash(
      program,
      undefined,
      due('far', 'pending', year) +
        due('farther', 'held', year) +
        due('week', 'open', week) +
        due('final', 'final', year),
    );
    expect(log.with(/were corrected/)).toMatchObject([{ orders: 2 }]);
    const now = BEGAN_AT.toISOString();
    expect(['far', 'farther', 'week', 'final'].map((id) => dueAt(program, id))).toEqual([
      now,
      now,
      week.toISOString(),
      year.toISOString(),
    ]);
  });

  it('are all doubtful when the clock was set back: everything that waits is due now', async () => {
    const { program, exchange } = await scriptedProgram();
    program.insert({ external_order_id: 'soon' }, { external_order_id: 'later' });
    const times = due('soon', 'pending', after(BEGAN_AT, MINUTE)) + due('later', 'accepted', after(BEGAN_AT, DAY));
    await afterCrash(program, after(BEGAN_AT, 2 * HOUR), times);
    expect([dueAt(program, 'soon'), dueAt(program, 'later')]).toEqual([BEGAN_AT.toISOString(), BEGAN_AT.toISOString()]);
    program.clock.advance(3 * SECOND);
    await createPass(program.app, NEVER);
    await followPass(program.app, 'due', NEVER);
    expect(exchange.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('are corrected in pages, however many they are', async () => {
    const { program } = await scriptedProgram();
    program.insert(...Array.from({ length: 1_000 }, (_, index) => ({ external_order_id: `o${index}` })));
    await program.app[Symbol.asyncDispose]();
    unguarded(program.merchant, () =>
      program.merchant.exec(`update merchant_orders set revision = revision + 1, next_action_at = '2099'`),
    );
    const changes: number[] = [];
    const wrap: WrapStatement = (_text, statement) => ({
      reader: statement.reader,
      all: (parameters) => statement.all(parameters),
      iterate: (parameters) => statement.iterate(parameters),
      run(parameters) {
        const result = statement.run(parameters);
        changes.push(Number(result.changes));
        return result;
      },
    });
    program.app = await program.start({ store: { wrap } });
    const late = program.merchant.prepare(`select count(*) from merchant_orders where next_action_at = '2099'`);
    expect(late.pluck().get()).toBe(0);
    expect(Math.max(...changes)).toBeLessThanOrEqual(200);
  });

  it('are corrected also beside orders that cannot be written, and those are passed over', async () => {
    const { program } = await scriptedProgram();
    const ids = Array.from({ length: 650 }, (_, index) => `o${index}`);
    program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    const log = await afterCrash(
      program,
      undefined,
      `update merchant_orders set revision = revision + 1, next_action_at = '2099'`,
      () =>
        program.merchant.exec(`create trigger of_the_merchant before update on merchant_orders
          when new.external_order_id in ('o0', 'o99', 'o450') begin select raise(abort, 'not now'); end`),
    );
    expect(log.with(/were corrected/)).toMatchObject([{ orders: 647 }]);
    expect(ids.filter((id) => dueAt(program, id) !== BEGAN_AT.toISOString())).toEqual(['o0', 'o99', 'o450']);
    expect(program.app.observers.counters.failed).toBe(3);
  });

  it('are left if the database refuses all of them, and the program continues', async () => {
    const { program } = await scriptedProgram();
    program.insert(...Array.from({ length: 450 }, (_, index) => ({ external_order_id: `o${index}` })));
    await afterCrash(
      program,
      undefined,
      `update merchant_orders set revision = revision + 1, next_action_at = '2099'`,
      () =>
        program.merchant.exec(`create trigger of_the_merchant before update on merchant_orders
        when new.next_action_at < '2099' begin select raise(abort, 'not now'); end`),
    );
    expect(program.app.observers.counters.failed).toBe(200);
  });

  it('stay as they are otherwise', async () => {
    const { program } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    const minute = after(BEGAN_AT, MINUTE);
    await afterCrash(program, after(BEGAN_AT, 2 * SECOND), due('a', 'pending', minute));
    expect(dueAt(program, 'a')).toBe(minute.toISOString());
  });
});

describe('the wait of a new owner', () => {
  it.each([
    ['no owner ever sent anything', undefined, 0, false],
    ['the last one may still be sending', 2_000, 3_000, false],
    ['its right ends now', 0, 1_000, false],
    ['its right ended in the window', -400, 600, false],
    ['its window has passed', -1_000, 0, false],
    ['it was here yesterday', -DAY, 0, false],
    ['its right ends later than any can: the clock was set back', 2_001, 3_000, true],
    ['the clock was set back by a year', 365 * DAY, 3_000, true],
  ])('when %s', async (_name, aheadMs, waitMs, clockWentBack) => {
    const { program } = await scriptedProgram();
    await afterCrash(program, aheadMs === undefined ? undefined : after(BEGAN_AT, aheadMs));
    const limit = { requests: 100_000, intervalMs: 1_000 };
    const accountLease = { now: () => program.clock.now(), lastOwnerUntil: undefined };
    const { spent, clockWentBack: isBack } = await spentByLastOwner({ ...program.app, accountLease }, limit);
    expect([new RateWindow(limit, spent).waitMs(program.clock.monotonic()), isBack]).toEqual([waitMs, clockWentBack]);
  });

  it.each([
    ['may still be sending', 2_000, 3_000],
    ['left a lease of a year under another clock', 365 * DAY, 3_000],
    ['has just stopped', 0, 1_000],
  ])('lets nothing out until the window of one that %s has passed', async (_name, aheadMs, waitMs) => {
    const { program, exchange } = await scriptedProgram();
    const arrivals: number[] = [];
    const answer = exchange.answer;
    exchange.answer = (request) => {
      arrivals.push(program.clock.monotonic());
      return answer(request);
    };
    program.insert({ external_order_id: 'a' });
    await afterCrash(program, after(BEGAN_AT, aheadMs));
    const pass = createPass(program.app, NEVER);
    program.clock.advance(waitMs - 1);
    await settle(program);
    expect(program.row('a')['state']).toBe('pending');
    program.clock.advance(1);
    await pass;
    expect(arrivals).toEqual([waitMs]);
  });

  it('is known before each request leaves: the lease on disk is ahead of it, for creates and look-ups', async () => {
    const { program, exchange } = await scriptedProgram();
    const ahead: number[] = [];
    const answer = exchange.answer;
    exchange.answer = (request) => {
      const until = program.merchant.prepare('select requests_until from request_leases').pluck().get() as string;
      ahead.push(Date.parse(until) - program.clock.now().getTime());
      return answer(request);
    };
    for (let number = 0; number < 20; number += 1) {
      program.insert({ external_order_id: `o${number}` });
      await createPass(program.app, NEVER);
      program.clock.advance(370);
      await followPass(program.app, 'all', NEVER);
    }
    expect(ahead.length).toBeGreaterThanOrEqual(40);
    expect(Math.min(...ahead)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(2_000);
  });

  it.each([
    ['is logged if it is longer than a second', 2_000, [3]],
    ['is not logged if it is a second or less', 0, []],
  ])('%s', async (_name, aheadMs, seconds) => {
    const { program } = await scriptedProgram();
    const log = await afterCrash(program, after(BEGAN_AT, aheadMs));
    expect(log.with(/waiting for the last owner's requests/).map((line) => line['seconds'])).toEqual(seconds);
  });

  it('is short after an orderly stop', async () => {
    const { program } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    await program.app[Symbol.asyncDispose]();
    expect(program.merchant.prepare('select requests_until from request_leases').pluck().get()).toBe(
      BEGAN_AT.toISOString(),
    );
  });
});
