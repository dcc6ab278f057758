import { describe, expect, it, onTestFinished } from 'vitest';
import { runDaemon } from '../../src/daemon.ts';
import { createPass } from '../../src/flows/orders/create.ts';
import { echo, NOT_FOUND, type ScriptedRequest } from '../support/scripted-exchange.ts';
import { scriptedProgram } from '../support/test-program.ts';
import { DAY, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const YEARLY = { ORDER_SYNC_SCHEDULE_CRON: '0 0 1 1 *', ORDER_SYNC_RECONCILE_CRON: '', ORDER_SYNC_LINKS_CRON: '' };

describe('schedule.cron', () => {
  it('alone decides when an accepted order is looked up; creates and verifications that come due do not wait for it', async () => {
    const { program, exchange } = await scriptedProgram({ environment: YEARLY });
    const { clock } = program;
    exchange.answer = (request) => (request.externalOrderId === 'unknown' ? 'reset' : echo(request));
    program.insert({ external_order_id: 'accepted' }, { external_order_id: 'unknown' });
    await createPass(program.app, NEVER);
    await program.app[Symbol.asyncDispose]();
    program.insert({ external_order_id: 'later' });
    program.merchant
      .prepare(
        `update merchant_orders set revision = revision + 1, next_action_at = ? where external_order_id = 'later'`,
      )
      .run(new Date(clock.now().getTime() + 30 * SECOND).toISOString());
    clock.advance(20 * SECOND);

    const asked = new Set<string>();
    exchange.answer = (request: ScriptedRequest) => {
      asked.add(`${request.method} ${request.externalOrderId}`);
      return request.method === 'POST' ? echo(request) : NOT_FOUND;
    };
    /** The time goes on, a second at a time, until this was asked. */
    const untilAsked = async (what: string) => {
      while (!asked.has(what)) {
        clock.advance(SECOND);
        await clock.turn();
      }
    };
    const stop = new AbortController();
    const ready = Promise.withResolvers<void>();
    const overrides = { clock, log: program.log.logger, store: { synchronous: 'off' } as const };
    const daemon = runDaemon(program.config, stop.signal, ready.resolve, overrides);
    onTestFinished(async () => {
      stop.abort();
      await daemon;
    });
    await ready.promise;
    await untilAsked('GET unknown');
    await untilAsked('POST later');
    expect(asked).not.toContain('GET accepted');
    // The clock of the machine, by which cron goes, has not moved: the watchdog sees that a tick is overdue.
    clock.advance(367 * DAY);
    await untilAsked('GET accepted');
  });
});
