import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OrderSync } from '../../src/extensions/shop/client.ts';
import { codeOf } from '../support/pages.ts';
import { scriptedControlSocket } from '../support/control-socket.ts';
import { temporaryFolder } from '../support/folders.ts';
import { echo, record } from '../support/scripted-exchange.ts';
import { DAY } from '../support/tracking.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/integrating.md'), 'utf8');
const SNIPPETS = codeOf(PAGE, 'ts');
const [PYTHON = ''] = codeOf(PAGE, 'python').filter((code) => code.startsWith('# shop.py'));
const hasPython = spawnSync('python3', ['--version']).status === 0;
/** In the second run the order is added again, and is there. */
const SAID = ['added shop-1001 pending', 'shop-1001 open', 'added shop-1001 open'];
const DRIZZLE = join(ROOT, 'tools/node_modules/drizzle-orm');

/** A folder in which programs import the packages of a shop. */
function shopFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const packages = ['kysely', '@types/node'].map((name) => [name, join(ROOT, 'node_modules', name)] as const);
  for (const [name, target] of [['order-sync', ROOT], ['drizzle-orm', DRIZZLE], ...packages] as const) {
    symlinkSync(target, join(folder, 'node_modules', name));
  }
  return folder;
}

/** Serves HTTP at an address in front of a Unix socket. */
async function listenBefore(socketPath: string): Promise<string> {
  const server = createServer((client) => {
    const daemon = connect(socketPath);
    client.pipe(daemon).pipe(client);
    for (const end of [client, daemon]) end.on('error', () => [client, daemon].forEach((one) => one.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs the shop until its order is open, kills it, and runs it again; returns what it said. */
async function runShop(command: string, args: readonly string[], cwd: string): Promise<string[]> {
  const { socketPath, program, exchange } = await scriptedControlSocket();
  exchange.answer = (request) =>
    request.method === 'POST' ? echo(request) : record('shop-1001', { exchangeOperation: { inputAsset: 0.25 } });
  const url = await listenBefore(socketPath);
  const start = () => {
    const child = spawn(command, [...args, url, 'cursor.txt'], {
      cwd,
      env: { PATH: process.env['PATH'], API_TOKEN: 'secret' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
  };
  const { child, lines } = start();
  const said = [await lines.next()];
  program.clock.advance(Math.max(0, Date.now() - program.clock.now().getTime()) + DAY);
  const client = new OrderSync({ socket: socketPath });
  await client.sync();
  program.clock.advance(DAY);
  await client.sync();
  said.push(await lines.next());
  child.kill('SIGKILL');
  await once(child, 'exit');
  said.push(await start().lines.next());
  return said.map(({ value }) => String(value));
}

it('the signature of the manual is that of its message', () => {
  const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
  const [secret = ''] = /whsec_[A-Za-z0-9+/=]+/.exec(page) ?? [];
  const signature = new Webhook(secret).sign('evt_1', new Date(1_767_614_400_000), '{"type":"webhook.test"}');
  expect(page).toContain(`\`${signature}\``);
});

describe('the shop of the manual', () => {
  it('in TypeScript adds its order, and hears that it is open', async () => {
    const folder = shopFolder();
    writeFileSync(join(folder, 'shop.mts'), SNIPPETS.find((code) => code.startsWith('// shop.mts')) ?? '');
    const said = await runShop(process.execPath, ['--disable-warning=ExperimentalWarning', 'shop.mts'], folder);
    expect(said).toEqual(SAID);
  });

  it.skipIf(!hasPython)('in Python does so too', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'shop.py'), PYTHON);
    expect(await runShop('python3', ['shop.py'], folder)).toEqual(SAID);
  });
});

describe('the TypeScript of the manual', () => {
  it('compiles, piece by piece', () => {
    expect(SNIPPETS.length).toBeGreaterThan(3);
    const folder = shopFolder();
    const compiled = SNIPPETS.filter((code) => existsSync(DRIZZLE) || !code.includes("'drizzle-orm'"));
    for (const [index, code] of compiled.entries()) writeFileSync(join(folder, `piece-${index}.ts`), code);
    const compilerOptions = { noEmit: true, types: ['node'] };
    const settings = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder, encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});
