import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../support/cli-function.ts';
import { testProcesses } from '../../../support/program-processes.ts';
import {
  scriptedExchange,
  NOT_FOUND,
  record,
  refusal,
  type ScriptedAnswer,
} from '../../../support/scripted-exchange.ts';

const DAY_MS = 24 * 60 * 60_000;
const LONG_AGO = '2024-02-01T10:00:00Z';

/** An exchange that has these orders, made before order-sync was used, and an empty table. */
async function before(answers: Readonly<Record<string, ScriptedAnswer>>) {
  const exchange = await scriptedExchange();
  exchange.answer = ({ externalOrderId }) => answers[externalOrderId] ?? NOT_FOUND;
  const on = await testProcesses({}, { ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url });
  const place = { cwd: dirname(on.path), environment: on.environment };
  const file = join(place.cwd, 'earlier.csv');
  const adopt = async (...ids: string[]) => {
    const rows = ids.map((id) => `${id},1.5,BTC,EUR\n`);
    writeFileSync(file, `external_order_id,asset,from_currency,to_currency\n${rows.join('')}`);
    const { code, stdout } = await runProgram(['orders', 'adopt', file, '--json'], place);
    const lines = stdout.trim().split('\n').filter(Boolean);
    const results = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    return [code, Object.fromEntries(results.map(({ external_order_id: id, result, state }) => [id, [result, state]]))];
  };
  const rows = () =>
    on.merchant
      .prepare('select external_order_id as id, state, attempts, sent_at, adopted_at from merchant_orders order by 1')
      .all();
  return { on, exchange, place, file, adopt, rows, answers };
}

const old = (id: string, more: Readonly<Record<string, unknown>> = {}) =>
  record(id, {
    id: `o-${id}`,
    creationDate: LONG_AGO,
    modificationDate: LONG_AGO,
    serverDate: new Date().toISOString(),
    ...more,
  });

describe('orders adopt', () => {
  it('takes over the orders that the exchange has, and creates nothing; other orders are named and not inserted', async () => {
    const { on, exchange, adopt, rows, place } = await before({
      open: old('open'),
      paid: old('paid', { status: 'COMPLETED', completionDate: LONG_AGO }),
    });
    on.insert(1, 'there');
    expect(await adopt('open', 'paid', 'lost', 'there-0')).toEqual([
      1,
      {
        open: ['adopted', 'open'],
        paid: ['adopted', 'final'],
        lost: ['absent', null],
        'there-0': ['present', 'pending'],
      },
    ]);
    const adopted = { attempts: 0, sent_at: null, adopted_at: expect.any(String) as string };
    expect(rows()).toEqual([
      { id: 'open', state: 'open', ...adopted },
      { id: 'paid', state: 'final', ...adopted },
      { id: 'there-0', state: 'pending', attempts: 0, sent_at: null, adopted_at: null },
    ]);
    expect(exchange.count('POST')).toBe(0);
    expect(on.merchant.prepare('select class from findings').pluck().all()).toEqual([]);
    // The file once more asks only for what is not in the table.
    expect(await adopt('open', 'paid')).toMatchObject([0, { open: ['present', 'open'], paid: ['present', 'final'] }]);
    expect(exchange.count('GET')).toBe(3);
    expect(await runProgram(['orders', 'explain', 'open'], place)).toMatchObject({ code: 0 });
  });

  it('names how to insert an order that may still have a pre-order, which is not sent then', async () => {
    const { exchange, file, place, adopt, on } = await before({ open: old('open') });
    expect(await adopt('open', 'lost')).toMatchObject([1, { lost: ['absent', null] }]);
    const { stderr } = await runProgram(['orders', 'adopt', file], place);
    const [, words = ''] = /: \S+ (orders import FILE .*)\n$/.exec(stderr) ?? [];
    const command = words.split(' ').map((word) => (word === 'FILE' ? file : word));
    expect(await runProgram(command, place)).toMatchObject({ code: 0 });
    await runProgram(['sync'], place);
    expect(exchange.count('POST')).toBe(0);
    expect(on.states()).toEqual({ open: 1, unknown: 1 });
  });

  it('judges an order that it takes over as any other: one that contradicts the file is disputed', async () => {
    const { adopt, on } = await before({
      other: record('other', {
        exchangeOperation: { currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' }, inputAsset: 9 },
      }),
    });
    expect(await adopt('other')).toEqual([0, { other: ['adopted', 'disputed'] }]);
    expect(on.merchant.prepare('select class from findings').pluck().all()).toEqual(['AMOUNT_MISMATCH']);
  });

  it('is followed afterwards, and is still no collision of ids', async () => {
    const answers: Record<string, ScriptedAnswer> = { open: old('open') };
    const { adopt, on, place } = await before(answers);
    await adopt('open');
    const completed = new Date(Date.now() - DAY_MS).toISOString();
    answers['open'] = old('open', {
      status: 'COMPLETED',
      modificationDate: completed,
      completionDate: completed,
    });
    expect(await runProgram(['sync'], place)).toMatchObject({ code: 0 });
    expect(on.states()).toEqual({ final: 1 });
  });

  it('inserts nothing about which the exchange gave no answer, and ends with 69', async () => {
    const { adopt, rows } = await before({ odd: { status: 500, body: 'no' }, other: refusal(400) });
    expect(await adopt('odd', 'other')).toEqual([69, { odd: ['unanswered', null], other: ['unanswered', null] }]);
    expect(rows()).toEqual([]);
  });

  it('names the lines that are wrong, takes over the others, and ends with 65', async () => {
    const { file, place, rows } = await before({ open: old('open') });
    writeFileSync(file, 'external_order_id,asset,from_currency,to_currency\nbad,-1,BTC,EUR\nopen,1.5,BTC,EUR\n');
    const { code, stdout } = await runProgram(['orders', 'adopt', file, '--json'], place);
    expect([
      code,
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { line: number }).line)
        .toSorted((one, other) => one - other),
    ]).toEqual([65, [2, 3]]);
    expect(rows()).toMatchObject([{ id: 'open', state: 'open' }]);
  });

  it('names the column that is wrong in the header', async () => {
    const { file, place } = await before({});
    writeFileSync(file, 'external_order_id,asset,from_currency,to_currency,colour\nopen,1.5,BTC,EUR,red\n');
    const { code, stdout } = await runProgram(['orders', 'adopt', file, '--json'], place);
    expect([code, (JSON.parse(stdout) as { why: string }).why]).toEqual([65, expect.stringContaining('colour')]);
  });

  it('goes through the daemon if one runs', async () => {
    const { on, adopt, rows, exchange } = await before({ open: old('open') });
    await on.start(['run']);
    expect(await adopt('open', 'lost')).toEqual([1, { open: ['adopted', 'open'], lost: ['absent', null] }]);
    expect(rows()).toMatchObject([{ id: 'open', state: 'open' }]);
    expect(exchange.count('POST')).toBe(0);
  });
});
