import { describe, expect, it } from 'vitest';
import type { PacedOrder } from '../../../src/orders/rules/lookup.ts';
import { PaceLearner } from '../../../src/extensions/pace/pace.ts';
import { statusKey } from '../../../src/extensions/pace/status.ts';
import { loadConfig } from '../../support/settings.ts';
import { learningPaces, type LearningPace } from '../../../src/extensions/pace/follow-pace.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { HOUR, MINUTE } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const ACCEPTED: PacedOrder = { state: 'accepted', orderStatus: null, cryptoStatus: null, fiatStatus: null };
/** Accounts that share one look-up a second, half of it for orders that are followed. */
function accounts(count: number): readonly LearningPace[] {
  const settings = loadConfig({
    requireExchange: false,
    cwd: temporaryFolder(),
    file: null,
    env: { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '1', ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '1s' },
  });
  const makePace = learningPaces(count);
  return Array.from({ length: count }, () => makePace(settings));
}

/** A learner of `count` accepted orders that were looked up a minute ago, and of some that were taken up within 17 h. */
function followed(count: number): PaceLearner {
  const stays = Array.from({ length: 1_000 }, (_, index) => ({ from: index * MINUTE, to: (index + 1) * MINUTE }));
  const ended = { key: statusKey(ACCEPTED), state: ACCEPTED.state, isByExchange: true, lateMs: undefined };
  const learner = new PaceLearner(stays.map((stay) => ({ ...ended, ...stay })));
  const lastLookupAt = new Date(NOW.getTime() - MINUTE);
  const order = { ...ACCEPTED, changedAt: new Date(NOW.getTime() - HOUR), lastLookupAt, nextActionAt: '' };
  for (let index = 0; index < count; index += 1) learner.addOrder(order, NOW);
  return learner;
}

describe('accounts that share a rate', () => {
  it('may each take what the others leave: a busy one is not held to its part beside idle ones', () => {
    const [busy, ...idle] = accounts(100);
    for (const account of idle) account.take(followed(0), 0);
    busy?.take(followed(1_000), 0);
    expect(busy?.learned.demand).toBeGreaterThan(0.8 * (busy?.limits.budget ?? 0));
  });

  it('keep within the share together once each has planned, and have an equal part at least', () => {
    const [one, other] = accounts(2);
    for (let times = 0; times < 5; times += 1) for (const account of [one, other]) account?.take(followed(1_000), 0);
    const demands = [one, other].map((account) => account?.learned.demand ?? 0);
    expect(demands[0]! + demands[1]!).toBeLessThanOrEqual(1.05 * (one?.limits.budget ?? 0));
    expect(Math.min(...demands)).toBeGreaterThan(0.4 * (one?.limits.budget ?? 0));
  });

  it('leave out what one planned long ago: it may be owned no more', () => {
    const [gone, busy] = accounts(2);
    gone?.take(followed(1_000), 0);
    busy?.take(followed(1_000), 2 * HOUR);
    expect(busy?.learned.demand).toBeGreaterThan(0.8 * (busy?.limits.budget ?? 0));
  });
});
