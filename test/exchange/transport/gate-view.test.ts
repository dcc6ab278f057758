import { describe, expect, it } from 'vitest';
import type { Lane } from '../../../src/accounts/rules/restraints.ts';
import type { RequestListener } from '../../../src/exchange/account.ts';
import { Gate, type TurnRequest } from '../../../src/exchange/transport/gate.ts';
import type { TurnReport } from '../../../src/exchange/transport/gate.ts';
import { RateWindow } from '../../../src/exchange/transport/rate-window.ts';
import { unheld } from '../../support/exchange-client.ts';
import { testClock } from '../../support/test-clock.ts';

const OUT_OF_REACH: TurnReport = { wasSent: false, health: 'unreachable' };
const ANSWERED: TurnReport = { wasSent: true, health: 'answered' };

function gateOf(requests: number, tell: RequestListener = () => {}) {
  const clock = testClock();
  const window = new RateWindow({ requests, intervalMs: 1_000 });
  const gate = new Gate({ concurrency: 8, window, account: unheld(), tell }, clock);
  const send = async (lane: Lane, report: TurnReport, about: Partial<TurnRequest> = {}) => {
    using turn = await gate.turn({ lane, ...about });
    if (turn !== undefined) turn.report = report;
  };
  return { clock, gate, send };
}

describe('what a gate shows', () => {
  it('is the room of its window, and the time until there is some', async () => {
    const { clock, gate, send } = gateOf(1);
    expect(gate.windowWaitMs).toBe(0);
    const turn = await gate.turn({ lane: 'person' });
    expect(gate.windowWaitMs).toBeUndefined();
    turn?.end();
    await send('person', ANSWERED);
    clock.advance(400);
    expect(gate.windowWaitMs).toBe(600);
    gate.close();
  });

  it('is that no request was answered since a breaker opened', async () => {
    const { clock, gate, send } = gateOf(100);
    const silent: boolean[] = [];
    const seen = async (lane: Lane, report: TurnReport) => {
      await send(lane, report);
      silent.push(gate.isSilent);
    };
    await seen('lookup', { wasSent: true, health: 'failed' });
    await seen('create', OUT_OF_REACH);
    await seen('person', { wasSent: true, health: 'failed' });
    await seen('person', ANSWERED);
    await seen('lookup', OUT_OF_REACH);
    clock.advance(5_000);
    await seen('lookup', { wasSent: false, health: 'nothing' });
    await seen('lookup', ANSWERED);
    expect(silent).toEqual([false, true, true, false, true, true, false]);
    expect([gate.breaker('create').openingsEver, gate.breaker('lookup').openingsEver]).toEqual([1, 1]);
  });

  it('is how long a breaker is still open, and how often it and its probes have failed', async () => {
    const { clock, gate, send } = gateOf(100);
    const failed: TurnReport = { wasSent: true, health: 'failed' };
    for (const subject of ['a', 'b', 'c']) await send('create', failed, { subject });
    clock.advance(1_000);
    await send('lookup', failed, { subject: 'a', isProbe: true });
    // With the test clock's chance, of a second three quarters.
    expect(gate.breaker('create')).toEqual({
      isOpen: true,
      openForMs: 750,
      openings: 2,
      openingsEver: 2,
      needsProbe: true,
      failedProbes: 1,
    });
  });

  it('is how long a turn was waited for', async () => {
    const waits: [Lane, number][] = [];
    const { clock, gate, send } = gateOf(1, (event) => {
      if (event.kind === 'turn.came') waits.push([event.lane, event.waitedMs]);
    });
    clock.advance(7_000);
    await send('lookup', ANSWERED);
    const second = send('create', ANSWERED);
    await clock.turn();
    clock.advance(1_000);
    await second;
    expect(waits).toEqual([
      ['lookup', 0],
      ['create', 1_000],
    ]);
    gate.close();
  });
});

describe('a turn', () => {
  it('in which the request has left counts, unless a report proves that it was not sent', async () => {
    const { gate } = gateOf(1);
    const turn = await gate.turn({ lane: 'person' });
    turn?.leave();
    expect(turn?.report).toEqual({ wasSent: true, health: 'nothing' });
    turn?.end();
    expect(gate.windowWaitMs).not.toBe(0);
    gate.close();
  });

  it('ends once, however often that is said', async () => {
    const { clock, gate } = gateOf(100);
    const first = await gate.turn({ lane: 'create' });
    first?.end();
    first?.end();
    let given = 0;
    for (let ask = 0; ask < 2; ask += 1) void gate.turn({ lane: 'create' }).then(() => (given += 1));
    for (let turn = 0; turn < 5; turn += 1) await clock.turn();
    expect(given).toBe(1);
  });

  it.each(['has ended', 'is running'])(
    'is not granted to a waiting request when the gate is closed, and the request before it %s',
    async (before) => {
      const { gate } = gateOf(1);
      const first = await gate.turn({ lane: 'person' });
      first?.leave();
      if (before === 'has ended') first?.end();
      const waiting = gate.turn({ lane: 'person' });
      gate.close();
      expect(await waiting).toBeUndefined();
    },
  );
});

it('watches its window until it is closed', () => {
  let watchers = 0;
  class Watched extends RateWindow {
    override watch(): Disposable {
      watchers += 1;
      return { [Symbol.dispose]: () => (watchers -= 1) };
    }
  }
  const window = new Watched({ requests: 1, intervalMs: 1_000 });
  const gate = new Gate({ concurrency: 1, window, account: unheld() }, testClock());
  expect(watchers).toBe(1);
  gate.close();
  expect(watchers).toBe(0);
});
