import { expect, it } from 'vitest';
import { syncVerdict } from '../../../../src/extensions/health/status/sync-verdict.ts';
import type { SyncResult } from '../../../../src/orders/sync.ts';
import { newCounters } from '../../../../src/orders/pass/outcomes.ts';

const HOLD = { kind: 'creates-paused', since: '2026', until: null, reason: 'x', actor: 'ann' } as const;

it.each<
  [end: SyncResult['end'], summary: Partial<SyncResult['summary']>, held: boolean, stopped: boolean, text: string]
>([
  ['done', {}, false, false, 'all is well: there was nothing to do'],
  ['done', { sent: 3, lookedUp: 1_197, changed: 12 }, false, false, 'all is well: 3 sent, 1,197 looked up, 12 changed'],
  ['done', { lookedUp: 1, remaining: 1 }, false, false, 'all is well: 1 looked up; 1 order is waiting to be sent'],
  [
    'look',
    { held: 2, disputed: 1 },
    false,
    false,
    'a person should look: 1 order is disputed, 2 orders are held; order-sync orders list --state disputed',
  ],
  ['look', { findings: 1 }, false, false, 'a person should look: 1 open finding; order-sync findings list'],
  [
    'look',
    { invalid: 1, newInvalid: 2 },
    false,
    false,
    'a person should look: 2 new orders are invalid; order-sync orders list --state invalid',
  ],
  ['look', { failed: 1 }, false, false, 'a person should look: 1 request failed; order-sync sync'],
  [
    'look',
    {},
    true,
    false,
    'a person should look: creating orders is paused by ann: x; order-sync resume --reason TEXT',
  ],
  ['look', {}, false, false, 'a person should look: order-sync findings list --status any'],
  [
    'out-of-reach',
    { remaining: 2 },
    false,
    false,
    'the exchange is out of reach; 2 orders are waiting to be sent; order-sync sync tries again',
  ],
  ['out-of-reach', {}, true, false, 'the account is paused; order-sync sync tries again'],
  [
    'out-of-time',
    { sent: 1, remaining: 3 },
    false,
    false,
    'the time ran out before the end: 1 sent; 3 orders are waiting to be sent; about 5 requests left; order-sync sync continues, and --timeout allows more time',
  ],
  [
    'out-of-time',
    { sent: 1 },
    false,
    true,
    'stopped before the end: 1 sent; about 5 requests left; order-sync sync continues',
  ],
  [
    'key-refused',
    { remaining: 1 },
    false,
    false,
    'the exchange refuses the key (401); put the right key into the place that order-sync config show prints: a running daemon reads a key file again within a minute, but a key in the settings only when it restarts; 1 order is waiting to be sent',
  ],
])('a pass that ended %s with %j says so in one line', (end, some, isHeld, isStopped, text) => {
  const summary = { ...newCounters(), newInvalid: 0, remaining: 0, durationMs: 5, ...some };
  expect(
    syncVerdict({ end, summary, holds: isHeld ? [HOLD] : [] }, { account: 'default', isStopped, requests: 6 }),
  ).toBe(text);
});

it('the command that continues is about the account of the pass', () => {
  const summary = { ...newCounters(), newInvalid: 0, remaining: 1, durationMs: 1 };
  const text = syncVerdict(
    { end: 'out-of-reach', summary, holds: [] },
    { account: 'shop-1', isStopped: false, requests: 1 },
  );
  expect(text).toContain('order-sync sync --account shop-1 tries again');
});
