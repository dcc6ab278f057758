import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/folders.ts';
import {
  cleanEnvironment,
  contentOf,
  installPackage,
  lockedIn,
  type InstalledPackage,
} from '../support/installed-package.ts';
import { SHOP } from '../../build/shop.ts';
import { freeAddress } from '../../src/extensions/sandbox/demo/stage.ts';
import { codeOf } from '../support/pages.ts';
import { NODES } from '../support/nodes.ts';
import { tool } from '../support/tools.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MOST_MB = 45;
const MOST_PACKAGES = 70;
const ADDRESS = /http:\/\/127[\d.:]+/;

let ground = '';
let installed: InstalledPackage;
/** The files of the package, as they were before anything was run. */
let files: readonly string[] = [];
const inPackage = (path: string) => installed.inModules(`order-sync/${path}`);
const program = () => installed.inModules('.bin/order-sync');

function run(cwd: string, args: readonly string[], { input = '', ...more }: Record<string, string> = {}) {
  return spawnSync(program(), args, { cwd, encoding: 'utf8', input, env: cleanEnvironment(more) });
}

/** Starts the program, which lives until the test is finished at most; resolves with what it says once it says `expected`. */
async function start(cwd: string, args: readonly string[], expected: RegExp, more: Record<string, string> = {}) {
  const env = cleanEnvironment({ ORDER_SYNC_OPS_LISTEN: 'off', ...more });
  const child = spawn(program(), args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface(child.stdout)) {
    const [found] = expected.exec(line) ?? [];
    if (found !== undefined) return { child, found };
  }
  throw new Error(`${args.join(' ')} ended`);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

beforeAll(() => {
  ground = mkdtempSync(join(tmpdir(), 'order-sync-package-'));
  installed = installPackage(ground);
  files = filesIn(inPackage(''));
});
afterAll(() => rmSync(ground, { recursive: true, force: true }));

describe('the package', () => {
  it('holds JavaScript with source maps, declarations, what sets it up and the manual, and nothing else', () => {
    const kinds = Map.groupBy(files, (path) => path.replace(/^src\/program\/.*?(\.js(?:\.map)?)$/, 'program$1'));
    const built = files.filter((path) => path.startsWith('src/program/'));
    const unmapped = built.filter((path) => path.endsWith('.js') && !built.includes(`${path}.map`));
    expect(unmapped).toEqual(['src/program/live.js']);
    const checkout = (folder: string) => filesIn(join(ROOT, folder)).map((path) => `${folder}/${path}`);
    const pages = checkout('src').filter((path) => path.endsWith('.md'));
    const folders = [...checkout('deploy'), ...checkout('docs')];
    const single = ['CHANGELOG.md', 'LICENSE', 'README.md', 'THIRD-PARTY.md', 'ecosystem.config.cjs'];
    const made = ['package.json', 'npm-shrinkwrap.json', 'program.js', 'program.js.map'];
    const launcher = ['config/default.yaml', 'config/schema.json', 'src/bin.mjs', 'src/runtime.cjs'];
    const parts = readdirSync(join(ROOT, 'src/extensions/shop')).map((name) => name.replace('.ts', ''));
    const types = parts.map((name) => `types/${name}.d.ts`);
    const shop = SHOP.flatMap((name) => [`src/shop/${name}.js`, `src/shop/${name}.js.map`]);
    const expected = [...pages, ...folders, ...single, ...made, ...launcher, ...types, ...shop];
    expect([...kinds.keys()].toSorted()).toEqual(expected.toSorted());
  });

  it('has maps that lead to the lines of the source, and to none of packages', () => {
    let [found, ofPackages] = [0, 0];
    for (const path of files.filter((one) => one.endsWith('.js.map'))) {
      const map = new SourceMap(JSON.parse(readFileSync(inPackage(path), 'utf8')) as SourceMapPayload);
      const lines = readFileSync(inPackage(path.replace(/\.map$/, '')), 'utf8').split('\n');
      for (const [line, text] of lines.entries()) {
        for (const { index, 1: name = '' } of text.matchAll(/\bfunction ([a-z]\w*[a-z])\(/gi)) {
          const entry = map.findEntry(line, index);
          if (!('originalSource' in entry) || entry.originalSource === undefined) ofPackages += 1;
          else {
            const source = readFileSync(
              join(ROOT, 'src', entry.originalSource.replace(/^.*?\/(?=src|migrations)/, '../')),
              'utf8',
            );
            expect(source.split('\n')[entry.originalLine]).toContain(name);
            found += 1;
          }
        }
      }
    }
    expect(found).toBeGreaterThan(1_500);
    expect(ofPackages).toBeGreaterThan(500);
  });

  it('asks for no Node of its own, and for six packages', () => {
    const manifest = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as Record<string, object>;
    expect(manifest).toMatchObject({ engines: { node: '>=20' }, bin: { 'order-sync': 'src/bin.mjs' } });
    const asked = Object.keys(manifest['dependencies'] ?? {});
    expect(asked).toEqual(['better-sqlite3', 'got', 'kysely', 'node-cron', 'p-queue', 'pino']);
    for (const kind of ['optionalDependencies', 'devDependencies', 'scripts']) expect(manifest[kind]).toBeUndefined();
  });

  it(`takes at most ${MOST_MB} MB and ${MOST_PACKAGES} packages`, () => {
    const { megabytes, packages } = contentOf(installed);
    expect(megabytes).toBeLessThanOrEqual(MOST_MB);
    expect(packages.length).toBeLessThanOrEqual(MOST_PACKAGES);
  });

  it('has the versions that the checkout has', () => {
    const ofCheckout = lockedIn(join(ROOT, 'package-lock.json'));
    const other = contentOf(installed).packages.filter((one) => !ofCheckout.includes(one));
    expect(other).toEqual([expect.stringMatching(/^order-sync /)]);
  });

  it('has the licence of each package whose code it holds', () => {
    const text = readFileSync(inPackage('THIRD-PARTY.md'), 'utf8');
    const sections = text.split(/^## /m).slice(1);
    const names = sections.map((section) => section.split(' ')[0]);
    expect(names).toEqual(expect.arrayContaining(['commander', 'fastify', 'pg', 'yaml', 'zod']));
    expect(sections.filter((section) => !/copyright|public domain/i.test(section))).toEqual([]);
  });

  it.each([
    ['publint', ['publint/src/cli.js', '--strict']],
    // The package has modules alone: `require` of them is not what it promises.
    ['Are the types wrong', ['@arethetypeswrong/cli/dist/index.js', '--profile', 'esm-only']],
  ])('has nothing that %s finds', (_name, [file = '', ...args]) => {
    const { status, stdout } = spawnSync(process.execPath, [tool(file), ...args, installed.tarball], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, expect.not.stringMatching(/suggestion|warning/i)]);
  });
});

describe('installed into an empty folder', () => {
  it('demonstrates itself', () => {
    const { status, stdout } = run(temporaryFolder(), ['demo']);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/200 orders sent.* 0 created twice[^]*clean/)]);
  });

  it('is set up, runs, sends an order, stops, and reports it; and writes nothing into its own folder', async () => {
    const cwd = temporaryFolder();
    const { found: url } = await start(cwd, ['sandbox', '--port', '0', '--key', 'k'], ADDRESS);
    const init = run(cwd, ['init', '--base-url', url, '--api-key-file', '-', '--yes'], { input: 'k' });
    expect([init.status, init.stderr]).toEqual([0, '']);
    expect(readdirSync(cwd).toSorted()).toEqual(['data', 'order-sync.key', 'order-sync.yaml']);
    const { child: daemon } = await start(cwd, ['run'], /order-sync is ready/);
    const order = ['--external-order-id', 'one', '--asset', '0.25', '--from', 'BTC', '--to', 'EUR'];
    expect(run(cwd, ['orders', 'add', ...order])).toMatchObject({ status: 0 });
    expect(JSON.parse(run(cwd, ['sync', '--json']).stdout)).toMatchObject({ held: 0, unknown: 0 });
    daemon.kill('SIGTERM');
    expect(await once(daemon, 'exit')).toEqual([0, null]);
    const report = run(cwd, ['report', 'summary', '--format', 'json']);
    // The sandbox shows the order after a while, which may have passed.
    const sent = expect.stringMatching(/"state": "(accepted|open|final)"/);
    expect([report.status, report.stderr, report.stdout]).toEqual([0, '', sent]);
    expect(filesIn(inPackage(''))).toEqual(files);
  });

  it('runs the shop of its manual beside a daemon on another port, on each Node that is here, and the one in Python', async () => {
    const cwd = temporaryFolder();
    const { found: sandbox } = await start(cwd, ['sandbox', '--port', '0', '--key', 'k', '--speed', '20'], ADDRESS);
    run(cwd, ['init', '--base-url', sandbox, '--api-key-file', '-', '--yes'], { input: 'k' });
    const [listen, token] = [await freeAddress(), 'a-secret-of-a-shop-'.padEnd(64, '0')];
    writeFileSync(join(cwd, 'shop.token'), token, { mode: 0o600 });
    const tokens = '[{ name: shop, scopes: [read, orders], secretFile: shop.token }]';
    appendFileSync(join(cwd, 'order-sync.yaml'), `api:\n  listen: ${listen}\n  tokens: ${tokens}\n`);
    const soon = { ORDER_SYNC_SCHEDULE_CRON: '* * * * * *', ORDER_SYNC_FOLLOW_WORTH: '100ms' };
    await start(cwd, ['run'], /order-sync is ready/, soon);

    const manual = readFileSync(inPackage('docs/integrating.md'), 'utf8');
    const [typescript = ''] = codeOf(manual, 'ts').filter((code) => code.startsWith('// shop.mts'));
    const [python = ''] = codeOf(manual, 'python').filter((code) => code.startsWith('# shop.py'));
    const folder = dirname(installed.inModules(''));
    // An older Node reads no TypeScript.
    for (const [name, code] of Object.entries({ 'shop.mts': typescript, 'shop.mjs': typescript, 'shop.py': python })) {
      writeFileSync(join(folder, name), code);
    }
    const others = NODES.slice(1).map((node) => [node, 'shop.mjs'] as const);
    const pythons = spawnSync('python3', ['--version']).status === 0 ? [['python3', 'shop.py'] as const] : [];
    for (const [command, file] of [[process.execPath, 'shop.mts'] as const, ...others, ...pythons]) {
      const args = [file, `http://${listen}`, join(cwd, `${basename(command)}-${file}.cursor`)];
      const options = { cwd: folder, env: cleanEnvironment({ API_TOKEN: token }), encoding: 'utf8' } as const;
      const shop = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void shop.kill('SIGKILL'));
      const said = [];
      for await (const line of createInterface(shop.stdout)) if (said.push(line) === 2) break;
      shop.kill();
      expect([file, ...said]).toEqual([
        file,
        expect.stringMatching(/^added shop-1001 \w+$/),
        expect.stringMatching(/^shop-1001 (?:open|final)$/),
      ]);
    }
  });

  it('finds the files that it reads beside its code', () => {
    const parts = files.filter((path) => /^src\/program\/(?!cli\.|live\.).*\.js$/.test(path));
    // The build breaks long lines, also within strings.
    const code = parts.map((path) => readFileSync(inPackage(path), 'utf8').replaceAll(/\\?\n/g, ''));
    const named = code.flatMap((text) => [...text.matchAll(/new URL\("([^"]+)",import\.meta\.url\)/g)]);
    expect(new Set(named.map(([, name = '']) => join('src/program', name)))).toEqual(
      new Set(['./', 'src/program/live.js']),
    );
    // Each part of it loads: none is left that only a checkout has.
    const load = `for (const file of ${JSON.stringify(parts.map(inPackage))}) await import(file)`;
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', load], { encoding: 'utf8' }).stderr).toBe('');
    const { version } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { version: string };
    expect(run(ground, ['--version']).stdout).toBe(`${version}\n`);
  });

  it.each([
    ['XDG_CONFIG_HOME', (home: string) => ({ XDG_CONFIG_HOME: join(home, 'xdg') }), 'xdg/order-sync/config.yaml'],
    ['HOME', () => ({}), '.config/order-sync/config.yaml'],
  ])('reads order-sync.yaml of the working folder, then the settings below %s', (_name, more, path) => {
    const [cwd, home] = [temporaryFolder(), temporaryFolder()];
    const level = () => {
      const shown = run(cwd, ['config', 'show', 'log.level', '--json'], { HOME: home, ...more(home) });
      const [{ value, source } = { value: '', source: '' }] = JSON.parse(shown.stdout) as {
        value: string;
        source: string;
      }[];
      return [value, source];
    };
    const write = (file: string, text: string) => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `log: { level: ${text} }\n`);
    };
    expect(level()[1]).toBe('default');
    write(join(home, path), 'warn');
    expect(level()).toEqual(['warn', expect.stringContaining(`${path}:1`)]);
    write(join(cwd, 'order-sync.yaml'), 'debug');
    expect(level()).toEqual(['debug', 'order-sync.yaml:1']);
  });

  it('names files that its user can write if settings are missing', () => {
    const { status, stderr } = run(temporaryFolder(), ['config', 'check'], { HOME: temporaryFolder() });
    expect([status, stderr]).toEqual([78, expect.stringContaining('order-sync.yaml')]);
    expect(stderr).not.toContain('config/local.yaml');
  });

  it('ends with 78 and advice on a Node below 24, if an import of it runs', () => {
    const older = (version: string) =>
      `--import=data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`;
    const { status, stderr } = spawnSync(process.execPath, [older('20.20.0'), inPackage('src/bin.mjs'), '--help'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([78, 'order-sync: Node 20.20.0 is too old: install Node 24 or newer\n']);
    const code = SHOP.map((name) => `await import('order-sync/${name}');`).join('');
    const imported = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: dirname(installed.inModules('')),
      encoding: 'utf8',
    });
    expect(imported).toMatchObject({ status: 0, stderr: '' });
  });
});
