import { describe, expect, it } from 'vitest';
import { followPass } from '../../src/orders/follow.ts';
import { record } from '../support/scripted-exchange.ts';
import { acceptedOrders, type TestProgram, type TestProgramOptions } from '../support/test-program.ts';
import { DAY, MINUTE } from '../support/tracking.ts';

const NEVER = new AbortController().signal;

/** An order that is answered for another id, looked up whenever it is due for a day; the requests of that day. */
async function aDayOf(answeredFor: string, environment: TestProgramOptions['environment'] = {}) {
  const { program, exchange } = await acceptedOrders(['a'], {
    environment: { ORDER_SYNC_FOLLOW_WORTH: '60s', ...environment },
  });
  exchange.answer = () => record(answeredFor);
  for (let time = 0; time < DAY; time += MINUTE / 4) {
    program.clock.advance(MINUTE / 4);
    await followPass(program.app, 'due', NEVER);
  }
  return { program, lookups: exchange.count('GET') };
}

const findings = ({ merchant }: TestProgram) =>
  merchant.prepare(`select class from findings where status = 'open' and severity = 'error'`).pluck().all();

describe('an order that is answered', () => {
  it('under another spelling of its id is disputed, recorded, and followed by schedule', async () => {
    const { program, lookups } = await aDayOf('A');
    expect(program.row('a')).toMatchObject({ state: 'disputed', order_id: 'o1-A', order_status: 'REQUEST' });
    expect(findings(program)).toEqual(['IDENTITY_MISMATCH']);
    expect(lookups).toBeLessThan(60);
  });

  it('under another spelling is followed as ours if the settings say that it is', async () => {
    const { program } = await aDayOf('A', { ORDER_SYNC_FOLLOW_DISPUTED_BY: 'merchant,amount' });
    expect(program.row('a')['state']).toBe('open');
  });

  it('for another id is not found, and followed by schedule', async () => {
    const { program, lookups } = await aDayOf('b');
    expect(program.row('a')).toMatchObject({ state: 'accepted', order_id: null, order_status: null });
    expect(findings(program)).toContain('IDENTITY_MISMATCH');
    expect(lookups).toBeLessThan(60);
  });
});
