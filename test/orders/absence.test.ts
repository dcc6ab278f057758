import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { decideOrders, type OperatorResult } from '../../src/extensions/operate/decide-orders.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { echo, NOT_FOUND, record, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { MINUTE, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const SPRING_404 = '{"timestamp":"2026-01-05T12:00:00Z","status":404,"error":"Not Found","path":"/api"}';
const RESEND = { ORDER_SYNC_CREATE_ON_UNKNOWN: 'resend' };

/** Order `lost`, whose create had no answer, beside order `known`, which was accepted; look-ups are answered by id. */
async function lostAndKnown(
  lookups: Readonly<Record<string, ScriptedAnswer>>,
  environment: Record<string, string> = {},
) {
  const { program, exchange } = await scriptedProgram({ environment });
  const answers = new Map(Object.entries(lookups));
  exchange.answer = (request) => {
    const { method, externalOrderId: id } = request;
    if (method === 'GET') return answers.get(id) ?? NOT_FOUND;
    return id === 'lost' && !exchange.requests.slice(0, -1).some((one) => one.externalOrderId === id)
      ? 'reset'
      : echo(request);
  };
  program.insert({ external_order_id: 'known' }, { external_order_id: 'lost' });
  await createPass(program.app, NEVER);
  return {
    program,
    answers,
    sends: () =>
      exchange.requests.filter(({ method, externalOrderId: id }) => method === 'POST' && id === 'lost').length,
    /** The number of passes, one each minute. */
    minutes: async (count: number) => {
      for (let minute = 0; minute < count; minute += 1) {
        program.clock.advance(MINUTE);
        await followPass(program.app, 'due', NEVER);
        await createPass(program.app, NEVER);
      }
    },
    decide: (judgement: Parameters<typeof decideOrder>[1]) => decideOrder(program, judgement),
  };
}

async function decideOrder(
  { app }: TestProgram,
  judgement: { kind: 'not-created'; mayDuplicate?: boolean },
): Promise<OperatorResult | undefined> {
  const action = { judgement, actor: 'anna', reason: 'asked the exchange' };
  for await (const result of decideOrders(app, [{ externalOrderId: 'lost' }], action)) return result;
  return undefined;
}

describe('documented absence', () => {
  it('has a create sent again once, and is believed of a person, while accepted orders are found', async () => {
    const { minutes, sends, program } = await lostAndKnown({ known: record('known') }, RESEND);
    await minutes(30);
    expect([sends(), program.row('lost')['state']]).toEqual([2, 'accepted']);
  });

  it('is not proved three times by three looks in a minute', async () => {
    const { program, sends } = await lostAndKnown({ known: record('known') }, RESEND);
    program.clock.advance(11 * MINUTE);
    for (let looks = 0; looks < 3; looks += 1) {
      await syncOnce(program.app, 'all', NEVER);
      program.clock.advance(SECOND);
    }
    expect(sends()).toBe(1);
    expect(program.row('lost')).toMatchObject({ state: 'unknown', documented_absences: 1 });
  });

  it.each<[string, ScriptedAnswer]>([
    ['the documented 404', NOT_FOUND],
    ['a likely absence', { status: 204 }],
  ])('proves nothing if an accepted order is answered with %s: nothing is sent again', async (_name, answer) => {
    const { program, minutes, sends, decide, answers } = await lostAndKnown({ known: answer }, RESEND);
    await minutes(30);
    expect([sends(), program.row('lost')['state']]).toEqual([1, 'unknown']);
    // It may have been taken up since: what it showed stays true.
    answers.set('known', record('known'));
    await minutes(30);
    expect(program.row('known')['state']).toBe('open');
    expect(await decide({ kind: 'not-created' })).toMatchObject({
      kind: 'passed-over',
      why: expect.stringMatching(/"known".*--i-know-it-may-duplicate/) as string,
    });
    expect(await decide({ kind: 'not-created', mayDuplicate: true })).toMatchObject({ kind: 'done', to: 'pending' });
  });

  it('of an accepted order within the first 10 minutes proves nothing about absence', async () => {
    const { minutes, sends, answers } = await lostAndKnown({ known: NOT_FOUND }, RESEND);
    await minutes(9);
    answers.set('known', record('known'));
    await minutes(30);
    expect(sends()).toBe(2);
  });
});

describe('likely absence', () => {
  it.each([
    ['a 404 of another kind', { status: 404, body: SPRING_404 }],
    ['an empty 404', { status: 404 }],
    ['204', { status: 204 }],
    ['null', { status: 200, body: 'null' }],
  ])('is never believed of a person, nor has it a create sent again: %s', async (_name, answer) => {
    const { minutes, sends, decide, program } = await lostAndKnown({ known: record('known'), lost: answer }, RESEND);
    await minutes(60);
    expect(sends()).toBe(1);
    expect(await decide({ kind: 'not-created' })).toMatchObject({
      kind: 'passed-over',
      why: expect.stringContaining('exchange.absence') as string,
    });
    expect(program.row('lost')).toMatchObject({ state: 'unknown', documented_absences: 0, absent_at: null });
  });

  it('is documented if the merchant has confirmed its shape', async () => {
    const environment = {
      ...RESEND,
      ORDER_SYNC_EXCHANGE_ABSENCE: '[{"status":404,"pointer":"/error","value":"Not Found"}]',
    };
    const lookups = { known: record('known'), lost: { status: 404, body: SPRING_404 } };
    const { minutes, sends } = await lostAndKnown(lookups, environment);
    await minutes(30);
    expect(sends()).toBe(2);
  });
});
