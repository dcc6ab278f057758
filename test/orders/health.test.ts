import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import {
  echo,
  NOT_FOUND,
  record,
  type ScriptedAnswer,
  type ScriptedExchange,
  type ScriptedRequest,
} from '../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { HOUR, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const FAILS: ScriptedAnswer = { status: 500, body: '' };
/** No order, as a framework answers that knows nothing of the documented error. */
const SPRING_NOT_FOUND: ScriptedAnswer = {
  status: 404,
  body: '{"timestamp":"2026-01-05T12:00:00Z","status":404,"error":"Not Found","path":"/api/v1/merchant/orders"}',
};

const ids = (count: number) => Array.from({ length: count }, (_, index) => `o${String(index).padStart(3, '0')}`);

/** The program and rows to send, against an exchange that answers creates and look-ups as given. */
async function rows(count: number, creates: Answers, lookups: Answers, environment: Record<string, string> = {}) {
  const { program, exchange } = await scriptedProgram({ environment });
  exchange.answer = (request) => (request.method === 'POST' ? creates(request) : lookups(request));
  program.insert(...ids(count).map((external_order_id) => ({ external_order_id })));
  return { program, exchange };
}

type Answers = (request: ScriptedRequest) => ScriptedAnswer;

/** The work of the daemon in this time, with a tick each 5 s. */
async function live({ app, clock }: TestProgram, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5 * SECOND) {
    await createPass(app, NEVER);
    await followPass(app, 'due', NEVER);
    clock.advance(5 * SECOND);
  }
}

function inState({ merchant }: TestProgram, state: string): unknown[] {
  return merchant
    .prepare('select external_order_id from merchant_orders where state = ? order by 1')
    .pluck()
    .all(state);
}

function lookedUp({ requests }: ScriptedExchange): string[] {
  return requests.filter(({ method }) => method === 'GET').map(({ externalOrderId }) => externalOrderId);
}

describe('an exchange that answers oddly', () => {
  const existing = ids(60).slice(-3);
  const spring: Answers = ({ externalOrderId }) =>
    existing.includes(externalOrderId) ? record(externalOrderId) : SPRING_NOT_FOUND;

  it('is followed as any other: the orders that exist are looked up at their times', async () => {
    const { program, exchange } = await rows(60, echo, spring);
    await live(program, 75 * SECOND);
    expect(lookedUp(exchange).filter((id) => existing.includes(id))).toHaveLength(27);
  });

  it('is not out of reach for sync', async () => {
    const { program, exchange } = await rows(60, echo, spring);
    expect((await syncOnce(program.app, 'all', NEVER)).end).toMatch(/^(done|look)$/);
    expect(exchange.count('GET')).toBe(60);
  });

  it('is not out of reach for sync if a few orders alone are answered 500', async () => {
    const odd = ids(60).filter((_, index) => index % 10 === 0);
    const fails = ({ externalOrderId }: ScriptedRequest) => odd.includes(externalOrderId);
    const { program, exchange } = await rows(
      60,
      (request) => (fails(request) ? FAILS : echo(request)),
      (request) => (fails(request) ? FAILS : NOT_FOUND),
    );
    const { end, summary } = await syncOnce(program.app, 'all', NEVER);
    expect([end, summary.accepted, summary.unknown]).toEqual(['look', 54, 6]);
    expect(exchange.count('POST')).toBe(60);
  });

  it('keeps no order waiting behind the one order that is always answered 500', async () => {
    const { program, exchange } = await rows(20, echo, ({ externalOrderId }) =>
      externalOrderId === 'o000' ? FAILS : record(externalOrderId),
    );
    await live(program, 75 * SECOND);
    expect(inState(program, 'open')).toEqual(ids(20).slice(1));
    expect(program.app.exchange.breaker('lookup').openingsEver).toBe(0);
    expect(lookedUp(exchange).filter((id) => id === 'o000').length).toBeLessThan(5);
  });
});

describe('creates that fail while look-ups work', () => {
  it('wait longer each time: few outcomes are unknown', async () => {
    const { program } = await rows(
      200,
      () => FAILS,
      () => NOT_FOUND,
    );
    await live(program, 75 * SECOND);
    expect(inState(program, 'unknown').length).toBeLessThan(10);
    await live(program, HOUR);
    expect(inState(program, 'unknown').length).toBeLessThan(18);
  });

  it('continue, one at first, when the look-up of an order that is followed is answered', async () => {
    const failing = ids(3).slice(1);
    const { program, exchange } = await rows(
      30,
      (request) => (failing.includes(request.externalOrderId) ? FAILS : echo(request)),
      ({ externalOrderId }) => (externalOrderId === 'o000' ? record('o000') : NOT_FOUND),
      { ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' },
    );
    // The first is accepted and found, then two fail: with one in flight that is enough.
    await createPass(program.app, NEVER);
    program.clock.advance(5 * SECOND);
    await followPass(program.app, 'due', NEVER);
    const before = exchange.requests.length;
    expect(program.app.exchange.breaker('create').needsProbe).toBe(true);
    await createPass(program.app, NEVER);
    const [probe, ...rest] = exchange.requests.slice(before);
    expect(probe).toMatchObject({ method: 'GET', externalOrderId: program.app.exchange.lastAnswered });
    expect(rest.map(({ method }) => method)).toEqual(Array(27).fill('POST'));
    expect(inState(program, 'unknown')).toEqual(failing);
    expect(inState(program, 'accepted')).toHaveLength(27);
    expect(inState(program, 'open')).toEqual(['o000']);
  });

  it('wait for an answer of any order: one that is never answered keeps no other unsent', async () => {
    const failing = ids(3);
    const { program } = await rows(
      20,
      (request) => (failing.includes(request.externalOrderId) ? FAILS : echo(request)),
      ({ externalOrderId }) => (externalOrderId <= 'o004' ? FAILS : NOT_FOUND),
    );
    await live(program, 75 * SECOND);
    expect(inState(program, 'accepted')).toEqual(ids(20).slice(3));
  });

  it('do not send the row for whose id an order is found, and dispute it', async () => {
    const failing = ids(3);
    const { program, exchange } = await rows(
      6,
      (request) => (failing.includes(request.externalOrderId) ? FAILS : echo(request)),
      ({ externalOrderId }) => (externalOrderId === 'o003' ? record('o003') : NOT_FOUND),
    );
    await createPass(program.app, NEVER);
    program.clock.advance(SECOND);
    await createPass(program.app, NEVER);
    expect(lookedUp(exchange)).toEqual(['o003']);
    expect(program.row('o003')).toMatchObject({ state: 'disputed', attempts: 0, order_id: 'o1-o003' });
    expect(inState(program, 'accepted')).toEqual(['o004', 'o005']);
    const findings = program.merchant.prepare('select class, external_order_id from findings').all();
    expect(findings).toContainEqual({ class: 'UNEXPECTED_ORDER', external_order_id: 'o003' });
    program.clock.advance(HOUR);
    await followPass(program.app, 'due', NEVER);
    expect(program.row('o003')['state']).toBe('disputed');
    expect(
      exchange.requests.some(({ method, externalOrderId }) => method === 'POST' && externalOrderId === 'o003'),
    ).toBe(false);
  });
});
