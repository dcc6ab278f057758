import { renameSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { sql, type SqliteStatement } from 'kysely';
import { describe, expect, it } from 'vitest';
import { runDaemon } from '../support/daemon.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { StoreError } from '../../src/store/errors.ts';
import { capturedLog } from '../support/captured-log.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { echo, record, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { DAY } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const NOT_YET = /nothing is sent until it can/;

/** So long that each row and each event needs pages of its own: on a full disk none of them fits in anywhere. */
const id = (number: number) => `${number}-${'x'.repeat(3_000)}`;

/** SQLite takes no more pages, on the program's own connection: it then says what it says of a full disk. */
async function fillDisk({ app }: TestProgram): Promise<void> {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(app.store.db);
  await sql.raw(`pragma max_page_count = ${rows[0]?.page_count}`).execute(app.store.db);
}

async function freeDisk({ app }: TestProgram): Promise<void> {
  await sql.raw('pragma max_page_count = 1000000').execute(app.store.db);
}

async function problemOf(pass: Promise<void>): Promise<unknown> {
  return await pass.then(
    () => undefined,
    (error: unknown) => (error instanceof StoreError ? error.problem : error),
  );
}

describe('a full disk', () => {
  it('lets no create out that could not be recorded; when there is space the next pass sends each once', async () => {
    const { program, exchange } = await scriptedProgram();
    const ids = Array.from({ length: 20 }, (_, index) => id(index));
    program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    await fillDisk(program);
    for (let tries = 0; tries < 3; tries += 1) expect(await problemOf(createPass(program.app, NEVER))).toBe('disk');
    expect(exchange.requests).toHaveLength(0);
    expect(ids.map((one) => [program.row(one)['state'], program.row(one)['attempts']])).toEqual(
      ids.map(() => ['pending', 0]),
    );
    await freeDisk(program);
    await createPass(program.app, NEVER);
    expect(exchange.requests).toHaveLength(20);
    for (const one of ids) expect(program.states(one)).toEqual(['sending', 'accepted']);
  });

  it('does not lose the results of creates that were in flight: they are written once there is space', async () => {
    const { program, exchange } = await scriptedProgram();
    const { log } = program;
    const insert = (...ids: string[]) => program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    const before = Array.from({ length: 7 }, (_, index) => id(-1 - index));
    // Eight go together only after this many are answered.
    insert(...before);
    await createPass(program.app, NEVER);
    const ids = Array.from({ length: 8 }, (_, index) => id(index));
    insert(...ids);
    const full = Promise.withResolvers<void>();
    exchange.answer = async (request) => {
      if (exchange.count('POST') === before.length + ids.length) full.resolve(fillDisk(program));
      await full.promise;
      return echo(request);
    };
    const notYet = log.next(NOT_YET);
    const pass = createPass(program.app, NEVER);
    await notYet;
    expect(ids.map((one) => program.row(one)['state'])).toEqual(ids.map(() => 'sending'));
    await freeDisk(program);
    await settled(pass, program);
    for (const one of ids) expect(program.states(one)).toEqual(['sending', 'accepted']);
    // However many were in flight, and however often each was tried.
    expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject([{ msg: expect.stringMatching(NOT_YET) }]);
    expect(program.merchant.prepare('select count(*) from pre_orders').pluck().get()).toBe(15);
    expect(exchange.count('POST')).toBe(15);
  });

  it.each<[string, ScriptedAnswer, string]>([
    ['a refusal', { status: 400, body: '{"message":"no","code":"1","status":"BAD"}' }, 'rejected'],
    ['an outcome that is not known', 'reset', 'unknown'],
    ['429', { status: 429 }, 'pending'],
  ])('does not lose %s', async (_name, answer, state) => {
    const { program, exchange } = await scriptedProgram();
    const { log } = program;
    program.insert({ external_order_id: id(1) });
    exchange.answer = async () => {
      await fillDisk(program);
      return answer;
    };
    const notYet = log.next(NOT_YET);
    const pass = createPass(program.app, NEVER);
    await notYet;
    await freeDisk(program);
    await settled(pass, program);
    expect(program.states(id(1))).toEqual(['sending', state]);
  });

  it('leaves an order sending when the program must end before there is space, and the next owner verifies it', async () => {
    const { program, exchange } = await scriptedProgram();
    const { log } = program;
    program.insert({ external_order_id: id(1) });
    exchange.answer = async (request) => {
      await fillDisk(program);
      return echo(request);
    };
    const notYet = log.next(NOT_YET);
    const pass = problemOf(createPass(program.app, NEVER));
    await notYet;
    program.app.endGracePeriod();
    expect(await pass).toBe('disk');
    await program.restart();
    expect(program.states(id(1))).toEqual(['sending', 'unknown']);
    expect(exchange.count('POST')).toBe(1);
  });

  it('records nothing of a look-up by halves: row, events and record come together, later', async () => {
    const { program, exchange } = await scriptedProgram();
    program.insert({ external_order_id: id(1) });
    await createPass(program.app, NEVER);
    exchange.answer = ({ externalOrderId }) => record(externalOrderId, { status: 'PAID' });
    program.clock.advance(1_000);
    await fillDisk(program);
    program.clock.advance(DAY);
    expect(await problemOf(followPass(program.app, 'due', NEVER))).toBe('disk');
    expect(program.row(id(1))).toMatchObject({ state: 'accepted', order_status: null });
    expect(program.events(id(1))).toHaveLength(2);
    await freeDisk(program);
    await followPass(program.app, 'due', NEVER);
    expect(program.row(id(1))).toMatchObject({ state: 'open', order_status: 'PAID' });
    expect(program.events(id(1))).toHaveLength(6);
  });
});

describe('the daemon on a full disk', () => {
  it('continues by itself when there is space', async () => {
    const { program, exchange } = await scriptedProgram({ environment: { ORDER_SYNC_SCHEDULE_CRON: '* * * * * *' } });
    await program.app[Symbol.asyncDispose]();
    program.insert({ external_order_id: 'a' });
    let isFull = true;
    const all = (statement: SqliteStatement, parameters: readonly unknown[]) => {
      if (isFull) throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
      return statement.all(parameters);
    };
    const wrap = (text: string, statement: SqliteStatement): SqliteStatement =>
      text.startsWith('insert into "events"')
        ? {
            reader: true,
            run: (parameters) => statement.run(parameters),
            all: (parameters) => all(statement, parameters),
            iterate: (parameters) => statement.iterate(parameters),
          }
        : statement;
    const log = capturedLog();
    const cannotWrite = log.next(/nothing is sent until it can/);
    const created = log.next(/pre-order created/);
    const stopping = new AbortController();
    const daemon = runDaemon(program.config, stopping.signal, () => {}, { log: log.logger, store: { wrap } });
    await cannotWrite;
    expect(program.row('a')['state']).toBe('pending');
    expect(exchange.requests).toHaveLength(0);
    isFull = false;
    await created;
    stopping.abort();
    await daemon;
    expect(program.states('a').slice(0, 2)).toEqual(['sending', 'accepted']);
    expect(exchange.count('POST')).toBe(1);
  });
});

describe('a database file that is gone while it is open', () => {
  it('takes no write and lets no request out; nothing is lost when it is back', async () => {
    const { program, exchange } = await scriptedProgram();
    const { path } = program.config.database;
    program.insert({ external_order_id: 'a' });
    renameSync(path, `${path}.away`);
    await expect(createPass(program.app, NEVER)).rejects.toThrow(/moved or deleted while it was open/);
    writeFileSync(path, '');
    await expect(createPass(program.app, NEVER)).rejects.toThrow(/moved or deleted while it was open/);
    expect(exchange.requests).toHaveLength(0);
    renameSync(`${path}.away`, path);
    await createPass(program.app, NEVER);
    expect(program.states('a')).toEqual(['sending', 'accepted']);
  });
});

/** Results that wait for the disk are tried again once a second. */
async function settled(pass: Promise<void>, { clock }: TestProgram): Promise<void> {
  let isOver = false;
  const over = pass.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    clock.advance(1_000);
    await clock.turn();
  }
  await over;
}
