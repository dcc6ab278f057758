import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { SCENARIOS, type OddAnswersName } from '../../src/extensions/sandbox/scenario.ts';
import { hastyClock, testClock } from '../support/test-clock.ts';
import { testProgram, type SandboxProgram } from '../support/test-program.ts';
import { HOUR, MINUTE, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const IDS = Array.from({ length: 12 }, (_, index) => `o${index}`);
const SETTINGS = {
  ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED',
  ORDER_SYNC_FOLLOW_OPEN_STATUSES: 'REQUEST,IN_PROGRESS',
};

/** Twelve orders against a sandbox that answers so, after a quarter of an hour with a tick each 5 s and then a `sync`. */
async function lived(answers: OddAnswersName, ids: readonly string[] = IDS) {
  const program = await started(answers, ids);
  await live(program, 15 * MINUTE);
  const { end, summary } = await syncOnce(program.app, 'all', NEVER);
  const { duplicated, preOrders } = program.sandbox.exchange.census();
  expect(duplicated).toEqual([]);
  return { program, end, summary, preOrders, states: statesOf(program), findings: findingsOf(program) };
}

async function started(answers: OddAnswersName, ids: readonly string[] = IDS, clock = testClock()) {
  const program = await testProgram({ clock, scenarioOf: () => SCENARIOS[answers], environment: SETTINGS });
  program.insert(...ids.map((external_order_id) => ({ external_order_id })));
  return program;
}

async function live({ app, clock }: SandboxProgram, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5 * SECOND) {
    await createPass(app, NEVER);
    await followPass(app, 'due', NEVER);
    clock.advance(5 * SECOND);
  }
}

function statesOf({ merchant }: SandboxProgram): Record<string, number> {
  const rows = merchant
    .prepare('select state, count(*) from merchant_orders group by state order by state')
    .raw()
    .all();
  return Object.fromEntries(rows as [string, number][]);
}

function findingsOf({ merchant }: SandboxProgram): unknown[] {
  return merchant.prepare(`select distinct class from findings where status = 'open' order by class`).pluck().all();
}

describe('against an exchange that answers oddly', () => {
  it.each(['spring', 'empty404', 'nulls'] as const)('every order becomes final: %s', async (answers) => {
    const { states, end, findings, summary, preOrders } = await lived(answers);
    expect({ states, end, findings, failed: summary.failed, preOrders }).toEqual({
      states: { final: 12 },
      end: 'done',
      findings: [],
      failed: 0,
      preOrders: 12,
    });
  });

  it('one order that is always answered 500 waits by itself, and sync ends with something to look at', async () => {
    const { states, end, summary, program } = await lived('error500');
    expect({ states, end, failed: summary.failed }).toEqual({
      states: { accepted: 1, final: 11 },
      end: 'look',
      failed: 1,
    });
    expect(program.app.exchange.breaker('lookup').openingsEver).toBe(0);
  });

  it('the newer of two replicas counts, and no change is recorded twice', async () => {
    const { states, program } = await lived('replicas');
    expect(states).toEqual({ final: 12 });
    for (const id of IDS) {
      const completed = program.events(id).filter((event) => event.endsWith('→ COMPLETED'));
      expect([completed.length, program.row(id)['order_status']]).toEqual([1, 'COMPLETED']);
    }
  });

  it("another merchant's order is disputed, and none is sent again", async () => {
    const { states, end, summary, preOrders, findings } = await lived('foreign');
    expect({ states, end, disputed: summary.disputed, preOrders }).toEqual({
      states: { disputed: 12 },
      end: 'look',
      disputed: 12,
      preOrders: 12,
    });
    expect(findings).toEqual(expect.arrayContaining(['AMOUNT_MISMATCH', 'ID_COLLISION']));
  });

  it('an order under another spelling of its id is disputed, and one whose id is spelled alike is not', async () => {
    const { states, end, preOrders, program } = await lived('normalising', ['shop-1', 'shop-2', 'SHOP-3']);
    expect({ states, end, preOrders }).toEqual({ states: { disputed: 2, final: 1 }, end: 'look', preOrders: 3 });
    expect(program.row('SHOP-3')['state']).toBe('final');
  });

  it('of the rows of a blocked merchant none is taken or left unknown', async () => {
    const { states, preOrders } = await lived('blocked');
    expect([states, preOrders]).toEqual([{ pending: 12 }, 0]);
  });

  it('creates that are taken and never answered are found, and none is sent twice', async () => {
    const program = await started('post-down', IDS, hastyClock());
    const { end, summary } = await syncOnce(program.app, 'all', NEVER);
    expect([end, summary.remaining > 0]).toEqual(['look', true]);
    // A create whose order is found was taken: it ends the wait of the others.
    await live(program, HOUR);
    expect(statesOf(program)).toEqual({ final: 12 });
    expect(program.sandbox.exchange.census()).toEqual({ preOrders: 12, duplicated: [] });
    const { holds, ...after } = await syncOnce(program.app, 'all', NEVER);
    expect([after.end, holds]).toEqual(['done', []]);
  });
});
