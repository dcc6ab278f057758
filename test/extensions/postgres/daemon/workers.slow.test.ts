import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { NO_TIME_LINE } from '../../../../src/extensions/postgres/standbys.ts';
import { openStore } from '../../../../src/extensions/postgres/store.ts';
import { runProgram, type CommandResult } from '../../../support/cli-function.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { placeOf } from '../../../support/postgres-store.ts';
import { testProcesses } from '../../../support/program-processes.ts';
import { echo, record, scriptedExchange, type ScriptedAnswer } from '../../../support/scripted-exchange.ts';
import { apiOfProcess, secretOf } from '../../../support/served-api.ts';

/** Workers on a database of PostgreSQL, real processes, and commands. */
async function workers() {
  const database = await newPostgresDatabase();
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId));
  const settings = { ORDER_SYNC_DATABASE_URL: database.url, ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url };
  const on = await testProcesses({}, settings);
  const store = await openStore(placeOf(database.url), systemClock(), { expect: 'current' });
  onTestFinished(() => store.close());
  const merchant = openMerchant(database);
  const [folder, api] = [temporaryFolder(), await apiOfProcess()];
  const read = async (query: string) => (await sql.raw<Record<string, unknown>>(query).execute(store.db)).rows;
  return {
    exchange,
    read,
    start: (environment: Record<string, string> = {}) => on.start(['run'], environment),
    run: (...args: string[]) => runProgram(args, { cwd: folder, environment: on.environment }),
    /** Starts a worker with an API. */
    startWithApi: () => on.start(['run'], api.settings),
    /** Runs a command on a machine that has nothing but the address of that API and a token. */
    elsewhere: (...args: string[]) =>
      runProgram([...args, '--url', api.url], {
        cwd: temporaryFolder(),
        environment: { ORDER_SYNC_API_TOKEN: secretOf('shop') },
      }),
    insert: (id: string) =>
      merchant
        .prepare(
          `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, '1.5', 'BTC', 'EUR')`,
        )
        .run(id),
    state: (id: string) =>
      merchant.prepare('select state from merchant_orders where external_order_id = ?').pluck().get(id),
    requests: (prefix: string) => exchange.requests.filter(({ externalOrderId }) => externalOrderId.startsWith(prefix)),
  };
}

/** An exchange that keeps requests waiting. */
function waiting({ exchange }: Awaited<ReturnType<typeof workers>>): Promise<void> {
  const arrived = Promise.withResolvers<void>();
  exchange.answer = () => {
    arrived.resolve();
    return new Promise<ScriptedAnswer>(() => {});
  };
  return arrived.promise;
}

const WAYS = ['over its socket', 'over its API'] as const;

describe('a worker on PostgreSQL', () => {
  it('sends new rows, and does what commands ask from anywhere; without one a command drives the account', async () => {
    const on = await workers();
    const daemon = await on.startWithApi();
    on.insert('a');
    await vi.waitFor(() => expect(on.state('a')).toBe('open'), { timeout: 20_000 });
    const found = { code: 0, stderr: '' };
    const said = await on.run('lookup', 'a', '--json');
    expect([said, await on.elsewhere('lookup', 'a', '--json')]).toEqual([said, said]);
    expect(said).toMatchObject(found);
    const [{ generation }] = (await on.read('select generation from account_owners')) as [{ generation: number }];
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toMatchObject({ code: 0 });
    expect(await on.run('lookup', 'a', '--json')).toEqual(said);
    expect(await on.read('select generation, holder from account_owners')).toEqual([
      { generation: generation + 1, holder: null },
    ]);
    expect(await on.read('select holder from workers')).toEqual([]);
  });

  it('warns at its start if this machine has no mark of a database with a history', async () => {
    const on = await workers();
    const marks = { ORDER_SYNC_DATABASE_MARKS: join(temporaryFolder(), 'marks.db') };
    const logged = async (environment?: Record<string, string>) => {
      const daemon = await on.start(environment);
      if (on.state('a') === undefined) on.insert('a');
      await vi.waitFor(() => expect(on.state('a')).toBe('open'), { timeout: 20_000 });
      daemon.process.kill('SIGTERM');
      await daemon.exit;
      return daemon.output().includes('"advice":"after a restore');
    };
    expect([await logged(), await logged(), await logged(marks)]).toEqual([false, false, true]);
  });

  it('warns at its start if the server tells neither its identifier nor its time-line', async () => {
    const on = await workers();
    await on.read(`create or replace function order_sync_time_line() returns text language sql as 'select null::text'`);
    const daemon = await on.start();
    const warnings = () =>
      daemon
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":"warn"') && line.includes(NO_TIME_LINE)).length;
    await vi.waitFor(() => expect(warnings()).toBe(1), { timeout: 20_000 });
  });

  it('tells how it does, and has its set-up looked at', async () => {
    const on = await workers();
    await on.start();
    on.insert('a');
    await vi.waitFor(() => expect(on.state('a')).toBe('open'), { timeout: 20_000 });
    const status = await on.run('status', '--json', '--account', 'all');
    expect(status.code).toBe(0);
    expect(JSON.parse(status.stdout)).toMatchObject({
      verdict: { end: 'well' },
      daemon: { owned: 1, rate: { requests: 1_000_000 }, accounts: [{ account: 'default', isDriven: true }] },
      overview: { account: null, orders: { open: 1, pending: 0 } },
    });
    const { code, stdout } = await on.run('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: readonly { check: string; level: string }[] };
    expect(findings.filter(({ level }) => level === 'fault')).toEqual([]);
    expect(findings.find(({ check }) => check === 'database')).toMatchObject({ level: 'ok' });
    expect([0, 1]).toContain(code);
  });

  it('leaves nothing of what it was asked and answered in the database, in whatever column', async () => {
    const on = await workers();
    await on.start();
    const [link, token] = [
      { linkId: 'link-1', status: 'NEW' },
      { token: 'canary-token', expiresAt: '2027-01-01T00:00:00Z' },
    ];
    on.exchange.answer = ({ path }) => ({ status: 200, body: JSON.stringify(path.includes('token') ? token : link) });
    expect(await on.run('client', 'create', 'ada@canary.example')).toMatchObject({ code: 0 });
    const said = await on.run('sdk-token', 'link-1', '--json');
    expect([said.code, said.stdout.includes('canary-token')]).toEqual([0, true]);
    const tables = await on.read(`select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'`);
    const rows = [];
    for (const { name } of tables) rows.push(...(await on.read(`select t::text as row from "${String(name)}" t`)));
    const text = JSON.stringify(rows);
    expect([text.includes('link-1'), text.includes('canary')]).toEqual([true, false]);
  });

  it.each(WAYS)('that is killed while it does what it was asked %s leaves it open whether it was done', async (way) => {
    const on = await workers();
    const daemon = await on.startWithApi();
    const run = way === 'over its API' ? on.elsewhere : on.run;
    const arrived = waiting(on);
    const asked = run('client', 'create', 'ada@canary.example');
    await arrived;
    daemon.process.kill('SIGKILL');
    const said = await asked;
    expect([said.code, said.stderr.includes('it is not known')]).toEqual([69, true]);
    // The next command drives the account once the heartbeat is over.
    on.exchange.answer = ({ externalOrderId }) => record(externalOrderId);
    expect(await on.run('lookup', 'a', '--json')).toMatchObject({ code: 0 });
  });

  it('is followed by another one, and commands continue to it', async () => {
    const on = await workers();
    const first = await on.start();
    const results: CommandResult[] = [];
    const isOver = new AbortController();
    const asking = (async () => {
      while (!isOver.signal.aborted) results.push(await on.run('lookup', 'a', '--json'));
    })();
    const second = await on.start();
    first.process.kill('SIGTERM');
    expect(await first.exit).toMatchObject({ code: 0 });
    await vi.waitFor(
      async () => expect(await on.read('select 1 from account_owners where holder is not null')).toHaveLength(1),
      {
        timeout: 20_000,
      },
    );
    isOver.abort();
    await asking;
    expect(results.filter(({ code }) => code !== 0)).toEqual([]);
    second.process.kill('SIGTERM');
    expect(await second.exit).toMatchObject({ code: 0 });
  });

  it('that stood still with a request under way, while another owned its only account, continues when it wakes', async () => {
    const on = await workers();
    const daemon = await on.start();
    const answer = Promise.withResolvers<ScriptedAnswer>();
    const arrived = Promise.withResolvers<void>();
    on.exchange.answer = (request) => {
      if (request.method !== 'POST') return record(request.externalOrderId);
      arrived.resolve();
      return answer.promise;
    };
    on.insert('a');
    await arrived.promise;
    daemon.process.kill('SIGSTOP');
    // Until its heartbeat is over, commands would wait for an answer on its socket.
    const isOver = `select 1 from workers where seen_until < to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')`;
    await vi.waitFor(async () => expect(await on.read(isOver)).toHaveLength(1), { timeout: 20_000 });
    expect(await on.run('lookup', 'a', '--json')).toMatchObject({ code: 0 });
    answer.resolve({ status: 200, body: '{}' });
    on.exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId));
    daemon.process.kill('SIGCONT');
    on.insert('b');
    await vi.waitFor(() => expect(on.state('b')).toBe('open'), { timeout: 20_000 });
    expect(on.requests('a').filter(({ method }) => method === 'POST')).toHaveLength(1);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toMatchObject({ code: 0 });
  });

  it.each(WAYS)('makes the pass of sync that is asked for %s', async (way) => {
    const on = await workers();
    await on.startWithApi();
    const run = way === 'over its API' ? on.elsewhere : on.run;
    on.exchange.answer = (request) => (request.method === 'POST' ? 'reset' : record(request.externalOrderId));
    expect(await on.run('pause', '--creates', '--reason', 'r')).toMatchObject({ code: 0 });
    const unseen = `select account from account_wakes`;
    await vi.waitFor(async () => expect(await on.read(unseen)).toEqual([]));
    on.insert('a');
    const said = await run('sync', '--json');
    expect(JSON.parse(said.stdout)).toMatchObject({ sent: 0, remaining: 1, holds: [{ kind: 'creates-paused' }] });
    expect(on.requests('a')).toEqual([]);
    expect(await on.run('resume', '--reason', 'r')).toMatchObject({ code: 0 });
    await vi.waitFor(() => expect(on.requests('a')).not.toEqual([]), { timeout: 20_000 });
  });
});
