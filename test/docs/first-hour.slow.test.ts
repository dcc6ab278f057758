import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { freeAddress } from '../../src/extensions/sandbox/demo/stage.ts';
import { sqlitePath } from '../../src/extensions/commands/place.ts';
import { runProgram } from '../support/cli-function.ts';
import { runCommand, startCommand } from '../support/cli-process.ts';
import { temporaryFolder } from '../support/folders.ts';
import { loadConfig } from '../support/settings.ts';
import { SECRET, webhookReceiver } from '../support/webhooks.ts';

const README = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
/** Faster than a person waits. */
const SPEED = '20';

/** The calls of the program in blocks of code, however they name it, as the arguments behind its name. */
function callsIn(text: string): readonly (readonly string[])[] {
  const blocks = [...text.matchAll(/^```\w*\n([^]*?)^```$|^ {4}(.*)$/gm)].map(
    ([, fenced, indented]) => fenced ?? indented,
  );
  const calls = blocks.join('\n').matchAll(/^\s*(?:npx )?(?:\S*\/)?(?:order-sync|bin\.mjs) (.+)$/gm);
  return [...calls].map(([, rest = '']) => rest.replace(/ +#.*$/, '').split(/ +/));
}

/** Has its processes end before its folder goes. */
function started(child: ChildProcess, finished: Promise<unknown>): void {
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await finished;
  });
}

async function startSandbox(args: readonly string[], cwd: string) {
  const { process, finished } = startCommand(['sandbox', ...args, '--port', '0', '--speed', SPEED], { cwd });
  started(process, finished);
  let said = '';
  process.stdout?.on('data', (text: string) => (said += text));
  while (!said.includes('API_KEY')) await once(process.stdout!, 'data');
  const [, url = ''] = /BASE_URL=(\S+)/.exec(said) ?? [];
  const [, key = ''] = /API_KEY=(\S+)/.exec(said) ?? [];
  return { url, key };
}

/** Init as the README has it, at a sandbox that may listen elsewhere. Without options it would ask. */
function initCall([, ...options]: readonly string[], { url, key }: { readonly url: string; readonly key: string }) {
  const at = options.indexOf('--sandbox');
  if (at === -1) return { args: ['init', ...options, '--base-url', url, '--api-key-file', '-'], input: key };
  const rest = options.slice(at + 1);
  return {
    args: ['init', ...options.slice(0, at), '--sandbox', url, ...rest.filter((one) => !one.startsWith('http'))],
    input: '',
  };
}

it('leads in its own words from nothing to an order that paid, the dashboard, a webhook and a report', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'settings.yaml');
  const calls = callsIn(README);
  const call = (name: string) => calls.find(([first]) => first === name) ?? [name];
  expect(calls.map(([first]) => first)).toEqual(expect.arrayContaining(['init', 'orders', 'report']));

  const sandbox = await startSandbox(
    call('sandbox')
      .slice(1)
      .filter((one) => !/^(?:--port|\d+)$/.test(one)),
    folder,
  );
  const { args, input } = initCall(call('init'), sandbox);
  const made = await runCommand(['--config', file, ...args], { cwd: folder, input });
  expect(made).toMatchObject({ code: 0 });

  const receiver = await webhookReceiver();
  const endpoints = [{ name: 'shop', url: receiver.url, secrets: [SECRET], allowPrivate: true }];
  const dashboard = await freeAddress();
  const environment = {
    ORDER_SYNC_OPS_LISTEN: dashboard,
    ORDER_SYNC_WEBHOOKS_ENDPOINTS: JSON.stringify(endpoints),
  };
  const ask = async (...asked: readonly string[]) =>
    await runProgram(['--config', file, ...asked], { cwd: folder, environment });
  const answerOf = async (...asked: readonly string[]) =>
    JSON.parse((await ask(...asked, '--json')).stdout) as Readonly<Record<string, unknown>>;
  const daemon = startCommand(['--config', file, ...call('run')], { cwd: folder, environment });
  started(daemon.process, daemon.finished);
  while ((await answerOf('status'))['daemon'] === null) expect(daemon.process.exitCode).toBeNull();

  const [statement = ''] = /insert into merchant_orders[^;]*;/i.exec(README) ?? [];
  const [, id = ''] = /values\s*\(\s*'([^']+)'/.exec(statement) ?? [];
  const config = loadConfig({ requireExchange: false, cwd: folder, file, env: {} });
  const merchant = new Database(sqlitePath(config, 'the walk'), { timeout: 5_000 });
  merchant.exec(statement);
  const order = merchant.prepare('select state, order_status from merchant_orders where external_order_id = ?');
  const stateOf = () => order.get(id) as { readonly state: string; readonly order_status: string };
  while (stateOf().state !== 'final') await ask('orders', 'show', id);
  expect(stateOf()).toEqual({ state: 'final', order_status: 'COMPLETED' });
  merchant.close();

  const page = await fetch(`http://${dashboard}/`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(id)]);
  const isOfEnd = ({ data }: (typeof receiver.taken)[number]) => 'newValue' in data && data.newValue === 'final';
  while (!receiver.taken.some(isOfEnd)) await receiver.came(receiver.deliveries.length + 1);

  for (const looked of calls.slice(calls.findIndex(([first]) => first === 'orders'))) {
    expect([looked, (await ask(...looked)).code]).toEqual([looked, 0]);
    const out = looked[looked.indexOf('--out') + 1];
    if (looked.includes('--out')) expect(existsSync(join(folder, out ?? ''))).toBe(true);
  }
});
