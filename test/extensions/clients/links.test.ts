import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { UnusableIdError } from '../../../src/exchange/ids.ts';
import { adoptLink, makeLink } from '../../../src/extensions/clients/links.ts';
import { CLIENT, history, link, LINK_NOT_FOUND, linked, rows } from '../../support/linked.ts';
import { refusal } from '../../support/scripted-exchange.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';
import { OwnedError } from '../../../src/store/errors.ts';
import { ofSqlite } from '../../support/database.ts';

const EMAIL = 'canary.person@shop.example';

describe('making a link (§4.1)', () => {
  it('remembers the link with its status and reference, and returns the answer of the exchange', async () => {
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

  it('keeps a success that cannot be read, without the e-mail address, and shows the id in it', async () => {
    const { program, exchange, log } = await linked([]);
    const quoted = ['canary.person\\u0040shop.example', 'CANARY.person@shop.example', 'canary.person%40shop.example'];
    const bodyWith = (emails: readonly string[]) => `{"data":{"linkId":"l9","emails":${JSON.stringify(emails)}}}`;
    exchange.answer = () => ({ status: 201, body: bodyWith(quoted).replaceAll('\\\\', '\\') });
    const answer = await makeLink(program.app, { email: EMAIL, reference: 'client-7' });
    expect(answer).toMatchObject({ kind: 'unknown', why: expect.stringContaining('the id l9') as string });
    expect(log.with(/cannot be read/)).toMatchObject([{ ids: ['l9'] }]);
    expect(
      program.merchant.prepare('select operation, subject, http_status, body from kept_answers').raw().all(),
    ).toEqual([['createLink', 'client-7', 201, bodyWith(['<hidden>', '<hidden>', '<hidden>'])]]);
  });

  it('tells the id also if the answer cannot be kept', async () => {
    const { program, exchange } = await linked([]);
    program.merchant.exec(`create trigger of_the_merchant before insert on kept_answers
      begin select raise(abort, 'not now'); end`);
    exchange.answer = () => ({ status: 201, body: '{"linkId":"l9"}' });
    const answer = await makeLink(program.app, { email: EMAIL, reference: null });
    expect(answer).toMatchObject({ kind: 'unknown', why: expect.stringContaining('the id l9') as string });
  });

  it('stores and logs the e-mail address nowhere, also if the exchange quotes it', ofSqlite('its files'), async () => {
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
    'says what to do when it is not known whether it was made: %j',
    async (answer) => {
      const { program, exchange } = await linked([]);
      exchange.answer = () => answer;
      const outcome = await makeLink(program.app, { email: EMAIL, reference: null });
      expect(outcome).toMatchObject({ kind: 'unknown', why: expect.stringContaining('it is not known') as string });
      expect(outcome).toMatchObject({ why: expect.stringContaining('client validate EMAIL') as string });
      expect(outcome).toMatchObject({ why: expect.stringContaining('client follow LINK') as string });
      expect(rows(program)).toEqual([]);
    },
  );

  it('remembers nothing if the exchange refuses, and says why', async () => {
    const { program, exchange } = await linked([]);
    const body = '{"message":"validation errors","code":"400","status":"LINK_ALREADY_EXISTS"}';
    exchange.answer = () => ({ status: 400, body });
    const answer = await makeLink(program.app, { email: EMAIL, reference: null });
    expect(answer).toMatchObject({ kind: 'refused', error: { status: 'LINK_ALREADY_EXISTS' } });
    expect(rows(program)).toEqual([]);
  });

  it(
    'waits for space on the disk rather than lose the id of a link that was made',
    ofSqlite('the size of its file'),
    async () => {
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
    },
  );

  it('names the link when it was created but cannot be stored', async () => {
    const { program, exchange } = await linked([]);
    program.merchant.exec(`create trigger no_links before insert on links begin select raise(abort, 'no links'); end`);
    exchange.answer = () => link('l 1');
    const making = makeLink(program.app, { email: EMAIL, reference: null });
    await expect(making).rejects.toThrow('the link "l 1" was created but cannot be stored: no links');
    await expect(making).rejects.toMatchObject({ name: 'StoreError' });
  });

  it('names the link when another process took the account over before it was stored', async () => {
    const { program, exchange } = await linked([]);
    exchange.answer = () => link('l 1');
    vi.spyOn(program.app.store.writer, 'writeUntilDurable').mockRejectedValue(new OwnedError('taken over'));
    const making = makeLink(program.app, { email: EMAIL, reference: null });
    await expect(making).rejects.toThrow('the link "l 1" was created but cannot be stored: taken over');
    // This cause keeps the API from inviting a retry.
    await expect(making).rejects.toMatchObject({ name: 'StoreError', cause: { name: 'StoreError' } });
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
