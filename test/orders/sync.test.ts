import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass, type FollowScope } from '../../src/orders/follow.ts';
import { syncOnce, type SyncResult } from '../../src/orders/sync.ts';
import type { Counters } from '../../src/orders/pass/outcomes.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import {
  echo,
  NOT_FOUND,
  record,
  refusal,
  type ScriptedAnswer,
  type ScriptedExchange,
} from '../support/scripted-exchange.ts';
import { history, idOf, link, linked } from '../support/linked.ts';
import { hastyClock } from '../support/test-clock.ts';
import { DAY, HOUR } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';
import { ofSqlite } from '../support/database.ts';

const NEVER = new AbortController().signal;
const FINAL = { status: 'DONE', completionDate: '2026-01-05T12:00:00Z', serverDate: '2026-01-05T12:00:00Z' };
const NOTHING = {
  sent: 0,
  accepted: 0,
  rejected: 0,
  invalid: 0,
  unknown: 0,
  held: 0,
  disputed: 0,
  newInvalid: 0,
  lookedUp: 0,
  changed: 0,
  final: 0,
  failed: 0,
  findings: 0,
  remaining: 0,
  durationMs: 0,
};

const TOO_MANY: ScriptedAnswer = { status: 429, headers: { 'retry-after': '1' } };

function acceptedIn({ merchant }: TestProgram): unknown {
  return merchant.prepare(`select count(*) from merchant_orders where state = 'accepted'`).pluck().get();
}

/** One pass of `sync` while the time advances, so that its waits come to an end. */
async function sync(program: TestProgram, scope: FollowScope = 'all', signal = NEVER): Promise<SyncResult> {
  let isOver = false;
  const running = syncOnce(program.app, scope, signal).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await program.clock.turn();
    program.clock.advance(1);
  }
  return await running;
}

function insert(program: TestProgram, ...ids: string[]): void {
  program.insert(...ids.map((external_order_id) => ({ external_order_id })));
}

/** Creates and look-ups by the beginning of an order's id; all else is accepted and not found. */
function script(
  exchange: ScriptedExchange,
  {
    creates = {},
    lookups = {},
  }: { creates?: Record<string, ScriptedAnswer>; lookups?: Record<string, ScriptedAnswer> },
): void {
  const of = (answers: Record<string, ScriptedAnswer>, id: string) =>
    Object.entries(answers).find(([prefix]) => id.startsWith(prefix))?.[1];
  exchange.answer = (request) =>
    request.method === 'POST'
      ? (of(creates, request.externalOrderId) ?? echo(request))
      : (of(lookups, request.externalOrderId) ?? NOT_FOUND);
}

describe('the summary of sync', () => {
  it('is all zeros if there is nothing to do', async () => {
    const { program } = await scriptedProgram();
    expect(await syncOnce(program.app, 'all', NEVER)).toEqual({ end: 'done', summary: NOTHING, holds: [] });
  });

  it('counts what this pass did, and what stands unknown and held after it', async () => {
    const { program, exchange } = await scriptedProgram({ environment: { ORDER_SYNC_CREATE_VERIFY_AFTER: '1d' } });
    script(exchange, {
      creates: { no: refusal(400), lost: 'reset', old: 'reset' },
      lookups: { done: record('done', FINAL), open: record('open') },
    });
    insert(program, 'old');
    await createPass(program.app, NEVER);
    program.clock.advance(DAY);
    insert(program, 'done', 'open', 'wait-1', 'wait-2', 'no', 'lost');
    program.insert({ external_order_id: 'bad', asset: '0' });
    const { summary, end } = await syncOnce(program.app, 'all', NEVER);
    expect(summary).toEqual({
      ...NOTHING,
      sent: 6,
      // Two of unknown outcome, and a record by a clock that is a day behind.
      findings: 3,
      accepted: 4,
      rejected: 1,
      invalid: 1,
      newInvalid: 1,
      unknown: 1,
      held: 1,
      lookedUp: 6,
      changed: 3,
      final: 1,
    });
    expect(end).toBe('look');
    const again = await syncOnce(program.app, 'all', NEVER);
    expect(again.summary).toMatchObject({
      sent: 0,
      rejected: 0,
      invalid: 0,
      unknown: 1,
      held: 1,
      changed: 0,
      final: 0,
    });
  });

  it('has a person look at new invalid rows of an earlier pass, for a day', async () => {
    const { program } = await scriptedProgram();
    program.insert({ external_order_id: 'bad', asset: '0' });
    await createPass(program.app, NEVER);
    const passed = async () => {
      const { end, summary } = await syncOnce(program.app, 'all', NEVER);
      return [end, summary.invalid, summary.newInvalid];
    };
    expect(await passed()).toEqual(['look', 0, 1]);
    program.clock.advance(DAY + 1);
    expect(await passed()).toEqual(['done', 0, 0]);
  });

  it('has the time that the pass took', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => {
      program.clock.advance(125);
      return request.method === 'POST' ? echo(request) : NOT_FOUND;
    };
    insert(program, 'a');
    expect((await syncOnce(program.app, 'all', NEVER)).summary.durationMs).toBe(250);
  });

  it('tells its counts while it runs', async () => {
    const { program, exchange } = await scriptedProgram({ environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' } });
    const seen: number[] = [];
    let counts: Readonly<Counters> | undefined;
    exchange.answer = (request) => {
      seen.push(counts?.sent ?? -1);
      return request.method === 'POST' ? echo(request) : NOT_FOUND;
    };
    insert(program, 'a', 'b', 'c');
    let requests = 0;
    await syncOnce(program.app, 'due', NEVER, (now, todo) => ([counts, requests] = [now, todo]));
    expect(requests).toBe(3);
    expect(seen[0]).toBe(0);
    expect(counts).toMatchObject({ sent: 3, accepted: 3 });
  });
});

// Its clock advances with each turn of the event loop, of which a pass on PostgreSQL takes any number.
describe('the end of sync', ofSqlite('its passes take few turns'), () => {
  it('is done when every order went well, sent, waiting or final', async () => {
    const { program, exchange } = await scriptedProgram();
    script(exchange, { lookups: { done: record('done', FINAL) } });
    insert(program, 'done', 'wait');
    expect((await sync(program)).end).toBe('done');
    expect((await sync(program)).end).toBe('done');
  });

  it.each<[string, Parameters<typeof script>[1]]>([
    ['was rejected', { creates: { a: refusal(400) } }],
    ['has an unknown outcome', { creates: { a: 'reset' } }],
    ['was not answered', { lookups: { a: refusal(500) } }],
    ['has a finding', { creates: { a: { status: 200, body: '{"id":"p1","externalOrderId":"a","asset":9}' } } }],
  ])('is look when an order %s', async (_name, answers) => {
    const { program, exchange } = await scriptedProgram();
    script(exchange, answers);
    insert(program, 'a');
    expect((await sync(program)).end).toBe('look');
  });

  it('is look when a row is invalid, and each time while an order is held', async () => {
    const { program } = await scriptedProgram();
    program.insert({ external_order_id: 'bad', asset: '0' });
    expect((await sync(program)).end).toBe('look');
    program.clock.advance(DAY + 1);
    expect((await sync(program)).end).toBe('done');
    unguarded(program.merchant, () =>
      program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'held'`),
    );
    expect((await sync(program)).end).toBe('look');
    expect((await sync(program)).end).toBe('look');
  });

  it('is look when a final order is open again, or is not found any more', async () => {
    const { program, exchange } = await scriptedProgram();
    script(exchange, { lookups: { a: record('a', FINAL) } });
    insert(program, 'a');
    expect((await sync(program)).end).toBe('done');
    program.clock.advance(HOUR);
    script(exchange, {});
    expect((await sync(program)).end).toBe('look');
    program.clock.advance(DAY);
    script(exchange, { lookups: { a: record('a') } });
    expect((await sync(program)).end).toBe('look');
  });

  it('is out of reach when nothing listens; every order waits unsent', async () => {
    const { program, exchange } = await scriptedProgram();
    await exchange[Symbol.asyncDispose]();
    insert(program, ...Array.from({ length: 30 }, (_, index) => `o${index}`));
    const { end, summary } = await sync(program);
    expect(end).toBe('out-of-reach');
    expect(summary).toMatchObject({ accepted: 0, unknown: 0, rejected: 0 });
    const pending = program.merchant
      .prepare(`select count(*) from merchant_orders where state = 'pending'`)
      .pluck()
      .get();
    expect(pending).toBe(30);
  });

  it('is out of reach also with one order, which is not due again when the breaker is half-open', async () => {
    const { program, exchange } = await scriptedProgram();
    await exchange[Symbol.asyncDispose]();
    insert(program, 'a');
    const { end, summary } = await sync(program);
    expect([end, program.row('a')['state']]).toEqual(['out-of-reach', 'pending']);
    expect(summary).toMatchObject({ sent: 0, failed: 1, remaining: 1 });
  });

  it('is look when look-ups are answered after the one create that was told to come later', async () => {
    const { program, exchange } = await scriptedProgram();
    script(exchange, { creates: { late: TOO_MANY } });
    insert(program, 'a');
    await sync(program);
    insert(program, 'late');
    expect((await sync(program)).end).toBe('look');
  });

  it('is out of reach when the exchange keeps failing, and few outcomes are unknown', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => refusal(503);
    insert(program, ...Array.from({ length: 100 }, (_, index) => `o${index}`));
    const { end, summary } = await sync(program);
    expect(end).toBe('out-of-reach');
    expect(summary.unknown).toBeLessThanOrEqual(program.config.exchange.concurrency + 4);
    expect(summary.remaining).toBe(100 - summary.unknown);
  });

  it('is not out of reach after a moment of failure: the same pass continues, and each order is sent once', async () => {
    const { program, exchange } = await scriptedProgram();
    let creates = 0;
    exchange.answer = (request) => {
      if (request.method === 'GET') return NOT_FOUND;
      creates += 1;
      return creates <= 2 ? TOO_MANY : echo(request);
    };
    insert(program, ...Array.from({ length: 40 }, (_, index) => `o${index}`));
    const { end, summary } = await sync(program);
    expect([end, summary.failed]).toEqual(['look', 2]);
    // The two that were told to come later may be due only after the pass.
    expect(summary.accepted).toBeGreaterThanOrEqual(38);
    program.clock.advance(DAY);
    await sync(program);
    expect(acceptedIn(program)).toBe(40);
    expect(exchange.count('POST')).toBe(42);
  });

  it('continues also if the breaker was half-open before the requests in flight had come back', async () => {
    const { program, exchange } = await scriptedProgram();
    let creates = 0;
    exchange.answer = async (request) => {
      if (request.method === 'GET') return NOT_FOUND;
      creates += 1;
      if (creates === 1) return TOO_MANY;
      if (creates === 2) await program.clock.sleep(5_000);
      return echo(request);
    };
    insert(program, ...Array.from({ length: 40 }, (_, index) => `o${index}`));
    expect((await sync(program)).summary.accepted).toBeGreaterThanOrEqual(39);
  });

  it('is out of reach at once when the exchange asks to come back much later', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => ({ status: 429, headers: { 'retry-after': '3600' } });
    insert(program, ...Array.from({ length: 20 }, (_, index) => `o${index}`));
    const { end, summary } = await sync(program);
    expect(end).toBe('out-of-reach');
    expect(summary.durationMs).toBeLessThan(HOUR);
    expect(exchange.requests.length).toBeLessThanOrEqual(program.config.exchange.concurrency);
  });

  it('is out of time when the signal had aborted: nothing is sent, everything remains', async () => {
    const { program, exchange } = await scriptedProgram();
    insert(program, 'a', 'b');
    const { end, summary } = await syncOnce(program.app, 'all', AbortSignal.abort());
    expect([end, summary]).toEqual(['out-of-time', { ...NOTHING, remaining: 2 }]);
    expect(exchange.requests).toHaveLength(0);
  });

  it('is out of time when the signal aborts meanwhile: what is in flight is finished and recorded, nothing new is sent', async () => {
    const { program, exchange } = await scriptedProgram({ environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '2' } });
    const stop = new AbortController();
    exchange.answer = (request) => {
      stop.abort();
      return echo(request);
    };
    insert(program, ...Array.from({ length: 20 }, (_, index) => `o${index}`));
    const { end, summary } = await sync(program, 'all', stop.signal);
    expect(end).toBe('out-of-time');
    expect(summary).toMatchObject({ sent: exchange.count('POST'), accepted: exchange.count('POST'), lookedUp: 0 });
    expect(exchange.count('POST')).toBeLessThanOrEqual(2);
    expect(summary.remaining).toBe(20 - exchange.count('POST'));
  });

  it.each(['all', 'due'] as const)(
    'is key refused, also if the exchange has taken the key before: %s',
    async (scope) => {
      const { program, exchange } = await scriptedProgram();
      exchange.answer = () => refusal(401);
      insert(program, 'a');
      expect((await sync(program, scope)).end).toBe('key-refused');
      script(exchange, {});
      program.clock.advance(HOUR);
      expect((await sync(program, scope)).end).toBe('done');
      exchange.answer = () => refusal(401);
      program.clock.advance(HOUR);
      expect(await sync(program, scope)).toMatchObject({ end: 'key-refused', holds: [{ kind: 'key-refused' }] });
      expect(program.row('a')['state']).toBe('accepted');
    },
  );
});

describe('which orders sync looks up', () => {
  it('are all that are followed, due or not, once; or, with due only, none before its time', async () => {
    const { program, exchange } = await scriptedProgram();
    insert(program, 'a', 'b');
    // The time stands still: a slow database would let a look-up come due.
    const summary = async (scope: FollowScope) => (await syncOnce(program.app, scope, NEVER)).summary;
    expect(await summary('due')).toMatchObject({ sent: 2, lookedUp: 0 });
    expect(await summary('all')).toMatchObject({ sent: 0, lookedUp: 2 });
    expect((await summary('all')).lookedUp).toBe(2);
    expect((await summary('due')).lookedUp).toBe(0);
    program.clock.advance(HOUR);
    expect((await summary('due')).lookedUp).toBe(2);
    expect(exchange.count('GET')).toBe(6);
  });

  it('are final orders only when a re-check is due', async () => {
    const { program, exchange } = await scriptedProgram();
    script(exchange, { lookups: { a: record('a', FINAL) } });
    insert(program, 'a');
    await sync(program);
    expect((await sync(program)).summary.lookedUp).toBe(0);
    program.clock.advance(HOUR);
    expect((await sync(program)).summary.lookedUp).toBe(1);
  });
});

describe('the links that sync looks up', () => {
  it('are all whose status may change, each until it is answered, also if the exchange fails for a moment', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `l${index}`);
    const environment = { ORDER_SYNC_LINKS_FINAL_STATUSES: 'VERIFIED', ORDER_SYNC_LINKS_CRON: '' };
    const { program, exchange } = await linked([...ids, 'done'], { environment, clock: hastyClock() });
    program.merchant.exec(`update links set status = 'VERIFIED' where link_id = 'done'`);
    const answered: string[] = [];
    exchange.answer = (request) => {
      if (exchange.requests.length - 31 <= 3) return { status: 503, body: '' };
      answered.push(idOf(request));
      return link(idOf(request), 'VERIFIED');
    };
    program.clock.advance(HOUR);
    await sync(program);
    expect(answered.toSorted()).toEqual(ids.toSorted());
    await sync(program);
    expect(answered).toHaveLength(30);
    expect(history(program, 'l0').at(-1)).toBe('status NOT_VERIFIED → VERIFIED check');
  });
});

describe('several passes at once', () => {
  it('send each order once, and record each change once', async () => {
    const { program, exchange } = await scriptedProgram();
    const ids = Array.from({ length: 120 }, (_, index) => `o${index}`);
    exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId, FINAL));
    insert(program, ...ids);
    const { app } = program;
    await Promise.all([
      syncOnce(app, 'all', NEVER),
      createPass(app, NEVER),
      syncOnce(app, 'all', NEVER),
      createPass(app, NEVER),
      followPass(app, 'all', NEVER),
    ]);
    await syncOnce(app, 'all', NEVER);
    expect(exchange.count('POST')).toBe(120);
    for (const id of ids) {
      expect(program.states(id)).toEqual(['sending', 'accepted', 'final']);
      expect(program.events(id)).toHaveLength(6);
    }
  });
});
