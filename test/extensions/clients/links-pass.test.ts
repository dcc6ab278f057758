import { describe, expect, it, vi } from 'vitest';
import { adoptLink, linksPass, makeLink } from '../../../src/extensions/clients/links.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { history, link, LINK_NOT_FOUND, linked, rows } from '../../support/linked.ts';
import { refusal } from '../../support/scripted-exchange.ts';
import { SECOND } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;
const EMAIL = 'canary.person@shop.example';

describe('a pass over the links', () => {
  it('records each change once, and looks at a link until its status is final', async () => {
    const { program, answers, asked, pass } = await linked(['a', 'b'], {
      environment: { ORDER_SYNC_LINKS_FINAL_STATUSES: 'VERIFIED,REFUSED' },
    });
    for (const status of ['PENDING', 'PENDING', 'VERIFIED', 'LAPSED']) {
      answers.set('a', link('a', status));
      await pass();
    }
    expect(history(program, 'a')).toEqual([
      'status null → NOT_VERIFIED followed',
      'status NOT_VERIFIED → PENDING check',
      'status PENDING → VERIFIED check',
    ]);
    expect(asked.filter((id) => id === 'a')).toHaveLength(3);
    expect(asked.filter((id) => id === 'b')).toHaveLength(4);
    expect(rows(program)).toMatchObject([{ status: 'VERIFIED' }, { status: 'NOT_VERIFIED' }]);
  });

  it('logs a status that was not seen before once, and each change', async () => {
    const { program, log, answers, pass } = await linked(['a', 'b']);
    for (const id of ['a', 'b']) answers.set(id, link(id, 'PENDING'));
    await pass();
    expect(log.with(/^the status of a link changed$/).map(({ linkId, newValue }) => [linkId, newValue])).toEqual([
      ['a', 'NOT_VERIFIED'],
      ['b', 'NOT_VERIFIED'],
      ['a', 'PENDING'],
      ['b', 'PENDING'],
    ]);
    program.clock.advance(10 * SECOND);
    await program.app.eachSecond();
    expect(log.with(/were not seen before/)).toMatchObject([{ statuses: ['link.status PENDING'] }]);
  });

  it('records a link that is missing once, forgets nothing of it, and records that it is back', async () => {
    const { program, answers, asked, pass } = await linked(['a']);
    answers.set('a', LINK_NOT_FOUND);
    await pass();
    const since = program.clock.now().toISOString();
    await pass();
    expect(rows(program)).toMatchObject([{ link_id: 'a', status: 'NOT_VERIFIED', missing_since: since }]);
    answers.set('a', link('a', 'VERIFIED'));
    await pass();
    expect(rows(program)).toMatchObject([{ status: 'VERIFIED', missing_since: null }]);
    expect(history(program, 'a')).toEqual([
      'status null → NOT_VERIFIED followed',
      `missing null → ${since} check`,
      `missing ${since} → null check`,
      'status NOT_VERIFIED → VERIFIED check',
    ]);
    expect(asked).toHaveLength(3);
  });

  it.each([
    ['an undocumented 404', { status: 404, body: '<html>no such page</html>' }],
    ['a 404 about something else', { status: 404, body: '{"message":"x","code":"404","status":"GONE"}' }],
    ['another refusal', refusal(403)],
    ['an error of the exchange', { status: 500, body: 'down' }],
    ['an answer about another link', link('b', 'VERIFIED')],
    ['an answer that cannot be read', { status: 200, body: '{"linkId":"a"}' }],
    ['a connection that breaks', 'reset'],
    ['a limit of the rate', { status: 429, body: '' }],
    ['a refused key', refusal(401)],
  ] as const)('learns nothing from %s', async (_, answer) => {
    const { program, log, answers, pass } = await linked(['a']);
    const before = rows(program);
    answers.set('a', answer);
    await pass();
    expect(rows(program)).toEqual(before);
    expect(history(program, 'a')).toHaveLength(1);
    // A reply that holds the account is logged as its hold.
    expect(log.lines.filter(({ level }) => level === 'warn' || level === 'error')).not.toEqual([]);
  });

  it('notes whether the key works', async () => {
    const { program, answers, pass } = await linked(['a']);
    await pass();
    expect(program.app.restraints.all).toEqual([]);
    answers.set('a', refusal(401));
    await pass();
    expect(program.app.restraints.all).toMatchObject([{ kind: 'key-refused' }]);
    expect(program.app.restraints.isKeyWrong).toBe(false);
  });

  it('continues after a link whose id cannot be put into a request', async () => {
    const { program, exchange, log, asked, toLookUp, pass } = await linked([]);
    for (const id of ['..', 'a']) {
      exchange.answer = () => link(id);
      await makeLink(program.app, { email: EMAIL, reference: null });
    }
    exchange.answer = toLookUp;
    await pass();
    expect(asked).toEqual(['a']);
    expect(log.with(/the check of a link failed/)).toMatchObject([{ linkId: '..' }]);
  });

  it('looks at each of many links once, the longest waiting first, with few in flight', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `l${index}`);
    const { program, exchange, asked, toLookUp, pass } = await linked(ids);
    const askInTurn = program.app.exchange.askInTurn.bind(program.app.exchange);
    let inFlight = 0;
    let most = 0;
    vi.spyOn(program.app.exchange, 'askInTurn').mockImplementation(async (...args) => {
      most = Math.max(most, ++inFlight);
      return await askInTurn(...args).finally(() => (inFlight -= 1));
    });
    const full = Promise.withResolvers<void>();
    exchange.answer = async (request) => {
      const answer = toLookUp(request);
      if (asked.length === 4) full.resolve();
      await full.promise;
      return answer;
    };
    await pass();
    expect(asked.toSorted()).toEqual(ids.toSorted());
    expect(most).toBe(4);
    expect(asked.slice(0, 4).toSorted()).toEqual(ids.slice(0, 4));
    expect(program.merchant.prepare(`select count(*) from events where type = 'link'`).pluck().get()).toBe(450);
  });

  it('continues at its stop: with the links that wait longest', async () => {
    const { asked, exchange, toLookUp, pass } = await linked(Array.from({ length: 12 }, (_, index) => `l${index}`));
    const stop = new AbortController();
    exchange.answer = (request) => {
      if (asked.length === 5) stop.abort();
      return toLookUp(request);
    };
    await pass(stop.signal);
    const first = [...asked];
    expect(first.length).toBeLessThan(12);
    asked.length = 0;
    await pass();
    expect(asked).toHaveLength(12);
    expect(asked.slice(0, 12 - first.length).filter((id) => first.includes(id))).toEqual([]);
  });

  it('checks nothing after it was stopped', async () => {
    const { asked, pass } = await linked(['a']);
    await pass(AbortSignal.abort());
    expect(asked).toEqual([]);
  });

  it('ends when the exchange cannot serve, and waits nothing out', async () => {
    const { program, answers, asked, pass } = await linked(Array.from({ length: 50 }, (_, index) => `l${index}`));
    for (let index = 0; index < 50; index += 1) answers.set(`l${index}`, { status: 503, body: '' });
    await pass();
    expect(program.app.exchange.breaker('lookup').isOpen).toBe(true);
    expect(asked.length).toBeLessThan(10);
    asked.length = 0;
    await linksPass(program.app, NEVER);
    expect(asked).toEqual([]);
  });

  it('writes nothing over what was learned of a link while it asked', async () => {
    const { program, exchange, toLookUp, answers, pass } = await linked(['a']);
    let isFirst = true;
    exchange.answer = async (request) => {
      if (!isFirst) return toLookUp(request);
      isFirst = false;
      program.clock.advance(SECOND);
      answers.set('a', link('a', 'NEWER'));
      await adoptLink(program.app, { linkId: 'a', reference: null });
      return link('a', 'OLDER');
    };
    await pass();
    expect(history(program, 'a')).toEqual([
      'status null → NOT_VERIFIED followed',
      'status NOT_VERIFIED → NEWER followed',
    ]);
  });

  it('records a change of a link whose time of the last check another program has emptied', async () => {
    const { program, answers, pass } = await linked(['l1']);
    program.merchant.exec(`update links set last_checked_at = ''`);
    answers.set('l1', link('l1', 'VERIFIED'));
    await pass();
    expect(rows(program)).toMatchObject([{ status: 'VERIFIED', last_checked_at: program.clock.now().toISOString() }]);
    expect(history(program, 'l1').at(-1)).toContain('VERIFIED');
  });

  it('counts against the window that the next owner leaves alone', async () => {
    const { program, pass } = await linked(['a']);
    await pass();
    const until = program.merchant.prepare('select requests_until from request_leases').pluck().get() as string;
    expect(Date.parse(until)).toBeGreaterThan(program.clock.now().getTime());
  });

  it('finds a link whose check was written under a clock that was ahead', async () => {
    const { program, asked, pass } = await linked(['a']);
    await program.app[Symbol.asyncDispose]();
    program.merchant.exec(`update links set last_checked_at = '2031-01-01T00:00:00.000Z'`);
    const log = capturedLog();
    program.app = await program.start({ log: log.logger });
    await pass();
    expect(log.with(/written under another clock/)).toMatchObject([{ links: 1 }]);
    expect(asked).toEqual(['a']);
  });
});
