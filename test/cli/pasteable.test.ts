import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { noteInvocation, pasteable, pasteFolder } from '../../src/base/invocation.ts';
import { createProgram } from '../../src/cli/program.ts';
import { noteCall } from '../../src/cli/shared/invocation.ts';
import { EXTENSIONS } from '../../src/extensions.ts';
import { dashboardPage } from '../../src/extensions/health/dashboard/page.ts';
import { runProgram } from '../support/cli-function.ts';
import { dashboardFacts } from '../support/dashboard-facts.ts';
import { eventWriter } from '../support/events.ts';
import { newDatabase, temporaryFolder } from '../support/folders.ts';
import { PUT_AT, putOrders, row } from '../support/stored-orders.ts';

const STATES = ['pending', 'unknown', 'held', 'accepted', 'open', 'disputed', 'final', 'rejected', 'invalid'] as const;
const CALL = `npx order-sync --config 'my shop/settings.yaml'`;
const SURFACES = [
  'status',
  'status --json',
  'doctor',
  'doctor --json',
  ...STATES.map((state) => `orders explain ${state}`),
  'orders explain held --json',
  'orders list',
  'orders show held',
  'report summary',
  'report ageing',
  'report reconciliation',
  'report reconciliation --format html',
  'report explain',
  'report explain AMOUNT_MISMATCH',
  'findings list',
  'events',
  'webhooks list',
  'db status',
  'db check',
  'sync',
  'pause --reason lunch',
];

let commands: ReadonlySet<string>;

/** The commands of a text that do not say how the program was called and with what settings. */
function bareCommands(text: string): readonly string[] {
  const rest = text
    .replaceAll(/&#39;|&#x27;/g, "'")
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(CALL, '');
  return [...rest.matchAll(/(?<![\w/.-])order-sync ([a-z][a-z-]*)/g)]
    .filter(([, name]) => commands.has(name ?? ''))
    .map(([words]) => words);
}

describe('a command in a text', () => {
  const at = { folder: '' };
  const run = async (args: readonly string[]) => {
    const environment = { ORDER_SYNC_CONFIG: '', ORDER_SYNC_EXCHANGE_API_KEY: 'a-key-of-the-test' };
    return await runProgram(['--config', 'my shop/settings.yaml', ...args], { cwd: at.folder, environment });
  };

  beforeEach(async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'my shop'));
    const settings = `exchange: { baseUrl: 'http://127.0.0.1:9', timeout: 100ms }\ndatabase: { url: 'sqlite:orders.db' }\n`;
    writeFileSync(join(folder, 'my shop', 'settings.yaml'), settings);
    const path = join(folder, 'orders.db');
    await newDatabase(path);
    const merchant = new Database(path);
    const write = eventWriter(merchant);
    for (const state of STATES) {
      putOrders(merchant, state, row(state, { asset: '1.5', from_currency: 'BTC', to_currency: 'EUR' }));
      write({ external_order_id: state, new_value: state, observed_at: PUT_AT.toISOString() });
    }
    merchant.close();
    const program = await createProgram(['--config', 'my shop/settings.yaml', 'status'], EXTENSIONS);
    noteInvocation(
      () => CALL,
      program.commands.map((one) => one.name()),
    );
    commands = new Set(program.commands.map((one) => one.name()));
    at.folder = folder;
  });
  afterAll(() => noteInvocation(() => 'order-sync', []));

  it.each(SURFACES)('says how the program was called and with what settings: %s', async (line) => {
    const { stdout, stderr } = await run(line.split(' '));
    expect(stdout + stderr).not.toBe('');
    expect(bareCommands(stdout + stderr)).toEqual([]);
  });

  it('says so on the dashboard', () => {
    const page = dashboardPage(dashboardFacts());
    expect(page).toContain('order-sync');
    expect(bareCommands(page)).toEqual([]);
  });

  it('says so in an error, also if no database was found', async () => {
    const { code, stderr } = await run(['orders', 'explain', 'no-such-order']);
    expect(code).toBe(2);
    expect(bareCommands(stderr)).toEqual([]);
    writeFileSync(join(at.folder, 'my shop', 'settings.yaml'), `database: { url: 'sqlite:elsewhere.db' }\n`);
    const absent = await run(['status']);
    expect(absent.stderr).toContain(`${CALL} db migrate`);
  });

  it('works in the same database when it is pasted', async () => {
    // No process has written this history: no mark stands beside it.
    await run(['db', 'accept-restore', '--yes', '--assume-not-sent', '--reason', 'written by the test']);
    const { stdout: story } = await run(['orders', 'explain', 'held']);
    const [, decision = ''] = /settings\.yaml' (orders resolve held --as abandoned --reason TEXT)/.exec(story) ?? [];
    expect((await run(decision.split(' '))).code).toBe(64);
    expect(await run(decision.replace('TEXT', 'told').split(' '))).toMatchObject({
      code: 0,
      stdout: 'held: held → abandoned\n',
    });
  });

  it('is made so once', () => {
    for (const call of ['npx order-sync', 'order-sync', CALL]) {
      noteInvocation(() => call, ['status']);
      expect(pasteable(pasteable('run: order-sync status'))).toBe(`run: ${call} status`);
    }
  });

  it('leaves alone a text that only names the program', () => {
    expect(pasteable('another order-sync process; order-sync needs it')).toBe(
      'another order-sync process; order-sync needs it',
    );
  });

  it('names the settings of a daemon by their whole path', async () => {
    for (const [args, expected] of [
      [['--config', 'shop.yaml', 'status'], '--config shop.yaml status'],
      [['--config', 'shop.yaml', 'run'], `--config ${join(process.cwd(), 'shop.yaml')} status`],
      [['status'], 'order-sync status'],
    ] as const) {
      const program = await createProgram(args, EXTENSIONS);
      program.parseOptions([...args]);
      noteCall(
        program,
        program.commands.find((one) => one.name() === args.at(-1))!,
      );
      expect(pasteable('order-sync status')).toMatch(new RegExp(`${RegExp.escape(expected)}$`));
    }
  });

  it('are those of a terminal if a person started the daemon by npx, and the page names the folder to paste them in', async () => {
    const program = await createProgram(['run'], EXTENSIONS);
    const page = (script: string | undefined, startedIn: string) => {
      vi.stubEnv('npm_lifecycle_script', script);
      vi.stubEnv('INIT_CWD', startedIn);
      noteCall(
        program,
        program.commands.find((one) => one.name() === 'run')!,
      );
      const folder = pasteFolder();
      expect(dashboardPage(dashboardFacts()).includes(`paste commands in ${folder}`)).toBe(folder !== null);
      return [pasteable('order-sync status').split(' ')[0], folder];
    };
    const [checkout, launcher] = [process.cwd(), join(process.cwd(), 'src', 'bin.mjs')];
    expect(page("'order-sync'", checkout)).toEqual(['npx', checkout]);
    expect(page('node src/bin.mjs demo', checkout)).toEqual(['npx', checkout]);
    expect(page('pm2', checkout)).toEqual([launcher, null]);
    expect(page(undefined, checkout)).toEqual([launcher, null]);
    expect(page("'order-sync'", '/')).toEqual([launcher, null]);
  });
});
