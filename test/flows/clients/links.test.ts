import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { createApp } from '../../../src/app.ts';
import { UnusableIdError } from '../../../src/exchange/ids.ts';
import { adoptLink, linksPass, makeLink } from '../../../src/flows/clients/links.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { scriptedProgram } from '../../support/test-program.ts';
import { refusal, type ScriptedAnswer, type ScriptedRequest } from '../../support/scripted-exchange.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';
import type { TestProgram, TestProgramOptions } from '../../support/test-program.ts';

const NEVER = new AbortController().signal;
const EMAIL = 'canary.person@shop.example';
const CLIENT = '/api/v1/merchant/client';
const LINK_NOT_FOUND: ScriptedAnswer = {
  status: 404,
  body: '{"message":"link not found","code":"404","status":"NOT_FOUND"}',
};

function link(linkId: string, status = 'NOT_VERIFIED'): ScriptedAnswer {
  return { status: 200, body: JSON.stringify({ linkId, status, unheard: 1.1 }) };
}

const idOf = ({ path }: ScriptedRequest) => decodeURIComponent(path.slice(CLIENT.length + 1));

/** Links that are remembered, and an exchange whose answers about them the test sets, by id. */
async function linked(ids: readonly string[], options: TestProgramOptions = {}) {
  const { program, exchange } = await scriptedProgram(options);
  const answers = new Map<string, ScriptedAnswer>();
  const asked: string[] = [];
  const toLookUp = (request: ScriptedRequest) => {
    asked.push(idOf(request));
    return answers.get(idOf(request)) ?? link(idOf(request));
  };
  exchange.answer = toLookUp;
  for (const linkId of ids) {
    await adoptLink(program.app, { linkId, reference: null });
    program.clock.advance(1);
  }
  asked.length = 0;
  return {
    program,
    exchange,
    log: program.log,
    answers,
    asked,
    toLookUp,
    pass: async (signal = NEVER) => {
      program.clock.advance(10 * MINUTE);
      await linksPass(program.app, signal);
    },
  };
}

function rows(program: TestProgram): Record<string, unknown>[] {
  return program.merchant.prepare('select * from links order by link_id').all() as Record<string, unknown>[];
}

/** `field old → new source` of one link, in order. */
function history(program: TestProgram, linkId: string): string[] {
  const events = program.merchant
    .prepare(`select * from events where type = 'link' and subject = ? order by id`)
    .all(linkId);
  return (events as Record<string, unknown>[]).map(
    ({ field, old_value, new_value, source }) =>
      `${String(field)} ${String(old_value)} → ${String(new_value)} ${String(source)}`,
  );
}

describe('making a link (§4.1)', () => {
  it('remembers the link with its status and reference, and gives what the exchange answered', async () => {
    const { program, exchange } = await linked([]);
    exchange.answer = () => link('l1');
    const answer = await makeLink(program.app, { email: EMAIL, reference: 'client-7' });
    expect(answer).toMatchObject({ kind: 'ok', value: { linkId: 'l1', status: 'NOT_VERIFIED' } });
    expect(exchange.requests).toMatchObject([{ method: 'POST', path: CLIENT, body: JSON.stringify({ email: EMAIL }) }]);
    const now = program.clock.now().toISOString();
    expect(rows(program)).toEqual([
      {
        account: 'default',
        link_id: 'l1',
        reference: 'client-7',
        source: 'created',
        status: 'NOT_VERIFIED',
        created_at: now,
        updated_at: now,
        last_checked_at: now,
        missing_since: null,
      },
    ]);
    expect(history(program, 'l1')).toEqual(['status null → NOT_VERIFIED created']);
  });

  it('stores and logs the e-mail address nowhere, also where the exchange quotes it', async () => {
    const { program, exchange, log } = await linked([]);
    const inputs = { email: EMAIL, reference: 'client-7' };
    const said: unknown[] = [];
    for (const answer of [
      link('l1'),
      refusal(400, `bad address ${EMAIL}`),
      { status: 500, body: EMAIL },
      { status: 200, body: EMAIL },
      'reset',
    ] as const) {
      exchange.answer = () => answer;
      said.push(await makeLink(program.app, inputs).catch((error: unknown) => String(error)));
    }
    expect(exchange.count('POST')).toBe(5);
    expect(JSON.stringify([said, log.lines])).not.toContain('canary');
    const folder = dirname(program.config.database.path);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(files.length).toBeGreaterThan(1);
    expect(files.join('')).toContain('client-7');
    expect(files.join('')).not.toContain('canary');
  });

  it.each([
    ['that holds the e-mail address', `for ${EMAIL.toUpperCase()}`],
    ['that is empty', ' '],
    ['with control characters', 'a\u0000b'],
    ['with half a character', 'a\ud800'],
    ['that is too long', 'x'.repeat(501)],
  ])('takes no reference %s, and sends nothing', async (_, reference) => {
    const { program, exchange } = await linked([]);
    const refused = makeLink(program.app, { email: EMAIL, reference });
    await expect(refused).rejects.toThrow(UnusableIdError);
    await expect(refused).rejects.not.toThrow(/canary/i);
    expect(exchange.requests).toEqual([]);
  });

  it.each(['reset', 'truncated', { status: 502, body: '<html>' }, { status: 200, body: '{"linkId":7}' }] as const)(
    'says what to do when nobody knows whether it was made: %j',
    async (answer) => {
      const { program, exchange } = await linked([]);
      exchange.answer = () => answer;
      const outcome = await makeLink(program.app, { email: EMAIL, reference: null });
      expect(outcome).toMatchObject({ kind: 'unknown', why: expect.stringContaining('nobody knows') as string });
      expect(outcome).toMatchObject({ why: expect.stringContaining('client validate EMAIL') as string });
      expect(outcome).toMatchObject({ why: expect.stringContaining('client follow LINK') as string });
      expect(rows(program)).toEqual([]);
    },
  );

  it('remembers nothing where the exchange refuses, and says why', async () => {
    const { program, exchange } = await linked([]);
    const body = '{"message":"validation errors","code":"400","status":"LINK_ALREADY_EXISTS"}';
    exchange.answer = () => ({ status: 400, body });
    const answer = await makeLink(program.app, { email: EMAIL, reference: null });
    expect(answer).toMatchObject({ kind: 'refused', error: { status: 'LINK_ALREADY_EXISTS' } });
    expect(rows(program)).toEqual([]);
  });

  it('waits for space on the disk rather than lose the id of a link that was made', async () => {
    const { program, exchange, log } = await linked([]);
    const pages = async (limit: string) =>
      await sql.raw(`pragma max_page_count = ${limit}`).execute(program.app.store.db);
    // So long that it needs a page of its own.
    const linkId = 'l'.repeat(5_000);
    exchange.answer = async () => {
      await pages('1');
      return link(linkId);
    };
    const notYet = log.next(/cannot be stored yet/);
    const making = makeLink(program.app, { email: EMAIL, reference: null });
    await notYet;
    expect(log.with(/cannot be stored yet/)).toMatchObject([{ linkId }]);
    expect(rows(program)).toEqual([]);
    await pages('1000000');
    program.clock.advance(SECOND);
    expect(await making).toMatchObject({ kind: 'ok' });
    expect(rows(program)).toMatchObject([{ link_id: linkId }]);
    expect(exchange.requests).toHaveLength(1);
  });

  it('names the link when it was created but cannot be stored', async () => {
    const { program, exchange } = await linked([]);
    program.merchant.exec(`create trigger no_links before insert on links begin select raise(abort, 'no links'); end`);
    exchange.answer = () => link('l 1');
    const making = makeLink(program.app, { email: EMAIL, reference: null });
    await expect(making).rejects.toThrow('the link "l 1" was created but cannot be stored: no links');
    await expect(making).rejects.toMatchObject({ name: 'StoreError' });
  });
});

describe('adopting a link (§4.3)', () => {
  it('remembers it with its status', async () => {
    const { program, exchange } = await linked([]);
    exchange.answer = () => link('l/1', 'VERIFIED');
    const answer = await adoptLink(program.app, { linkId: 'l/1', reference: 'client-7' });
    expect(answer).toMatchObject({ kind: 'ok', value: { status: 'VERIFIED' } });
    expect(exchange.requests).toMatchObject([{ method: 'GET', path: `${CLIENT}/l%2F1` }]);
    expect(rows(program)).toMatchObject([{ link_id: 'l/1', reference: 'client-7', source: 'followed' }]);
    expect(history(program, 'l/1')).toEqual(['status null → VERIFIED followed']);
  });

  it('of one that is remembered brings it up to date and keeps its reference unless a new one is given', async () => {
    const { program, answers } = await linked([]);
    await adoptLink(program.app, { linkId: 'l1', reference: 'client-7' });
    program.clock.advance(MINUTE);
    answers.set('l1', link('l1', 'VERIFIED'));
    await adoptLink(program.app, { linkId: 'l1', reference: null });
    expect(rows(program)).toMatchObject([{ reference: 'client-7', status: 'VERIFIED' }]);
    await adoptLink(program.app, { linkId: 'l1', reference: 'client-8' });
    expect(rows(program)).toMatchObject([{ reference: 'client-8', status: 'VERIFIED' }]);
    expect(history(program, 'l1')).toEqual([
      'status null → NOT_VERIFIED followed',
      'status NOT_VERIFIED → VERIFIED followed',
    ]);
  });

  it.each([
    ['is not found', LINK_NOT_FOUND, 'refused'],
    ['is another one', link('l2'), 'unknown'],
    ['cannot be read', { status: 200, body: '[]' }, 'unknown'],
    ['is not given, the key being refused', refusal(401), 'key-refused'],
  ] as const)('remembers nothing when the link %s', async (_, answer, kind) => {
    const { program, answers } = await linked([]);
    answers.set('l1', answer);
    expect(await adoptLink(program.app, { linkId: 'l1', reference: null })).toMatchObject({ kind });
    expect(rows(program)).toEqual([]);
  });

  it('sends no id that would change the address', async () => {
    const { program, exchange } = await linked([]);
    await expect(adoptLink(program.app, { linkId: '..', reference: null })).rejects.toThrow(UnusableIdError);
    expect(exchange.requests).toEqual([]);
  });
});

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
    const { log, answers, pass } = await linked(['a', 'b']);
    for (const id of ['a', 'b']) answers.set(id, link(id, 'PENDING'));
    await pass();
    expect(log.with(/a status that was not seen before/)).toMatchObject([{ field: 'link.status', value: 'PENDING' }]);
    expect(log.with(/^the status of a link changed$/).map(({ linkId, newValue }) => [linkId, newValue])).toEqual([
      ['a', 'NOT_VERIFIED'],
      ['b', 'NOT_VERIFIED'],
      ['a', 'PENDING'],
      ['b', 'PENDING'],
    ]);
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
    expect(log.with(/the check of a link was not answered/)).toMatchObject([{ linkId: 'a' }]);
  });

  it('notes whether the key works', async () => {
    const { program, answers, pass } = await linked(['a']);
    await pass();
    expect(program.app.exchange.key).toEqual({ wasTaken: true, refusedAt: undefined });
    answers.set('a', refusal(401));
    await pass();
    expect(program.app.exchange.key).toEqual({ wasTaken: true, refusedAt: program.clock.monotonic() });
  });

  it('goes on past a link whose id cannot be put into a request', async () => {
    const { program, exchange, log, asked, toLookUp, pass } = await linked([]);
    for (const id of ['..', 'a']) {
      exchange.answer = () => link(id);
      await makeLink(program.app, { email: EMAIL, reference: null });
    }
    exchange.answer = toLookUp;
    await pass();
    expect(asked).toEqual(['a']);
    expect(log.with(/the check of a link was not answered/)).toMatchObject([{ linkId: '..' }]);
  });

  it('looks at each of many links once, those that wait longest first, with few in hand', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `l${index}`);
    const { program, exchange, asked, toLookUp, pass } = await linked(ids);
    const lookUpLink = program.app.exchange.lookUpLink.bind(program.app.exchange);
    let inFlight = 0;
    let most = 0;
    vi.spyOn(program.app.exchange, 'lookUpLink').mockImplementation(async (...args) => {
      most = Math.max(most, ++inFlight);
      return await lookUpLink(...args).finally(() => (inFlight -= 1));
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

  it('goes on where it was stopped: with the links that wait longest', async () => {
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
    program.app = await createApp(program.config, { clock: program.clock, log: log.logger });
    expect(log.with(/written under another clock/)).toMatchObject([{ orders: 0, links: 1 }]);
    await pass();
    expect(asked).toEqual(['a']);
  });
});
