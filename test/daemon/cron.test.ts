import { describe, expect, it, onTestFinished } from 'vitest';
import { runDaemon } from '../support/daemon.ts';
import { createPass } from '../../src/orders/create.ts';
import { echo, NOT_FOUND, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-exchange.ts';
import { scriptedProgram } from '../support/test-program.ts';
import { DAY, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const YEARLY = { ORDER_SYNC_SCHEDULE_CRON: '0 0 1 1 *', ORDER_SYNC_RECONCILE_CRON: '', ORDER_SYNC_LINKS_CRON: '' };
const OVERDUE_MS = 367 * DAY;

/** Orders that were sent, of which `unknown` has no known outcome, and a daemon that can be started for them. */
async function sent(ids: readonly string[]) {
  const { program, exchange } = await scriptedProgram({ environment: YEARLY });
  const { clock } = program;
  exchange.answer = (request) => (request.externalOrderId === 'unknown' ? 'reset' : echo(request));
  program.insert(...ids.map((external_order_id) => ({ external_order_id })));
  await createPass(program.app, NEVER);
  await program.app[Symbol.asyncDispose]();
  const asked = new Set<string>();
  return {
    program,
    asked,
    /** The time continues, a second at a time, until this was asked. */
    untilAsked: async (what: string) => {
      while (!asked.has(what)) {
        clock.advance(SECOND);
        await clock.turn();
      }
    },
    start: async (toLookUp: (request: ScriptedRequest) => ScriptedAnswer) => {
      exchange.answer = (request) => {
        asked.add(`${request.method} ${request.externalOrderId}`);
        return request.method === 'POST' ? echo(request) : toLookUp(request);
      };
      const stop = new AbortController();
      const ready = Promise.withResolvers<void>();
      const overrides = { clock, log: program.log.logger, store: { synchronous: 'off', watch: 'off' } as const };
      const daemon = runDaemon(program.config, stop.signal, ready.resolve, overrides);
      onTestFinished(async () => {
        stop.abort();
        await daemon;
      });
      await ready.promise;
    },
  };
}

describe('schedule.cron', () => {
  it('alone decides when an accepted order is looked up; creates and verifications that come due do not wait for it', async () => {
    const { program, asked, start, untilAsked } = await sent(['accepted', 'unknown']);
    program.insert({ external_order_id: 'later' });
    program.merchant
      .prepare(
        `update merchant_orders set revision = revision + 1, next_action_at = ? where external_order_id = 'later'`,
      )
      .run(new Date(program.clock.now().getTime() + 30 * SECOND).toISOString());
    program.clock.advance(20 * SECOND);
    await start(() => NOT_FOUND);
    await untilAsked('GET unknown');
    await untilAsked('POST later');
    expect(asked).not.toContain('GET accepted');
    // The clock of the machine, by which cron goes, has not moved: the watchdog sees that a tick is overdue.
    program.clock.advance(OVERDUE_MS);
    await untilAsked('GET accepted');
  });

  it('need not tick again for the look-ups that a failing exchange has stopped', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `o${index}`);
    const { program, asked, start, untilAsked } = await sent(ids);
    let left = 5;
    await start(() => {
      left -= 1;
      return left < 0 ? NOT_FOUND : { status: 503, body: '' };
    });
    program.clock.advance(OVERDUE_MS);
    for (const id of ids) await untilAsked(`GET ${id}`);
    expect(asked.size).toBe(60);
  });
});
