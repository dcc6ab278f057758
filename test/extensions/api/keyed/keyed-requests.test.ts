import { describe, expect, it, vi } from 'vitest';
import type { Result } from '../../../../src/extensions/api/envelope.ts';
import { decideOnce } from '../../../../src/extensions/api/keyed/keyed-requests.ts';
import type { CalledDeps } from '../../../../src/extensions/api/operation.ts';
import { OPERATIONS } from '../../../../src/extensions/clients/operations.ts';
import { DECISIONS } from '../../../../src/extensions/operate/decisions.ts';
import { StoreError } from '../../../../src/store/errors.ts';
import { link } from '../../../support/linked.ts';
import { refusal, type ScriptedAnswer } from '../../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../../support/test-program.ts';
import { DAY, SECOND } from '../../../support/tracking.ts';

const EMAIL = 'canary.person@shop.example';

/** A program with an order that waits, and callers of its operations. */
async function keyed() {
  const { program, exchange } = await scriptedProgram();
  program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
  const deps = (key?: string, name = 'shop'): CalledDeps => ({
    ...program.app,
    wakeCreates: () => {},
    caller: { name, scopes: ['decide'], accounts: 'all' },
    idempotencyKey: key,
  });
  return {
    program,
    exchange,
    deps,
    cancel: (key?: string, externalOrderId = 'a', reason = 'r', name = 'shop') =>
      DECISIONS.cancelOrder.run(deps(key, name), { externalOrderId, reason }),
    create: (key?: string, email = EMAIL, reference: string | null = null) =>
      OPERATIONS.createLink.run(deps(key), { email, reference }),
  };
}

const kept = ({ merchant }: TestProgram) =>
  merchant.prepare('select * from idempotent_requests order by made_at').all() as Record<string, unknown>[];
const cancelled = (id: string) => JSON.stringify({ externalOrderId: id, from: 'pending', to: 'cancelled' });
const REUSED = { kind: 'invalid', httpStatus: 422, reason: 'key-reused' };
const NO_ANSWER = { kind: 'unknown', httpStatus: 409 };

describe('a decision with an Idempotency-Key', () => {
  it('is made once: the same request gets the kept answer, also from another process after a restart', async () => {
    const { program, cancel } = await keyed();
    expect(await cancel('key-1')).toEqual({ kind: 'ok', body: cancelled('a'), httpStatus: 200 });
    program.clock.advance(SECOND);
    const again = { kind: 'ok', body: cancelled('a'), httpStatus: 200, isReplay: true };
    expect(await cancel('key-1')).toEqual(again);
    await program.restart();
    expect(await cancel('key-1')).toEqual(again);
    expect(program.states('a')).toEqual(['cancelled']);
    expect(await cancel()).toMatchObject({ kind: 'invalid', httpStatus: 409, reason: 'conflict' });
  });

  it('is refused if another request has used the key: of another order, reason or operation', async () => {
    const { program, cancel, create, exchange, deps } = await keyed();
    await cancel('key-1');
    expect(await cancel('key-1', 'b')).toMatchObject(REUSED);
    expect(await cancel('key-1', 'a', 'another reason')).toMatchObject(REUSED);
    expect(await create('key-1')).toMatchObject(REUSED);
    expect(await DECISIONS.retryOrder.run(deps('key-1'), { externalOrderId: 'a', reason: 'r' })).toMatchObject(REUSED);
    expect(program.row('b')['state']).toBe('pending');
    expect(exchange.requests).toEqual([]);
  });

  it('has a key of its own for each caller', async () => {
    const { cancel } = await keyed();
    await cancel('key-1');
    expect(await cancel('key-1', 'b', 'r', 'back office')).toMatchObject({ kind: 'ok', body: cancelled('b') });
  });

  it('is made once of many that come at the same moment', async () => {
    const { program, cancel } = await keyed();
    const results = await Promise.all(Array.from({ length: 9 }, () => cancel('key-1')));
    expect(new Set(results.map((result) => result.kind === 'ok' && result.body))).toEqual(new Set([cancelled('a')]));
    expect(results.filter((result) => 'isReplay' in result)).toHaveLength(8);
    expect(program.states('a')).toEqual(['cancelled']);
  });

  it('is not made if its answer cannot be kept', async () => {
    const { program, cancel } = await keyed();
    program.merchant.exec('alter table idempotent_requests rename to renamed');
    await expect(cancel('key-1')).rejects.toThrow('idempotent_requests');
    expect([program.row('a')['state'], program.states('a')]).toEqual(['pending', []]);
    program.merchant.exec('alter table renamed rename to idempotent_requests');
    expect(await cancel('key-1')).toMatchObject({ kind: 'ok', body: cancelled('a') });
  });

  it('leaves no answer if it is broken off', async () => {
    const { program, deps, cancel } = await keyed();
    const broken = decideOnce(deps('key-1'), ['x'], async (tx) => {
      await tx
        .insertInto('seen_statuses')
        .values({ account: 'default', field: 'f', value: 'v', first_seen_at: '' })
        .execute();
      throw new Error('broken off');
    });
    await expect(broken).rejects.toThrow('broken off');
    expect(kept(program)).toEqual([]);
    expect(await cancel('key-1')).toMatchObject({ kind: 'ok' });
  });

  it('may be tried again with the same key if it was refused', async () => {
    const { program, cancel } = await keyed();
    expect(await cancel('key-1', 'c')).toMatchObject({ httpStatus: 404, reason: 'not-found' });
    program.insert({ external_order_id: 'c' });
    expect(await cancel('key-1', 'c')).toMatchObject({ kind: 'ok', body: cancelled('c') });
  });
});

describe('a kept answer', () => {
  it('is kept for a day; older ones go with the next requests, a few at a time', async () => {
    const { program, cancel } = await keyed();
    await cancel('key-1');
    const old = program.merchant.prepare(
      `insert into idempotent_requests (account, key_hash, body_hash, made_at) values ('default', ?, '', '2026-01-01')`,
    );
    for (let row = 0; row < 30; row += 1) old.run(`hash-${row}`);
    program.clock.advance(DAY);
    expect(await cancel('key-1')).toMatchObject({ kind: 'ok', isReplay: true });
    expect(kept(program)).toHaveLength(26);
    program.clock.advance(1);
    expect(await cancel('key-1')).toMatchObject({ kind: 'invalid', reason: 'conflict' });
    expect(kept(program)).toHaveLength(21);
  });

  it('is replaced by that of a new request of its key if it is older and still there', async () => {
    const { program, cancel } = await keyed();
    await cancel('key-1');
    const old = program.merchant.prepare(
      `insert into idempotent_requests (account, key_hash, body_hash, made_at) values ('default', ?, '', '2026-01-01')`,
    );
    for (let row = 0; row < 30; row += 1) old.run(`hash-${row}`);
    program.clock.advance(DAY + 1);
    expect(await cancel('key-1', 'b')).toMatchObject({ kind: 'ok', body: cancelled('b') });
    expect(await cancel('key-1', 'b')).toMatchObject({ isReplay: true });
  });

  it('tells neither the key nor anything of the body to who does not know the key', async () => {
    const { program, exchange, create } = await keyed();
    exchange.answer = () => ({ status: 200, body: `{"linkId":"l1","status":"NEW","email":"${EMAIL}"}` });
    for (const key of ['canary-key-1', 'canary-key-2']) await create(key, EMAIL, 'customer-7');
    const rows = kept(program);
    expect(JSON.stringify([rows, program.log.lines])).not.toMatch(/canary|customer-7/);
    expect(new Set(rows.map((row) => row['body_hash'])).size).toBe(2);
    expect(rows.map((row) => row['answer'])).toEqual(Array(2).fill('{"linkId":"l1","status":"NEW"}'));
  });
});

describe('a link that is made with an Idempotency-Key', () => {
  it('is made once: the same request gets its id again, after a restart too', async () => {
    const { program, exchange, create } = await keyed();
    exchange.answer = () => link('l1');
    expect(await create('key-1')).toMatchObject({ kind: 'ok' });
    await program.restart();
    const again = { kind: 'ok', body: '{"linkId":"l1","status":"NOT_VERIFIED"}', httpStatus: 200, isReplay: true };
    expect(await create('key-1')).toEqual(again);
    expect(await create('key-1', 'another@shop.example')).toMatchObject(REUSED);
    expect(await create('key-1', EMAIL, 'customer-7')).toMatchObject(REUSED);
    expect(exchange.count('POST')).toBe(1);
  });

  it('is asked for once while a request is in flight, and after a crash in between', async () => {
    const { program, exchange, create } = await keyed();
    const arrived = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<ScriptedAnswer>();
    exchange.answer = () => {
      arrived.resolve();
      return answer.promise;
    };
    const first = create('key-1');
    await arrived.promise;
    expect(kept(program)).toMatchObject([{ answer: null, http_status: null }]);
    expect(await create('key-1')).toMatchObject(NO_ANSWER);
    expect(await create('key-1', 'another@shop.example')).toMatchObject(REUSED);
    program.app.endGracePeriod();
    await first.catch(() => {});
    await program.restart();
    answer.resolve(link('l1'));
    expect(await create('key-1')).toMatchObject(NO_ANSWER);
    expect(exchange.count('POST')).toBe(1);
    program.clock.advance(DAY + 1);
    expect(await create('key-1')).toMatchObject({ kind: 'ok' });
  });

  it.each<[string, ScriptedAnswer]>([
    ['is lost', 'reset'],
    ['cannot be read', { status: 200, body: 'yes' }],
  ])('is not asked for again if the answer %s', async (_name, answer) => {
    const { exchange, create } = await keyed();
    exchange.answer = () => answer;
    expect(await create('key-1')).toMatchObject({ kind: 'unknown' });
    expect(await create('key-1')).toMatchObject(NO_ANSWER);
    expect(exchange.count('POST')).toBe(1);
  });

  it('is not asked for again if it was made and could not be stored', async () => {
    const { program, exchange, create } = await keyed();
    exchange.answer = () => link('l1');
    program.merchant.exec('alter table links rename to renamed');
    await expect(create('key-1')).rejects.toThrow('links');
    program.merchant.exec('alter table renamed rename to links');
    expect(await create('key-1')).toMatchObject(NO_ANSWER);
    expect(exchange.count('POST')).toBe(1);
  });

  it.each<[string, ScriptedAnswer, Result['kind']]>([
    ['the exchange refuses it', refusal(400), 'refused'],
    ['the exchange limits the rate', { status: 429, headers: { 'retry-after': '0' } }, 'rate-limited'],
    ['the exchange refuses the key', { status: 401 }, 'key-refused'],
  ])('may be asked for again if %s', async (_name, answer, kind) => {
    const { program, exchange, create } = await keyed();
    exchange.answer = () => answer;
    expect(await create('key-1')).toMatchObject({ kind });
    expect(kept(program)).toEqual([]);
    exchange.answer = () => link('l1');
    program.clock.advance(10 * SECOND);
    expect(await create('key-1')).toMatchObject({ kind: 'ok' });
    expect(await create('key-1')).toMatchObject({ isReplay: true });
  });

  it('may be asked for again if it was never sent', async () => {
    const { program, create } = await keyed();
    await expect(create('key-1', EMAIL, `of ${EMAIL}`)).rejects.toThrow('reference');
    expect(kept(program)).toEqual([]);
  });

  it('may be asked for again if the database kept it from being sent', async () => {
    const { program, exchange, create } = await keyed();
    exchange.answer = () => link('l1');
    const { writer } = program.app.store;
    const write = writer.write.bind(writer);
    vi.spyOn(writer, 'write')
      .mockImplementationOnce(write)
      .mockRejectedValueOnce(new StoreError('disk', 'the disk is full'));
    await expect(create('key-1')).rejects.toThrow('the disk is full');
    expect([exchange.requests, kept(program)]).toEqual([[], []]);
    expect(await create('key-1')).toMatchObject({ kind: 'ok' });
  });

  it('is sent each time without a key', async () => {
    const { exchange, create } = await keyed();
    exchange.answer = () => link('l1');
    expect([await create(), await create()]).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
    expect(exchange.count('POST')).toBe(2);
  });
});
