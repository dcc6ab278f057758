import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { steadyTime } from '../../src/base/clock.ts';
import { clockWatch } from '../../src/orders/correct-times.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { capturedLog } from '../support/captured-log.ts';
import { echo, NOT_FOUND, record } from '../support/scripted-exchange.ts';
import { scriptedProgram } from '../support/test-program.ts';
import { testClock } from '../support/test-clock.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;

/** Orders in several states, under a clock that the test sets. */
async function underMovedClock() {
  const machine = testClock();
  let setMs = 0;
  const now = steadyTime(
    () => machine.now().getTime() + setMs,
    () => machine.monotonic(),
  );
  const clock = { ...machine, now };
  const { program, exchange } = await scriptedProgram({ clock });
  exchange.answer = (request) => {
    if (request.method === 'GET') return request.externalOrderId === 'open' ? record('open') : NOT_FOUND;
    return request.externalOrderId === 'unknown' ? 'reset' : echo(request);
  };
  program.insert({ external_order_id: 'accepted' }, { external_order_id: 'open' }, { external_order_id: 'unknown' });
  await createPass(program.app, NEVER);
  const watch = clockWatch(program.app, () => program.app.wrongTimes.correct(true));
  return {
    program,
    exchange,
    elapsed: () => machine.monotonic(),
    pass: async (ms: number) => {
      machine.advance(ms);
      await watch();
      await createPass(program.app, NEVER);
      await followPass(program.app, 'due', NEVER);
    },
    set: (ms: number) => {
      setMs += ms;
    },
    /** How long the order waits, by the time of the program. */
    waitMs: (id: string) => Date.parse(String(program.row(id)['next_action_at'])) - now().getTime(),
  };
}

describe('a clock that is set', () => {
  it('an hour ahead and back delays nothing', async () => {
    const { program, exchange, pass, set } = await underMovedClock();
    set(HOUR);
    await pass(5 * SECOND);
    set(-HOUR);
    const before = exchange.count('GET');
    await pass(10 * SECOND);
    expect(exchange.count('GET')).toBe(before + 3);
    expect(program.log.with('the clock was set back, so the waiting orders are made due now')).toHaveLength(1);
    await pass(SECOND);
    expect(program.log.with('the clock was set back, so the waiting orders are made due now')).toHaveLength(1);
  });

  it('makes no order wait for longer than it was to wait, by the time that passed', async () => {
    const jump = fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      fc.constantFrom(-90 * DAY, -HOUR, -MINUTE, -2 * SECOND, -700, 700, MINUTE, HOUR, 90 * DAY),
    );
    const step = fc.record({ passMs: fc.integer({ min: 1, max: MINUTE }), jump });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const on = await underMovedClock();
        const ids = ['accepted', 'open', 'unknown'];
        const lookups = (id: string) => on.exchange.requests.filter((one) => one.externalOrderId === id).length;
        const due = new Map(ids.map((id) => [id, { at: on.elapsed() + on.waitMs(id), lookups: lookups(id) }]));
        for (const { passMs, jump: ms } of steps) {
          on.set(ms);
          await on.pass(passMs);
          for (const id of ids) {
            const known = due.get(id);
            if (known === undefined || lookups(id) > known.lookups) {
              due.set(id, { at: on.elapsed() + on.waitMs(id), lookups: lookups(id) });
            } else {
              // UTC follows the clock of the machine back if that is a second behind.
              expect(known.at + SECOND).toBeGreaterThanOrEqual(on.elapsed());
            }
          }
        }
      }),
      { numRuns: 12 },
    );
  });
});

it('the log says once that the clocks are apart, and once that they are not any more', async () => {
  const log = capturedLog();
  let databaseAheadMs = 0;
  const clock = {
    ...testClock(),
    get databaseAheadMs() {
      return databaseAheadMs;
    },
  };
  const watch = clockWatch({ clock, log: log.logger }, () => {});
  for (const ms of [1_999, -2_000, -3_000, 1_999, 0]) {
    databaseAheadMs = ms;
    await watch();
  }
  expect(log.lines).toMatchObject([
    { level: 'warn', databaseAheadMs: -2_000 },
    { level: 'info', databaseAheadMs: 1_999 },
  ]);
});
