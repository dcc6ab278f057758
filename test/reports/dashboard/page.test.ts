import { describe, expect, it } from 'vitest';
import { needsOf } from '../../../src/reports/dashboard/attention.ts';
import { dashboardPage } from '../../../src/reports/dashboard/page.ts';
import { dashboardFacts, receiverState } from '../../support/dashboard-facts.ts';

const QUIET = { undecided: [], findings: [], newestFindings: [], holds: [], oldest: [] } as const;
/** Facts of an account on which nobody has to look at anything. */
const wellFacts = (changes: Parameters<typeof dashboardFacts>[0] = {}) =>
  dashboardFacts({ ...QUIET, orders: [{ state: 'final', orders: 3, isMore: false }], ...changes });
const hold = { account: 'default', since: '2026-03-04T13:00:00.000Z', until: null, reason: 'r', actor: null } as const;

describe('the dashboard', () => {
  it('says in its first line that all is well when nothing needs a person', () => {
    expect(needsOf(wellFacts())).toEqual([]);
    expect(dashboardPage(wellFacts())).toMatch(/class="verdict good"[\s\S]*<p>All is well<\/p>/);
    expect(dashboardPage(dashboardFacts())).toMatch(/class="verdict error"/);
  });

  it.each([
    [
      'a held order',
      { undecided: [{ account: 'shop 2', externalOrderId: 'a b', state: 'held', reason: null, since: '' }] },
      "orders explain 'a b' --account 'shop 2'",
    ],
    [
      'a disputed order',
      { undecided: [{ account: 'default', externalOrderId: 'a', state: 'disputed', reason: null, since: '' }] },
      'orders explain a',
    ],
    [
      'held orders that are not named',
      { orders: [{ state: 'held', orders: 4, isMore: false }] },
      'orders list --state held',
    ],
    ['a pause', { holds: [{ ...hold, kind: 'all-paused' }] }, 'resume --reason TEXT'],
    ['a key that is refused', { holds: [{ ...hold, kind: 'key-refused' }] }, 'doctor'],
    [
      'a finding',
      { findings: [{ account: 'default', class: 'AMOUNT_MISMATCH', findings: 1, isMore: false }] },
      'findings list --class AMOUNT_MISMATCH',
    ],
    [
      'an outcome that is unknown',
      { orders: [{ state: 'unknown', orders: 2, isMore: false }] },
      'orders list --state unknown',
    ],
    [
      'orders that wait for long',
      { oldest: [{ account: 'default', state: 'pending', since: '2026-03-04T09:00:00.000Z' }] },
      'orders list --state pending',
    ],
    [
      'a database that cannot be written',
      { database: { ...wellFacts().database, failure: 'the disk is full' } },
      'db check',
    ],
    ['a receiver that fails', { receivers: [receiverState({ failingSince: hold.since })] }, 'webhooks show shop'],
    ['a dead letter', { receivers: [receiverState({ name: 'a b', deadLetters: 1 })] }, "webhooks show 'a b'"],
  ] as const)('names the command that helps with %s', (_name, changes, command) => {
    expect(needsOf(wellFacts(changes)).map((need) => need.command)).toEqual([`order-sync ${command}`]);
  });

  it('says why the exchange is out of reach, and what finds out more', () => {
    const { exchange } = wellFacts();
    const outOfReach = [{ account: 'default', since: hold.since, reason: 'ECONNREFUSED' }];
    const lost = wellFacts({ exchange: exchange && { ...exchange, outOfReach } });
    expect(needsOf(lost)).toMatchObject([
      { command: 'order-sync doctor', text: expect.stringContaining('ECONNREFUSED') as string },
    ]);
  });

  it.each([
    ['a wait for the rate', { holds: [{ ...hold, kind: 'rate-limited' }] }],
    [
      'a finding that only explains',
      { findings: [{ account: 'default', class: 'STATUS_UNMAPPED', findings: 1, isMore: false }] },
    ],
    [
      'orders that wait for a pass of now',
      { oldest: [{ account: 'default', state: 'pending', since: '2026-03-04T13:37:00.000Z' }] },
    ],
  ] as const)('asks nobody to look at %s', (_name, changes) => {
    expect(needsOf(wellFacts(changes))).toEqual([]);
  });

  it('keeps every digit of an amount, and has no style or script of its own in the page', () => {
    const page = dashboardPage(dashboardFacts());
    expect(page.replaceAll(/<\/?[bi]>/g, '')).toContain('12.000000012345678901');
    expect(page).not.toMatch(/ style=|<style|<script>| on\w+=/);
    expect(page).toContain('&#60;script&#62;alert(1)&#60;/script&#62;');
  });
});
