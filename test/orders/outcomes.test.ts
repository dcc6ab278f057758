import type { SqliteStatement } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { FindingClassName } from '../../src/findings/rules/classes.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { isSqlite } from '../support/database.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { echo, refusal, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-exchange.ts';
import { DAY } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';

const NEVER = new AbortController().signal;

/** One order, created against an exchange that answers creates so. */
async function created(answer: ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer), environment = {}) {
  const { program, exchange } = await scriptedProgram({ environment });
  const answerLookups = exchange.answer;
  exchange.answer = (request) => {
    if (request.method === 'GET') return answerLookups(request);
    return typeof answer === 'function' ? answer(request) : answer;
  };
  program.insert({ external_order_id: 'a' });
  await createPass(program.app, NEVER);
  return { program, exchange };
}

async function pass(program: TestProgram): Promise<void> {
  await createPass(program.app, NEVER);
  await followPass(program.app, 'due', NEVER);
}

function findings(program: TestProgram, id = 'a'): unknown[] {
  return program.merchant
    .prepare(`select reason from order_events where external_order_id = ? and field = 'finding' order by id`)
    .pluck()
    .all(id);
}

describe('before a request leaves', () => {
  it('its intent is durable: whoever reads the database sees the order sending', async () => {
    const { program, exchange } = await scriptedProgram();
    let seen: Record<string, unknown> = {};
    exchange.answer = (request) => {
      seen = program.row(request.externalOrderId);
      return echo(request);
    };
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    expect(seen).toMatchObject({ state: 'sending', attempts: 1, sent_at: program.clock.now().toISOString() });
  });
});

describe('a create that was never sent', () => {
  it('goes back to pending when the connection is refused, and says so', async () => {
    const { program, exchange } = await scriptedProgram();
    await exchange[Symbol.asyncDispose]();
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    expect(program.states('a')).toEqual(['sending', 'pending']);
    expect(program.row('a')).toMatchObject({
      state_reason: expect.stringMatching(/^not sent: POST .*ECONNREFUSED$/) as string,
      next_action_at: '2026-01-05T12:00:01.500Z',
    });
  });
});

describe('a backlog while nothing listens', () => {
  it('is not read through: the pass ends if the exchange cannot serve', async () => {
    let pages = 0;
    const wrap = (text: string, statement: SqliteStatement): SqliteStatement => {
      if (!/next_action_at"? <= /.test(text)) return statement;
      const all = (parameters: readonly unknown[]) => {
        pages += 1;
        return statement.all(parameters);
      };
      return { reader: true, all, run: (parameters) => statement.run(parameters), iterate: () => [].values() };
    };
    const { program, exchange } = await scriptedProgram({ overrides: { store: { wrap } } });
    await exchange[Symbol.asyncDispose]();
    program.insert(...Array.from({ length: 2_000 }, (_, index) => ({ external_order_id: `o${index}` })));
    await createPass(program.app, NEVER);
    // Statements of PostgreSQL are not wrapped.
    if (isSqlite()) expect(pages).toBeGreaterThan(0);
    expect(pages).toBeLessThanOrEqual(3);
  });
});

describe('an outcome for an order that is not sending any more', () => {
  it('is decided on the order as it stands, and the pass says so', async () => {
    const { program, exchange } = await scriptedProgram();
    const { log } = program;
    exchange.answer = (request) => {
      unguarded(program.merchant, () =>
        program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'held'`),
      );
      return echo(request);
    };
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    expect(log.with(/after the state of its order had changed/)).toMatchObject([
      { externalOrderId: 'a', stateBefore: 'held', state: 'accepted', outcome: 'accepted', preOrderId: 'p1' },
    ]);
    expect(program.row('a')).toMatchObject({ state: 'accepted', pre_order_id: 'p1' });
    expect(program.states('a')).toEqual(['sending', 'accepted']);
  });
});

describe('an outcome for an order that another owner is sending by now', () => {
  it('says nothing of the request of the other', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => {
      const again = `update merchant_orders set revision = revision + 1, attempts = attempts + 1`;
      unguarded(program.merchant, () => program.merchant.exec(again));
      return { status: 429 };
    };
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    expect(program.row('a')).toMatchObject({ state: 'sending', attempts: 2 });
    expect(program.states('a')).toEqual(['sending']);
    // Nor does the log say that the order will be sent again: that is for the other to say.
    expect(program.log.lines.filter(({ externalOrderId }) => externalOrderId === 'a')).toMatchObject([
      { stateBefore: 'sending', state: 'sending', outcome: 'rate-limited' },
    ]);
    expect(program.app.observers.counters).toMatchObject({ sent: 1, failed: 1 });
  });
});

describe('a create that was answered 429', () => {
  const tooMany = (retryAfter?: string): ScriptedAnswer => ({
    status: 429,
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  });

  it.each([
    ['seconds', '30', '2026-01-05T12:00:30.000Z'],
    ['a date', 'Mon, 05 Jan 2026 12:01:30 GMT', '2026-01-05T12:01:30.000Z'],
    ['nothing', undefined, '2026-01-05T12:00:05.000Z'],
    ['what cannot be read', 'soon', '2026-01-05T12:00:05.000Z'],
    ['a date that has passed', 'Mon, 05 Jan 2026 11:00:00 GMT', '2026-01-05T12:00:00.000Z'],
    ['a year', '31536000', '2026-01-06T12:00:00.000Z'],
  ])(
    'with %s to wait goes back to pending for as long, and is sent once more then',
    async (_name, retryAfter, until) => {
      const { program, exchange } = await created(tooMany(retryAfter));
      expect(program.row('a')).toMatchObject({ state: 'pending', next_action_at: until });
      exchange.answer = echo;
      const waitMs = Date.parse(until) - program.clock.now().getTime();
      program.clock.advance(Math.max(0, waitMs - 1));
      await createPass(program.app, NEVER);
      expect(exchange.count('POST')).toBe(1);
      program.clock.advance(1_001);
      await createPass(program.app, NEVER);
      expect(program.states('a')).toEqual(['sending', 'pending', 'sending', 'accepted']);
      expect(exchange.count('POST')).toBe(2);
    },
  );
});

describe('a create that was answered 401', () => {
  it('goes back to pending, and is sent when the key works again', async () => {
    const { program, exchange } = await created(refusal(401, 'invalid x-api-key'));
    program.insert({ external_order_id: 'b' });
    await createPass(program.app, NEVER);
    expect(exchange.count('POST')).toBe(1);
    exchange.answer = (request) => echo(request);
    program.clock.advance(10_000);
    await createPass(program.app, NEVER);
    expect([program.row('a')['state'], program.row('b')['state']]).toEqual(['accepted', 'accepted']);
    expect(program.app.restraints.all).toEqual([]);
  });

  it('goes back to pending also when the body is not the documented one', async () => {
    const { program } = await created({ status: 401, body: '<html>' });
    expect(program.row('a')['state']).toBe('pending');
  });
});

describe('a create that was refused', () => {
  it.each([400, 404, 422])(
    'with %i and the documented error is rejected, with the message, for good',
    async (status) => {
      const { program, exchange } = await created(refusal(status, 'asset too small'));
      expect(program.row('a')).toMatchObject({
        state: 'rejected',
        state_reason: `HTTP ${status} REFUSED: asset too small`,
      });
      program.clock.advance(30 * DAY);
      await pass(program);
      expect(exchange.count('POST')).toBe(1);
    },
  );

  it.each([400, 403, 404, 422])('with %i and another body is unknown', async (status) => {
    for (const body of [
      '',
      '<html></html>',
      '{"message":"no"}',
      '{"status":400,"error":"Bad Request"}',
      '[]',
      'null',
    ]) {
      const { program } = await created({ status, body });
      expect(program.row('a')).toMatchObject({
        state: 'unknown',
        state_reason: expect.stringContaining(`HTTP ${status}`) as string,
      });
    }
  });
});

describe('a refusal that the document does not show', () => {
  const SPRING_400 = { status: 400, body: '{"timestamp":1,"status":400,"error":"Bad Request"}' };

  it('of 30 rows keeps no other row unsent', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => (request.externalOrderId.startsWith('odd') ? SPRING_400 : echo(request));
    const odd = Array.from({ length: 30 }, (_, index) => ({ external_order_id: `odd-${index}` }));
    program.insert(...odd, { external_order_id: 'z' });
    await createPass(program.app, NEVER);
    expect([program.row('odd-29')['state'], program.row('z')['state']]).toEqual(['unknown', 'accepted']);
  });

  it('rejects if the merchant has confirmed that nothing is made then', async () => {
    const { program } = await created(SPRING_400, { ORDER_SYNC_CREATE_REFUSED_BY: 'status' });
    expect(program.row('a')).toMatchObject({
      state: 'rejected',
      state_reason: expect.stringContaining('HTTP 400') as string,
    });
  });
});

describe('a create whose answer proves nothing', () => {
  const documented = (status: number) => refusal(status);
  it.each<[string, ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer)]>([
    ...[301, 302, 303, 307, 308].map((status): [string, ScriptedAnswer] => [
      `redirect ${status}`,
      { status, headers: { location: '/elsewhere' } },
    ]),
    ...[402, 405, 408, 409, 410, 418, 425, 500, 502, 503, 504].map((status): [string, ScriptedAnswer] => [
      `${status} in the documented shape`,
      documented(status),
    ]),
    ['503 that asks to come again', { status: 503, headers: { 'retry-after': '1' } }],
    ['a reset', 'reset'],
    ['a truncated answer', 'truncated'],
    ['204', { status: 204 }],
    ['200 with nothing', { status: 200, body: '' }],
    ['200 with a page', { status: 200, body: '<html>maintenance</html>' }],
    ['200 with other JSON', { status: 200, body: '{"answer":42}' }],
    ['200 with a list', { status: 200, body: '[]' }],
    ['200 with bytes that are no text', { status: 200, body: Buffer.from([0x7b, 0xff, 0x7d]) }],
    ['200 larger than the limit', { status: 200, body: 'x'.repeat(1_100_000) }],
    [
      '200 with the documented error',
      (request) => ({ ...(refusal(400) as object), status: 200, body: `${request.body.slice(0, -1)},"message":"no"}` }),
    ],
    ['200 about another order', (request) => echo(request, { externalOrderId: 'A' })],
    ['200 without an id', (request) => echo(request, { id: undefined })],
    ['200 with an empty id', (request) => echo(request, { id: '' })],
    ['200 with a list for an id', (request) => echo(request, { id: [5] })],
    [
      '200 that says each thing twice',
      (request) => ({ status: 200, body: `{"externalOrderId":"b",${request.body.slice(1)}` }),
    ],
  ])('%s: the outcome is unknown, it is looked up for a day, held, and never sent again', async (_name, answer) => {
    const { program, exchange } = await created(answer);
    expect(program.row('a')).toMatchObject({
      state: 'unknown',
      pre_order_id: null,
      next_action_at: '2026-01-05T12:00:05.000Z',
    });
    for (let look = 0; look < 12; look += 1) {
      program.clock.advance(DAY);
      await pass(program);
    }
    expect(program.states('a')).toEqual(['sending', 'unknown', 'held']);
    expect(exchange.count('POST')).toBe(1);
  });

  it('no answer before the deadline: unknown, whether nothing came or half of it', async () => {
    const { program, exchange } = await scriptedProgram({ environment: { ORDER_SYNC_EXCHANGE_TIMEOUT: '1s' } });
    exchange.answer = ({ externalOrderId }) => (externalOrderId === 'a' ? 'hang' : 'stall');
    program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    await createPass(program.app, NEVER);
    for (const id of ['a', 'b']) {
      expect(program.row(id)).toMatchObject({
        state: 'unknown',
        state_reason: expect.stringContaining('ETIMEDOUT') as string,
      });
    }
  });

  it('a program that gives up while it waits: unknown, and written down', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => {
      program.app.endGracePeriod();
      return 'hang';
    };
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    expect(program.row('a')['state']).toBe('unknown');
  });
});

describe('a create that was accepted', () => {
  it.each([200, 201, 202, 299])('with %i and an equal echo has its id, and no finding', async (status) => {
    const { program } = await created((request) => ({ ...(echo(request) as object), status }));
    expect(program.row('a')).toMatchObject({
      state: 'accepted',
      pre_order_id: 'p1',
      exchange_type: 'SELL',
      state_reason: null,
    });
    expect(findings(program)).toEqual([]);
    expect(program.events('a')).toEqual(['state pending → sending', 'state sending → accepted']);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['another amount', { asset: 1.6 }, 'sent asset 1.5, echoed asset 1.6'],
    [
      'another currency',
      { currencyPair: { fromCurrency: 'BTC', toCurrency: 'USD' } },
      'sent toCurrency EUR, echoed toCurrency USD',
    ],
    [
      'no pair',
      { currencyPair: null },
      'sent fromCurrency BTC, echoed no fromCurrency; sent toCurrency EUR, echoed no toCurrency',
    ],
    ['another position', { assetPosition: 'OUTPUT' }, 'sent assetPosition INPUT, echoed assetPosition OUTPUT'],
    ['no order type', { orderType: undefined }, 'sent orderType DEPOSIT, echoed no orderType'],
    ['no bonus', { bonus: null }, 'sent bonus 0.5, echoed no bonus'],
    ['another limit', { limit: 3 }, 'sent limit 2, echoed limit 3'],
    ['the amount as text', { asset: '1.5' }, 'sent asset 1.5, echoed asset (a string)'],
  ])('with %s in the echo is accepted, with a finding', async (_name, changes, reason) => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => echo(request, changes);
    program.insert({ external_order_id: 'a', bonus: '0.5' });
    program.merchant.prepare(`update merchant_orders set order_limit = '2', payment_token = 'canary-1'`).run();
    await createPass(program.app, NEVER);
    expect(program.row('a')).toMatchObject({ state: 'accepted', pre_order_id: 'p1' });
    expect(program.events('a')).toContain('finding null → PREORDER_ECHO_MISMATCH');
    expect(findings(program)).toEqual([reason]);
  });

  it('with another payment token in the echo has a finding of its own, unless that is ignored', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => echo(request, { paymentToken: 'canary-2' });
    const create = async (id: string, ignore: readonly FindingClassName[]) => {
      program.insert({ external_order_id: id });
      program.merchant.prepare(`update merchant_orders set payment_token = 'canary-1' where state = 'pending'`).run();
      await createPass({ ...program.app, settings: { ...program.app.settings, ignore } }, NEVER);
      return program.events(id).filter((event) => event.startsWith('finding'));
    };
    expect(await create('a', [])).toEqual(['finding null → PREORDER_TOKEN_MISMATCH']);
    expect(findings(program)).toEqual(['sent paymentToken (not shown), echoed another paymentToken']);
    expect(await create('b', ['PREORDER_TOKEN_MISMATCH'])).toEqual([]);
    expect(program.merchant.prepare('select external_order_id from findings').pluck().all()).toEqual(['a']);
  });

  it('with fields that were not sent filled in, unknown ones too, has no finding; the body is kept byte for byte', async () => {
    const more = {
      limit: 7,
      paymentToken: 'u',
      providerType: 'CARDPROV',
      cryptoAddress: 'x',
      bonus: 0,
      unheard: ['of'],
    };
    let body: unknown;
    const { program } = await created((request) => {
      const answer = echo(request, more);
      body = (answer as { body: unknown }).body;
      return answer;
    });
    expect(findings(program)).toEqual([]);
    expect(program.merchant.prepare('select body from pre_orders').pluck().all()).toEqual([body]);
  });
});
