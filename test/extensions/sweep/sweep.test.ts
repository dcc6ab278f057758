import { describe, expect, it } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { compareNewRecords, sweep } from '../../../src/extensions/sweep/sweep.ts';
import type { FindingClassName } from '../../../src/findings/rules/classes.ts';
import { syncOnce } from '../../../src/orders/sync.ts';
import { scriptedProgram, type TestProgram, type TestProgramOptions } from '../../support/test-program.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../../support/scripted-exchange.ts';
import { DAY, HOUR, SECOND } from '../../support/tracking.ts';
import { ofSqlite } from '../../support/database.ts';

const NEVER = new AbortController().signal;

/** `id CLASS status` of every finding. */
const findings = ({ merchant }: TestProgram) =>
  merchant
    .prepare(
      `select external_order_id || ' ' || class || ' ' || status from findings order by external_order_id, class`,
    )
    .pluck()
    .all();

/** Orders that were accepted, looked up once with what the exchange then shows of them. */
async function followed(shown: Readonly<Record<string, ScriptedAnswer>>, options: TestProgramOptions = {}) {
  const { program, exchange } = await scriptedProgram(options);
  exchange.answer = (request) =>
    request.method === 'POST' ? echo(request) : (shown[request.externalOrderId] ?? NOT_FOUND);
  program.insert(...Object.keys(shown).map((external_order_id) => ({ external_order_id })));
  await createPass(program.app, NEVER);
  await followPass(program.app, 'all', NEVER);
  return { program, exchange };
}

describe('the sweep', () => {
  it('finds nothing of orders that were just looked up', async () => {
    const { program } = await followed({ a: record('a'), b: NOT_FOUND });
    await sweep(program.app, NEVER);
    expect(findings(program)).toEqual([]);
  });

  it('finds what time alone brings, once, and takes it back when it is no longer true', async () => {
    const shown: Record<string, ScriptedAnswer> = { none: NOT_FOUND, open: record('open') };
    const { program } = await followed(shown);
    program.clock.advance(DAY + SECOND);
    await sweep(program.app, NEVER);
    const all = ['none ORDER_MISSING', 'none UNCHECKED', 'open STUCK', 'open UNCHECKED'];
    expect(findings(program)).toEqual(all.map((one) => `${one} open`));
    await sweep(program.app, NEVER);
    expect(findings(program)).toHaveLength(4);
    await followPass(program.app, 'all', NEVER);
    expect(findings(program)).toEqual([
      'none ORDER_MISSING open',
      'none UNCHECKED resolved',
      'open STUCK open',
      'open UNCHECKED resolved',
    ]);
    shown['none'] = record('none');
    shown['open'] = record('open', { status: 'NEXT' });
    await followPass(program.app, 'all', NEVER);
    expect(findings(program)).toEqual(all.map((one) => `${one} resolved`));
  });

  it('takes back settled findings that were not judged', async () => {
    const { program } = await followed({ none: NOT_FOUND });
    program.clock.advance(DAY + SECOND);
    await sweep(program.app, NEVER);
    program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'abandoned'`);
    program.merchant.exec(`update findings set status = 'acknowledged' where class = 'ORDER_MISSING'`);
    await sweep(program.app, NEVER);
    expect(findings(program)).toEqual(['none ORDER_MISSING resolved', 'none UNCHECKED resolved']);
  });

  it('is told at once that a pre-order was given up, and no person needs to look for its order any more', async () => {
    const environment = { ORDER_SYNC_FOLLOW_GIVE_UP_AFTER: '2d' };
    const shown: Record<string, ScriptedAnswer> = { none: NOT_FOUND };
    const { program, exchange } = await followed(shown, { environment });
    program.clock.advance(DAY + SECOND);
    await sweep(program.app, NEVER);
    await followPass(program.app, 'all', NEVER);
    expect(findings(program)).toContain('none ORDER_MISSING open');
    program.clock.advance(DAY);
    await followPass(program.app, 'all', NEVER);
    expect(program.states('none')).toEqual(['sending', 'accepted', 'abandoned']);
    expect(findings(program)).toEqual(['none ORDER_MISSING resolved', 'none UNCHECKED resolved']);
    const lookups = exchange.count('GET');
    for (let week = 0; week < 4; week += 1) {
      program.clock.advance(7 * DAY);
      await followPass(program.app, 'due', NEVER);
    }
    expect(exchange.count('GET') - lookups).toBe(3);
  });

  it('finds a look-up that is too old by reconcile.freshFor, and a missing order by reconcile.orderMissingAfter', async () => {
    const environment = { ORDER_SYNC_RECONCILE_FRESH_FOR: '2h', ORDER_SYNC_RECONCILE_ORDER_MISSING_AFTER: '1h' };
    const { program } = await followed({ a: NOT_FOUND }, { environment });
    program.clock.advance(HOUR);
    await sweep(program.app, NEVER);
    expect(findings(program)).toEqual(['a ORDER_MISSING open']);
    program.clock.advance(HOUR + SECOND);
    await sweep(program.app, NEVER);
    expect(findings(program)).toEqual(['a ORDER_MISSING open', 'a UNCHECKED open']);
  });

  it('judges more orders than one page holds, in short transactions', ofSqlite('its commits are counted'), async () => {
    let commits = 0;
    const { program } = await scriptedProgram({
      overrides: {
        store: {
          wrap(sql, statement) {
            if (sql !== 'commit') return statement;
            const run = statement.run.bind(statement);
            return Object.assign(statement, {
              run: (parameters: readonly unknown[]) => {
                commits += 1;
                return run(parameters);
              },
            });
          },
        },
      },
    });
    const ids = Array.from({ length: 1_203 }, (_, index) => `o${index}`);
    program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1`);
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, state = 'accepted', sent_at = next_action_at`,
    );
    program.clock.advance(2 * DAY);
    commits = 0;
    await sweep(program.app, NEVER);
    expect(findings(program)).toHaveLength(2 * ids.length);
    expect(commits).toBeGreaterThanOrEqual(1_203 / 50);
    commits = 0;
    await sweep(program.app, NEVER);
    expect(commits).toBe(0);
    program.clock.advance(DAY);
    await sweep(program.app, NEVER);
    const seen = program.merchant.prepare('select distinct last_seen_at from findings').pluck().all();
    expect(seen).toEqual([program.clock.now().toISOString()]);
  });

  it('stops between two pages when it must', async () => {
    const { program } = await followed({ a: NOT_FOUND });
    program.clock.advance(2 * DAY);
    await sweep(program.app, AbortSignal.abort());
    expect(findings(program)).toEqual([]);
  });
});

describe('records that an older version kept', () => {
  /** Such a record as it is after the migration. */
  const forget = ({ merchant }: TestProgram) =>
    merchant.exec('update order_records set compared_at = null, input_asset = null, from_currency = null');

  it('are compared once, with their columns filled in, every digit kept', async () => {
    const { program } = await followed({ a: record('a'), b: record('b') });
    const body = bodyWith('12345678901234567890.10');
    program.merchant.prepare(`update order_records set body = ? where external_order_id = 'a'`).run(body);
    forget(program);
    await compareNewRecords(program.app, NEVER);
    expect(findings(program)).toEqual(['a AMOUNT_MISMATCH open']);
    const kept = program.merchant.prepare('select input_asset, compared_at is null as waits from order_records');
    expect(kept.all()).toEqual([
      { input_asset: '12345678901234567890.10', waits: 0 },
      { input_asset: '1.5', waits: 0 },
    ]);
  });

  it('are compared page by page, also if they cannot be read', async () => {
    const { program } = await followed({ a: record('a') });
    const insert = program.merchant.prepare(
      `insert into order_records (account, external_order_id, body, received_at) values ('default', ?, ?, ?)`,
    );
    for (let index = 0; index < 123; index += 1)
      insert.run(`gone-${index}`, 'no JSON', program.clock.now().toISOString());
    program.merchant.prepare(`update order_records set body = '[]' where external_order_id = 'a'`).run();
    forget(program);
    await compareNewRecords(program.app, NEVER);
    expect(findings(program)).toEqual(['a UNCHECKED open']);
  });

  it('are compared once more when the settings of the comparison are others', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => `o${index}`);
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) =>
      request.method === 'POST' ? echo(request) : withAmount(request.externalOrderId, '1.51');
    program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    await createPass(program.app, NEVER);
    await followPass(program.app, 'all', NEVER);
    const sweepWith = (tolerance: string) =>
      compareNewRecords({ ...program.app, settings: { ...program.app.settings, tolerance } }, NEVER);
    const recorded = () => new Set(findings(program).map((one) => String(one).replace(/^o\d+ /, '')));
    await sweepWith('0');
    expect(recorded()).toEqual(new Set(['AMOUNT_MISMATCH open']));
    await sweepWith('0.01');
    expect(recorded()).toEqual(new Set(['AMOUNT_MISMATCH resolved']));
    program.merchant.exec(`update findings set status = 'open'`);
    await sweepWith('0.01');
    expect(recorded()).toEqual(new Set(['AMOUNT_MISMATCH open']));
    await sweepWith('0');
    expect(findings(program)).toHaveLength(ids.length);
  });

  it('resolve the findings of a class that is ignored, also those of a pre-order, and find them again when it counts', async () => {
    const { program } = await followed({ a: record('a', { fiat: 'PAID' }), b: NOT_FOUND });
    const { merchant } = program;
    merchant.exec(
      `update order_records set body = replace(body, '"fiatTransaction":{', '"fiatTransaction":{"currency":"USD",')`,
    );
    merchant.exec(
      `update order_records set body = replace(body, '"cryptoTransaction":{', '"cryptoTransaction":{"currency":"BTC",')`,
    );
    merchant.exec(`insert into findings (account, class, severity, external_order_id, first_seen_at, last_seen_at, status)
      select account, 'PREORDER_TOKEN_MISMATCH', 'error', external_order_id, created_at, created_at, 'acknowledged'
      from merchant_orders where external_order_id = 'b'`);
    const sweepWith = (...ignore: FindingClassName[]) =>
      compareNewRecords({ ...program.app, settings: { ...program.app.settings, ignore } }, NEVER);
    await sweepWith('TX_HASH_REUSED');
    await sweepWith();
    expect(findings(program)).toEqual(
      expect.arrayContaining(['a LEG_CURRENCY_MISMATCH open', 'b PREORDER_TOKEN_MISMATCH acknowledged']),
    );
    await sweepWith('LEG_CURRENCY_MISMATCH', 'PREORDER_TOKEN_MISMATCH');
    expect(findings(program)).toEqual(
      expect.arrayContaining(['a LEG_CURRENCY_MISMATCH resolved', 'b PREORDER_TOKEN_MISMATCH resolved']),
    );
    await sweepWith();
    expect(findings(program)).toContain('a LEG_CURRENCY_MISMATCH open');
  });

  it('give an order that is not looked up any more the outcome of a changed follow.succeededStatuses', async () => {
    const environment = {
      ORDER_SYNC_FOLLOW_SUCCEEDED_STATUSES: 'COMPLETED',
      ORDER_SYNC_FOLLOW_RECHECK_FINAL_AFTER: '',
    };
    const done = { status: 'PAID_OUT', completionDate: '2026-01-05T12:00:00Z', serverDate: '2026-01-05T12:00:00Z' };
    const shown = { a: record('a', done), b: record('b', { ...done, status: 'COMPLETED' }), c: record('c') };
    const { program, exchange } = await followed(shown, { environment });
    const sweepWith = (...succeededStatuses: string[]) =>
      compareNewRecords({ ...program.app, settings: { ...program.app.settings, succeededStatuses } }, NEVER);
    const outcomes = () => ['a', 'b', 'c'].map((id) => program.row(id)['outcome']);
    await sweepWith('COMPLETED');
    expect([program.row('a')['next_action_at'], outcomes()]).toEqual([null, ['failed', 'succeeded', null]]);
    const [lookups, revision] = [exchange.count('GET'), Number(program.row('a')['revision'])];
    // The next sweep corrects an order that cannot be written now.
    program.merchant.exec(`create trigger refusing before update on merchant_orders
      when new.external_order_id = 'a' begin select raise(abort, 'not now'); end`);
    await sweepWith('COMPLETED', 'PAID_OUT');
    expect(outcomes()).toEqual(['failed', 'succeeded', null]);
    program.merchant.exec('drop trigger refusing');
    await sweepWith('COMPLETED', 'PAID_OUT');
    expect(outcomes()).toEqual(['succeeded', 'succeeded', null]);
    expect([exchange.count('GET'), program.row('a')['revision']]).toEqual([lookups, revision + 1]);
    await sweepWith();
    expect(outcomes()).toEqual([null, null, null]);
  });

  it('do not count as new: their findings are of the time at which they came', async () => {
    const { program } = await followed({ a: record('a', { serverDate: '2026-01-05T12:00:00Z' }) });
    forget(program);
    program.clock.advance(HOUR);
    await compareNewRecords(program.app, NEVER);
    expect(findings(program)).toEqual([]);
    const received = program.merchant.prepare('select received_at from order_records').pluck().get();
    expect(received).toBe('2026-01-05T12:00:00.000Z');
  });
});

describe('the end of sync', () => {
  it('sweeps, and asks for a person while findings are open, not when they are acknowledged or only explain', async () => {
    const { program } = await followed({ none: NOT_FOUND });
    program.clock.advance(DAY);
    const sync = async () => {
      const { end, summary } = await syncOnce(program.app, 'all', NEVER);
      return [end, summary.findings];
    };
    expect(await sync()).toEqual(['look', 1]);
    expect(await sync()).toEqual(['look', 1]);
    program.merchant.exec(`update findings set status = 'acknowledged'`);
    expect(await sync()).toEqual(['done', 0]);
    program.merchant
      .exec(`insert into findings (account, class, severity, external_order_id, first_seen_at, last_seen_at)
      values ('default', 'REPLICAS_DISAGREE', 'info', 'none', '2026', '2026')`);
    expect(await sync()).toEqual(['done', 0]);
  });

  it('does not sweep when the time has run out', async () => {
    const { program, exchange } = await followed({ none: NOT_FOUND });
    exchange.answer = () => refusal(503);
    program.clock.advance(2 * DAY);
    const { end } = await syncOnce(program.app, 'all', AbortSignal.abort());
    expect([end, findings(program)]).toEqual(['out-of-time', []]);
  });
});

function bodyWith(inputAsset: string, id = 'a'): string {
  const { body } = record(id) as { body: string };
  return body.replace('"inputAsset":1.5', `"inputAsset":${inputAsset}`);
}

function withAmount(id: string, inputAsset: string): ScriptedAnswer {
  return { status: 200, body: bodyWith(inputAsset, id) };
}
