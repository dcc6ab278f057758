import { describe, expect, it } from 'vitest';
import { orderLink } from '../../../../src/extensions/health/dashboard/markup.ts';
import { dashboardPage } from '../../../../src/extensions/health/dashboard/page.ts';
import { dashboardFacts } from '../../../support/dashboard-facts.ts';
import { receiverState } from '../../../support/reading.ts';

describe('the dashboard', () => {
  it('says in its first line that all is well when nothing needs a person', () => {
    expect(dashboardPage(dashboardFacts({ troubles: [] }))).toMatch(/class="verdict good"[\s\S]*<h1>All is well<\/h1>/);
    const facts = dashboardFacts({ troubles: [] });
    const receivers = facts.overview.receivers.map((one) => ({ ...one, failingSince: facts.at }));
    const page = dashboardPage({ ...facts, overview: { ...facts.overview, receivers } });
    expect(receivers.length).toBeGreaterThan(0);
    expect(page).not.toContain('All is well');
    expect(dashboardPage(dashboardFacts())).toMatch(/class="verdict error"[\s\S]*<h1>/);
  });

  it('keeps every digit of an amount, and has no style or script of its own in the page', () => {
    const page = dashboardPage(dashboardFacts());
    expect(page.replaceAll(/<\/?[bi]>/g, '')).toContain('12.000000012345678901');
    expect(page).not.toMatch(/ style=|<style|<script>| on\w+=/);
    expect(page).toContain('&#60;script&#62;alert(1)&#60;/script&#62;');
  });

  it('folds the findings that come after the sixth problem, and no other problem', () => {
    const [trouble] = dashboardFacts().troubles;
    const findings = Array.from({ length: 8 }, () => ({ ...trouble!, about: { class: 'STUCK' } }));
    const troubles = [...findings, { ...trouble!, code: 'receiver-fails' as const, about: { receiver: 'shop' } }];
    const [shown = '', folded = ''] = dashboardPage(dashboardFacts({ troubles })).split('<details>');
    expect(shown.match(/<h[13]>/g)).toHaveLength(7);
    expect(folded).toContain('<summary>2 more classes of findings</summary>');
    expect(folded.match(/<h3>/g)).toHaveLength(2);
  });

  it('lists findings of orders that a person has decided about after the ones that are counted elsewhere', () => {
    const [first] = dashboardFacts().troubles;
    const ofClass = (code: 'decided' | 'finding', name: string) => ({
      ...first!,
      code,
      text: name,
      about: { class: name },
    });
    const counted = { concerned: { class: 'STUCK', status: 'open' }, stake: { amounts: [], isCut: false } } as const;
    const told = { ...ofClass('finding', 'STUCK'), ...counted };
    const page = dashboardPage(dashboardFacts({ troubles: [first!, ofClass('decided', 'DECIDED'), told] }));
    expect([...page.matchAll(/<h3>.*?(STUCK|DECIDED)/g)].map(([, name]) => name)).toEqual(['STUCK', 'DECIDED']);
    // To acknowledge a finding is no problem.
    expect(page).toContain('and 1 other problem, 1 class of findings to acknowledge<');
    const alone = dashboardPage(dashboardFacts({ troubles: [first!, ofClass('decided', 'DECIDED')] }));
    expect(alone).not.toContain('ther problem');
  });

  it('shows an order with an empty id as one that can be clicked', () => {
    const order = { account: 'default', externalOrderId: '' };
    expect(orderLink(order)).toMatch(/^<a href="\/order\?id=[^>]*>[^<]+<\/a>$/);
  });

  it('leads from each number to the list behind it', () => {
    const page = dashboardPage(dashboardFacts()).replaceAll('&#38;', '&');
    const paths = [...page.matchAll(/href="(\/(?:orders|findings)\?[^"]*)"/g)].map(([, path]) => path);
    for (const state of ['pending', 'unknown', 'held', 'accepted', 'open', 'disputed', 'final', 'invalid']) {
      expect(paths).toContain(`/orders?account=default&state=${state}`);
    }
    expect(paths).toContain('/findings?account=default&class=AMOUNT_MISMATCH&status=open');
    expect(paths).toContain('/findings?account=default&severity=info&status=open');
    const since = '/orders?account=default&since=2026-03-03T14%3A00%3A00.000Z';
    expect(paths).toContain(since);
    expect(paths).toContain(`${since}&pair=BTC%2FEUR&outcome=succeeded`);
    expect(paths).toContain(`${since}&pair=BTC%2FEUR&state=open`);
    expect(paths).toContain(`${since}&pair=EUR%2FBTC&outcome=failed`);
    expect(paths).not.toContain(`${since}&pair=EUR%2FBTC&state=open`);
  });

  it('shows no state without orders, and each part with its gravest problem', () => {
    const facts = dashboardFacts();
    const page = dashboardPage(facts);
    expect([page.includes('state-sending'), page.includes('state-held')]).toEqual([false, true]);
    expect(page).toContain('>Exchange</span>');
    const [first] = facts.troubles;
    const troubles = (['out-of-reach', 'parked'] as const).map((code) => ({ ...first!, code, text: `it is ${code}` }));
    const ill = dashboardPage({ ...facts, troubles });
    expect(ill).toMatch(/<li class="error">.*>Exchange<\/span>.*It is out-of-reach/);
    expect(ill).toMatch(/<li class="error">.*>Webhooks<\/span>.*It is parked/);
    expect(ill).toMatch(/<li class="good">.*>Database<\/span>/);
  });

  it.each(['movesSince', 'moneySince'])('says what is cut: %s', (field) => {
    const facts = dashboardFacts();
    expect(dashboardPage(facts)).not.toContain('There are too many orders');
    const activity = { ...facts.activity!, [field]: '2026-03-04T02:00:00.000Z' };
    expect(dashboardPage({ ...facts, activity }).match(/too many orders[^.]* 2026-03-04 02:00/g)).toHaveLength(1);
  });

  it('says which receiver takes no events, and why', () => {
    const since = '2026-03-04T13:37:20.000Z';
    const receivers = [
      receiverState({}),
      receiverState({ name: 'shop-2', failingSince: since, cause: 'ECONNREFUSED' }),
    ];
    const facts = dashboardFacts();
    const page = dashboardPage({ ...facts, overview: { ...facts.overview, receivers } });
    expect(page).toMatch(/shop-2[^<]*ECONNREFUSED/);
  });

  it('has the number of the orders that are in no sum', () => {
    const facts = dashboardFacts();
    const activity = (unreadable: number) =>
      facts.activity && { ...facts.activity, money: facts.activity.money.map((group) => ({ ...group, unreadable })) };
    const pageOf = (unreadable: number) => dashboardPage({ ...facts, activity: activity(unreadable) });
    expect([0, 11].map((unreadable) => pageOf(unreadable).includes('Not in the sums'))).toEqual([false, true]);
  });
});
