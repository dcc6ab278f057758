import { expect, it } from 'vitest';
import { LOOKUPS_A_ROUND } from '../../../src/orders/rules/schedule.ts';
import { sweepWithoutFindings } from '../../../src/extensions/sweep/sweep.ts';
import { lookUpDue } from '../../../src/orders/follow.ts';
import { NOT_FOUND, record } from '../../support/scripted-exchange.ts';
import { learningPaceOf } from '../../support/paces.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { HOUR, SECOND } from '../../support/tracking.ts';
import { unguarded } from '../../support/unguarded.ts';

const NEVER = new AbortController().signal;
const MANY = 500_000;
/** Look-ups that may go before an order that has just become due: the rest of a round, and those before it in the next one. */
const A_TURN = 2 * LOOKUPS_A_ROUND;
const OPEN = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' } as const;

/** Rows of orders that were sent an hour ago, every other one looked up since, and are due after `dueMs`. */
function insertMany({ merchant, clock }: TestProgram, state: string, count: number, dueMs: number): void {
  const at = (ms: number) => `'${new Date(clock.now().getTime() + ms).toISOString()}'`;
  const ago = at(-HOUR);
  unguarded(merchant, () =>
    merchant.exec(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency, state, attempts,
        pre_order_id, next_action_at, last_lookup_at, sent_at, changed_at, created_at, updated_at)
      with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${count})
      select concat('${state}-', i), '1.5', 'BTC', 'EUR', '${state}', 1, concat('pre-${state}-', i), ${at(dueMs)},
        case when i % 2 = 0 then ${at(-SECOND)} end, ${ago}, ${ago}, ${ago}, ${ago} from numbers`),
  );
}

it('500,000 accepted orders that are due delay an open one by a turn of the queue, and do not make it due later', async () => {
  // Five look-ups a second may go to orders that are followed.
  const environment = { ORDER_SYNC_FOLLOW_PACE: 'learned', ORDER_SYNC_FOLLOW_SHARE: '0.00005' };
  const { program, exchange } = await scriptedProgram({ environment });
  const { app, clock } = program;
  const pace = learningPaceOf(app);
  insertMany(program, 'open', 1, SECOND);
  await sweepWithoutFindings(app, NEVER);
  const gapAlone = pace.gapMs(OPEN, 0);
  insertMany(program, 'accepted', MANY, -HOUR);
  await sweepWithoutFindings(app, NEVER);
  expect(pace.learned.statuses.reduce((sum, { orders }) => sum + orders, 0)).toBe(MANY + 1);
  expect(pace.gapMs(OPEN, 0)).toBeLessThan(1.5 * gapAlone);

  const enough = new AbortController();
  const [before, looked]: [number, string[]] = [100, []];
  exchange.answer = ({ externalOrderId: id }) => {
    looked.push(id);
    if (looked.length === before) clock.advance(2 * SECOND);
    if (looked.length > before + 2 * A_TURN) enough.abort();
    return id.startsWith('open') ? record(id) : NOT_FOUND;
  };
  await lookUpDue(app, () => clock.now(), enough.signal);
  expect(looked.indexOf('open-1')).toBeGreaterThan(before - 1);
  expect(looked.indexOf('open-1')).toBeLessThan(before + A_TURN);
});
