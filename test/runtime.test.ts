import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/folders.ts';

const RUNTIME = fileURLToPath(new URL('../src/runtime.cjs', import.meta.url));
let folder = '';

beforeEach(() => void (folder = temporaryFolder()));

function start(code: string, options: SpawnOptions = {}): ChildProcess {
  return spawn(process.execPath, [RUNTIME, '-e', code], { stdio: ['ignore', 'pipe', 'inherit'], ...options });
}

/** The runtime alone, in a folder of the test: without `cli.ts` beside it, it is that of a package. */
function copied(to: string): string {
  const runtime = join(folder, to, 'runtime.cjs');
  mkdirSync(join(runtime, '..'), { recursive: true });
  cpSync(RUNTIME, runtime);
  return runtime;
}

/** The file that a runtime, in any folder, has Node run, and which Node. */
function runtimeAt(runtime: string): { readonly PROGRAM: readonly string[]; readonly binary: string } {
  const code = `const found = require(${JSON.stringify(runtime)}); JSON.stringify({ ...found, binary: found.nodeBinary() })`;
  return JSON.parse(spawnSync(process.execPath, ['-p', code], { encoding: 'utf8' }).stdout) as never;
}

describe('the runtime', () => {
  it('runs the given arguments on a Node that is new enough, with the tools of the checkout first', () => {
    const code = 'console.log(process.versions.node); console.log(process.env.PATH)';
    const { stdout } = spawnSync(process.execPath, [RUNTIME, '-e', code], { encoding: 'utf8' });
    const [version = '', path = ''] = stdout.split('\n');
    expect(Number(version.split('.')[0])).toBeGreaterThanOrEqual(24);
    expect(path.split(':')[0]).toMatch(/node_modules[/\\]\.bin$/);
  });

  it('becomes the program, so that a kill ends it', async () => {
    const child = start('console.log(process.pid); setInterval(() => {}, 1e6)');
    const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
    expect(Number(line)).toBe(child.pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(() => process.kill(Number(line), 0)).toThrow(/ESRCH/);
  });

  describe.each([
    ['in its place', []],
    ['as its child, on a Node that cannot replace itself', ['--import', 'data:text/javascript,delete process.execve']],
  ])('runs the program %s, and', (_name, flags) => {
    const run = (code: string) => spawnSync(process.execPath, [...flags, RUNTIME, '-e', code], { encoding: 'utf8' });

    it.each([0, 1, 75])('passes on the exit code %i, and says nothing of its own', (code) => {
      expect(run(`process.exit(${code})`)).toMatchObject({ status: code, stdout: '', stderr: '' });
    });

    it.each(['SIGINT', 'SIGTERM'] as const)('lets it decide about %s', async (signal) => {
      const code = `process.on('${signal}', () => process.exit(42)); setInterval(() => {}, 1e6); console.log('ready')`;
      const child = spawn(process.execPath, [...flags, RUNTIME, '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(createInterface(child.stdout), 'line');
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([42, null]);
    });

    it('ends by the signal that ended it', () => {
      expect(run(`process.kill(process.pid, 'SIGKILL')`).signal).toBe('SIGKILL');
    });
  });

  it('has the program open no debugger by a signal, which would give any user of the machine the key', async () => {
    const code = `const { NODE_FLAGS } = require(${JSON.stringify(RUNTIME)}); console.log(NODE_FLAGS.join(' '))`;
    const flags = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' }).stdout.trim().split(' ');
    const ends = `process.on('SIGTERM', () => process.exit(require('node:inspector').url() === undefined ? 0 : 1))`;
    const child = spawn(process.execPath, [
      ...flags,
      '-e',
      `${ends}; setInterval(() => {}, 1e6); console.log('ready')`,
    ]);
    await once(createInterface(child.stdout), 'line');
    child.kill('SIGUSR1');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('runs the TypeScript of a checkout, and the JavaScript of a package', () => {
    expect(runtimeAt(RUNTIME).PROGRAM).toEqual(['--disable-warning=ExperimentalWarning', join(RUNTIME, '../cli.ts')]);
    const runtime = copied('node_modules/order-sync/src');
    expect(runtimeAt(runtime).PROGRAM).toEqual([join(runtime, '../program/cli.js')]);
  });

  it('takes the Node that npm has put into a checkout, and none that lies beside it or in a package', () => {
    const name = process.platform === 'win32' ? 'node.exe' : 'node';
    const put = (modules: string) => {
      const file = join(folder, modules, `node-${process.platform}-${process.arch}/bin`, name);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, '');
      return file;
    };
    const runtime = copied('order-sync/src');
    put('');
    put('node_modules');
    const pinned = put('order-sync/node_modules');
    expect(runtimeAt(runtime).binary).toBe(process.execPath);
    writeFileSync(join(runtime, '../cli.ts'), '');
    expect(runtimeAt(runtime).binary).toBe(pinned);
  });

  it('passes messages both ways and closes the channel with its parent', async () => {
    const child = start(`process.on('message', (m) => process.send({ echo: m })); process.send('ready')`, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    expect(await once(child, 'message')).toMatchObject({ 0: 'ready' });
    child.send('hello');
    expect(await once(child, 'message')).toMatchObject({ 0: { echo: 'hello' } });
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each([
    ['20.20.0', 'cli.ts', 'run `npm ci` without --omit=optional, or install Node 24 or newer'],
    ['22.23.3', 'program.js', 'install Node 24 or newer'],
  ])('exits 78 with what to do if there is no usable Node, only %s', (version, program, advice) => {
    const runtime = copied('src');
    writeFileSync(join(runtime, '..', program), '');
    const code = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('./src/runtime.cjs').runNode([])`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' });
    expect([status, stderr]).toEqual([78, `order-sync: Node ${version} is too old: ${advice}\n`]);
  });

  it.each([
    ['before `npm ci`', 'cli.ts', 'its dependencies are not installed: run `npm ci` in the checkout'],
    [
      'in a package that npm made of a checkout',
      'other.ts',
      'the package was made without a build: run `npm run package` in the checkout',
    ],
  ])('has a launcher that says what to do %s', (_when, program, advice) => {
    const launcher = join(copied('src'), '../bin.mjs');
    cpSync(join(RUNTIME, '../bin.mjs'), launcher);
    writeFileSync(join(launcher, '..', program), '');
    const { status, stderr } = spawnSync(process.execPath, [launcher, '--help'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([78, `order-sync: ${advice}\n`]);
  });
});
