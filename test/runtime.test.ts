import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** How a runtime, wherever it lies, has TypeScript run. */
function typescript(runtime: string): { flags: readonly string[]; environment: Record<string, string> } {
  const code = `JSON.stringify(require(${JSON.stringify(runtime)}).typescript())`;
  const environment = { PATH: process.env['PATH'], TMPDIR: folder };
  return JSON.parse(spawnSync(process.execPath, ['-p', code], { encoding: 'utf8', env: environment }).stdout) as never;
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

  it('leaves TypeScript to Node', () => {
    expect(typescript(RUNTIME)).toEqual({
      flags: ['--disable-warning=ExperimentalWarning'],
      environment: {},
    });
  });

  it.each([
    ['it makes itself', () => {}, undefined],
    ['it made before', (at: string) => mkdirSync(at, { mode: 0o700 }), undefined],
    ['others may write to', (at: string) => (mkdirSync(at), chmodSync(at, 0o777)), '1'],
    ['is a link', (at: string) => (mkdirSync(`${at}-theirs`), symlinkSync(`${at}-theirs`, at)), '1'],
    ['is a file', (at: string) => writeFileSync(at, ''), '1'],
  ])(
    'below node_modules, where Node strips no types, has tsx keep its code only in a folder that %s',
    (_name, prepare, disabled) => {
      const own = join(folder, `tsx-${process.geteuid?.()}`);
      prepare(own);
      const installed = join(folder, 'node_modules/order-sync/src/runtime.cjs');
      mkdirSync(join(installed, '..'), { recursive: true });
      cpSync(RUNTIME, installed);
      symlinkSync(join(RUNTIME, '../../node_modules/tsx'), join(folder, 'node_modules/tsx'));
      const { flags, environment } = typescript(installed);
      expect(flags).toEqual(['--import', expect.stringMatching(/^file:.*\/tsx\//)]);
      expect(environment['TSX_TSCONFIG_PATH']).toBe(join(installed, '../../tsconfig.json'));
      expect(environment['TSX_DISABLE_CACHE']).toBe(disabled);
      if (disabled === undefined) expect(statSync(own).mode & 0o777).toBe(0o700);
    },
  );

  it.each(['node_modules/order-sync/node_modules', 'node_modules'])(
    'finds the Node that npm has put in %s of another package',
    (modules) => {
      const installed = join(folder, 'node_modules/order-sync/src/runtime.cjs');
      const name = process.platform === 'win32' ? 'node.exe' : 'node';
      const pinned = join(folder, modules, `node-${process.platform}-${process.arch}/bin`, name);
      for (const file of [installed, pinned]) mkdirSync(join(file, '..'), { recursive: true });
      cpSync(RUNTIME, installed);
      writeFileSync(pinned, '');
      const code = `require(${JSON.stringify(installed)}).nodeBinary()`;
      expect(spawnSync(process.execPath, ['-p', code], { encoding: 'utf8' }).stdout.trim()).toBe(pinned);
    },
  );

  it('takes no Node that lies beside a checkout anywhere else', () => {
    const installed = join(folder, 'order-sync/src/runtime.cjs');
    const stray = join(folder, `node-${process.platform}-${process.arch}/bin/node`);
    for (const file of [installed, stray]) mkdirSync(join(file, '..'), { recursive: true });
    cpSync(RUNTIME, installed);
    writeFileSync(stray, '');
    const code = `require(${JSON.stringify(installed)}).nodeBinary()`;
    expect(spawnSync(process.execPath, ['-p', code], { encoding: 'utf8' }).stdout.trim()).toBe(process.execPath);
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

  it.each(['20.20.0', '22.23.3'])('exits 78 with what to do where there is no usable Node, only %s', (version) => {
    mkdirSync(join(folder, 'src'));
    cpSync(RUNTIME, join(folder, 'src/runtime.cjs'));
    const code = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('./src/runtime.cjs').runNode([])`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      78,
      `order-sync: Node ${version} is too old: run \`npm ci\` without --omit=optional, or install Node 24 or newer\n`,
    ]);
  });

  it('has a launcher that says what to do before `npm ci`', () => {
    mkdirSync(join(folder, 'src'));
    for (const name of ['runtime.cjs', 'bin.mjs']) cpSync(join(RUNTIME, '..', name), join(folder, 'src', name));
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'src/bin.mjs'), '--help'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([78, expect.stringMatching(/run `npm ci`/)]);
  });
});
