import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Status } from '../../src/extensions/health/status/status.ts';
import { runProgram } from '../support/cli-function.ts';
import { isSqlite, newTestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/folders.ts';
import type { Merchant } from '../support/merchant.ts';

describe('--account', () => {
  let folder = '';
  let settings = '';
  let merchant: Merchant;
  const run = (line: string) => runProgram([...line.split(' '), '--config', settings], { cwd: folder });
  const json = async <Row = Record<string, string>>(line: string) =>
    JSON.parse((await run(`${line} --json`)).stdout) as Row[];

  /** Accounts with orders of the same id, one of an account that is in the settings no more; that of `a` alone waits. */
  beforeEach(async () => {
    folder = temporaryFolder();
    const database = await newTestDatabase(folder);
    settings = join(folder, 'own.yaml');
    const accounts = 'accounts: {a: , b: {create: {onUnknown: resend}}}';
    const exchange = 'exchange: {baseUrl: https://a.example, apiKey: k}';
    writeFileSync(settings, `${exchange}\ndatabase: {url: '${database.url}'}\n${accounts}\n`, { mode: 0o600 });
    for (const [account, asset] of [
      ['a', '1'],
      ['b', '2'],
    ]) {
      await run(`orders add --account ${account} --external-order-id same --asset ${asset} --from BTC --to EUR`);
    }
    merchant = database.connect();
    merchant.exec(
      `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency)
       values ('old', 'same', '3', 'BTC', 'EUR')`,
    );
    for (const account of ['a', 'b']) {
      merchant.exec(
        `insert into findings (account, external_order_id, class, severity, first_seen_at, last_seen_at, status)
         values ('${account}', 'same', 'AMOUNT_MISMATCH', 'error', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'open')`,
      );
    }
    for (const account of ['b', 'old']) await run(`orders cancel same --account ${account} --reason r`);
  });

  it('has a command work on the orders of that account alone', async () => {
    expect(await json('orders list --account a')).toMatchObject([{ account: 'a', asset: '1' }]);
    const shown = JSON.parse((await run('orders show same --account b --json')).stdout) as { order: object };
    expect(shown.order).toMatchObject({ account: 'b', asset: '2' });
    expect(await json('orders list --account a')).toMatchObject([{ state: 'pending' }]);
    expect(await json('orders list --account b')).toMatchObject([{ state: 'cancelled' }]);
    expect(await json('findings list --account b')).toMatchObject([{ account: 'b' }]);
  });

  it('names an account that is in the settings, the nearest if it does not', async () => {
    const { code, stderr } = await run('orders list --account B');
    expect([code, stderr]).toEqual([78, expect.stringContaining('did you mean b?')]);
    expect((await run('orders list')).code).toBe(78);
    expect((await run('sync --account c')).code).toBe(78);
  });

  it('may name one that has orders and is in the settings no more, to read and to decide', async () => {
    expect(await json('orders list --account old')).toMatchObject([{ asset: '3' }]);
    expect(await json('orders list --account old')).toMatchObject([{ state: 'cancelled' }]);
    const added = await run('orders add --account old --external-order-id x --asset 1 --from BTC --to EUR');
    expect([added.code, added.stderr]).toEqual([78, expect.stringContaining('"old"')]);
    expect((await run('lookup same --account old')).code).toBe(78);
  });

  it('is asked for if accounts are named and none is default, also if default has orders', async () => {
    merchant.exec(`insert into merchant_orders (external_order_id) values ('same')`);
    const ofOne = [
      ...['show same', 'explain same', 'retry same --reason r', 'cancel same --reason r'].map((one) => `orders ${one}`),
      'orders resolve same --as abandoned --reason r',
      'findings ack 1 --reason r',
      'sync',
      'lookup same',
      'links show x',
      'photos purge --older-than 1d',
    ];
    const ofAll = ['orders list', 'orders export', 'findings list', 'links', 'photos list', 'photos list --awaited'];
    const reports = ['summary', 'reconciliation', 'ageing', 'changes'].map((name) => `report ${name}`);
    const pauses = ['pause --all --reason r', 'resume --reason r'];
    for (const line of [...ofOne, ...ofAll, ...reports, ...pauses]) {
      const { code, stdout, stderr } = await run(line);
      expect([line, code, stdout, stderr.split('\n').length]).toEqual([line, 78, '', 2]);
      expect(stderr.includes('--account NAME')).toBe(true);
      expect([line, stderr.includes('--account all')]).toEqual([line, !ofOne.includes(line)]);
    }
    const holds = merchant.prepare('select account from account_holds').pluck().all();
    expect(holds).toEqual([]);
    expect(await json('orders list --account default')).toMatchObject([{ account: 'default', state: 'pending' }]);
    expect((await run('pause --account default --reason r')).code).toBe(0);
  });

  it('is every account for status and doctor if accounts are named and none is default', async () => {
    for (const line of ['status --json', 'status --account all --json']) {
      const { code, stdout } = await run(line);
      const { overview } = JSON.parse(stdout) as Status;
      expect([code, overview.account, overview.accounts.map(({ account }) => account)]).toEqual([
        1,
        null,
        ['a', 'b', 'old'],
      ]);
    }
    for (const [line, named] of [
      ['doctor', ['a: ', 'b: ']],
      ['doctor --account all', ['a: ', 'b: ']],
      ['doctor --account b', ['']],
    ] as const) {
      const { stdout } = await run(`${line} --json`);
      const { findings } = JSON.parse(stdout) as { findings: { check: string; found: string }[] };
      const keys = findings.filter(({ check }) => check === 'key').map(({ found }) => found);
      expect([line, keys.map((found) => /^(?:\w: )?/.exec(found)?.[0])]).toEqual([line, named]);
    }
  });

  it('is asked for to accept a restore if each account has a mark of its own', async () => {
    expect((await run('db accept-restore --yes --reason r')).code).toBe(isSqlite() ? 0 : 78);
    expect((await run('db accept-restore --yes --reason r --account all')).code).toBe(isSqlite() ? 64 : 0);
  });

  it('pauses one that orders name and no settings, and says that it stands in none', async () => {
    expect(await run('pause --account old --reason r')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('the account old') as string,
    });
    expect((await run('pause --account a --reason r')).stderr).toBe('');
    expect((await run('pause --account nowhere --reason r')).code).toBe(78);
  });

  it('all pauses and resumes every account of the settings', async () => {
    const paused = () => merchant.prepare('select account from account_holds order by account').pluck().all();
    await run('pause --account old --reason r');
    expect((await run('resume --account all --reason r')).code).toBe(2);
    expect(await run('pause --account all --reason r')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^.* 2 accounts\..*--account all .*\n$/) as string,
    });
    expect(paused()).toEqual(['a', 'b', 'old']);
    await run('resume --account b --reason r');
    expect(await run('resume --account all --reason r')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 account .*\n$/) as string,
    });
    expect(paused()).toEqual(['old']);
  });

  it('pauses and resumes that account alone', async () => {
    expect((await run('pause --account a --reason r')).code).toBe(0);
    expect((await run('resume --account b --reason r')).code).toBe(2);
    expect((await run('resume --account a --reason r')).code).toBe(0);
  });

  it('all lists the rows of every account, with a column that tells it', async () => {
    const orders = await json('orders list --account all');
    expect(orders.map(({ account, external_order_id: id }) => `${account} ${id}`).toSorted()).toEqual([
      'a same',
      'b same',
      'old same',
    ]);
    expect((await json('orders list --account all --limit 1')).length).toBe(1);
    expect(await json('findings list --account all')).toMatchObject([{ account: 'b' }, { account: 'a' }]);
    const { stdout } = await run('orders list --account all');
    expect(stdout).toMatch(/^account +id /);
    expect((await run('orders list --account a')).stdout).not.toMatch(/account/);
    for (const list of ['links', 'photos list', 'photos list --awaited']) {
      expect((await run(`${list} --account all`)).code).toBe(0);
    }
  });

  it('all sums the summary up by account, so that equal ids are two orders', async () => {
    const lines = await json('report summary --account all');
    expect(lines.map(({ account, state, asset }) => [account, state, asset])).toEqual([
      ['a', 'pending', '1'],
      ['b', 'cancelled', '2'],
      ['old', 'cancelled', '3'],
    ]);
    expect(await json('report summary --account b')).toEqual([expect.not.objectContaining({ account: 'b' })]);
  });

  it('all tells accounts from each other in the reports of ages and of changes, and in an export', async () => {
    const reported = async (line: string) =>
      JSON.parse((await run(`${line} --json`)).stdout) as { facts: object; sections: Record<string, object[]> };
    const ageing = await reported('report ageing --account all');
    expect(ageing.facts).toMatchObject({ account: 'all', orders: 3 });
    expect(ageing.sections['oldest']).toMatchObject([{ account: 'a', external_order_id: 'same' }]);
    const { sections, facts } = await reported('report changes --account all');
    expect(facts).toMatchObject({ account: 'all' });
    expect(sections['changes']).toMatchObject([
      { account: 'b', external_order_id: 'same', new_value: 'cancelled' },
      { account: 'old', external_order_id: 'same', new_value: 'cancelled' },
    ]);
    expect((await reported('report changes --account b')).sections['changes']).toHaveLength(1);
    const { stdout } = await run('orders export --account all');
    expect(stdout.split('\n').map((line) => line.split(',').slice(0, 3).join(' '))).toEqual([
      'account external_order_id asset',
      'a same 1',
      'b same 2',
      'old same 3',
      '',
    ]);
  });

  it('all reconciles account by account, so that equal ids are two orders, and sums balance', async () => {
    const { code, stdout } = await run('report reconciliation --account all --json');
    expect(code).toBe(1);
    const { facts, sections } = JSON.parse(stdout) as {
      facts: Record<string, unknown>;
      sections: Record<string, Record<string, number>[]>;
    };
    expect(facts).toMatchObject({ account: 'all', orders: 3, errors: 2, nothing_to_compare: 3, other_accounts: 0 });
    const { accounts = [], account_pairs: pairs = [], findings, pairs: totals = [] } = sections;
    expect(accounts).toMatchObject([
      { account: 'a', orders: 1, errors: 1 },
      { account: 'b', orders: 1, errors: 1 },
      { account: 'old', orders: 1, errors: 0 },
    ]);
    expect(findings).toMatchObject([
      { account: 'a', external_order_id: 'same' },
      { account: 'b', external_order_id: 'same' },
    ]);
    for (const key of ['orders', 'asset', 'errors']) {
      const sum = (rows: readonly Record<string, number>[]) => rows.reduce((all, row) => all + Number(row[key]), 0);
      expect(sum(pairs)).toBe(sum(totals));
    }
    for (const more of ['--online', '--against orders.db']) {
      expect((await run(`report reconciliation --account all ${more}`)).code).toBe(64);
    }
  });

  it('has a report of one count rows without an owner: of accounts that are in no settings', async () => {
    merchant.exec(`insert into merchant_orders (account, external_order_id) values ('stray', 'x')`);
    const factsOf = async (account: string) =>
      (JSON.parse((await run(`report reconciliation --account ${account} --json`)).stdout) as { facts: object }).facts;
    expect(await factsOf('b')).toMatchObject({ account: 'b', orders: 1, errors: 1, other_accounts: 1 });
    expect(await factsOf('all')).toMatchObject({ orders: 4, other_accounts: 1 });
    expect((await run('report reconciliation --account b')).stdout).toMatch(/1 row is of the account stray\. /);
  });

  it('is named if another account of the settings has the order', async () => {
    merchant.exec(`insert into merchant_orders (account, external_order_id) values ('b', 'of-b'), ('old', 'of-old')`);
    for (const command of ['show', 'explain']) {
      expect(await run(`orders ${command} of-b --account a`)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/ account a; account b has it: use --account b\n$/) as string,
      });
      const { code, stderr } = await run(`orders ${command} of-old --account a`);
      expect([code, stderr]).toEqual([2, expect.not.stringContaining('has one')]);
    }
  });

  it('is told by the story of an order that stands in no settings, which nothing sends', async () => {
    merchant.exec(`insert into merchant_orders (account, external_order_id) values ('old', 'waits')`);
    expect((await run('orders explain waits --account old')).stdout).toContain('do not have the account old.');
    expect((await run('orders explain same --account a')).stdout).not.toContain('The order is not sent');
  });

  it('is part of what reports advise', async () => {
    const textOf = async (report: string) =>
      (await run(`report ${report} --format html`)).stdout.replaceAll(/<[^>]*>/g, '');
    expect(await textOf('ageing --account all')).toContain('orders explain ORDER --account NAME');
    expect(await textOf('ageing --account a')).toContain('orders explain ORDER --account a');
    expect(await textOf('reconciliation --account b')).toContain('findings ack ID --account b');
  });

  it('takes no other word for an account, and all only in a list or a report', async () => {
    for (const name of ['a/b', '..', '-a']) expect((await run(`orders list --account=${name}`)).code).toBe(64);
    expect((await run('orders show same --account all')).code).toBe(64);
    expect((await run('db status --account a')).code).toBe(64);
  });

  it('is completed with the names in the settings', async () => {
    const line = ['completion', 'bash', '--', '--', '--config', settings, 'sync', '--account', ''];
    expect((await runProgram(line, { cwd: folder })).stdout).toBe('a\nb\n');
  });
});
