// Deletes each extension in turn, and at last all of them, from a copy of the program: types, lint and the tests of the core
// alone must still pass. An extension goes together with those that import it. Ends with 1 if one does not.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LIST = 'src/extensions.ts';
const KEPT = [
  'src',
  'migrations',
  'config',
  'package.json',
  'tsconfig.json',
  '.oxlintrc.json',
  'test/core',
  'test/support/captured-log.ts',
  'test/support/folders.ts',
  'test/support/scripted-exchange.ts',
];
const CHECKS = [
  ['tsc', '--noEmit', '-p', 'tsconfig.without.json'],
  ['oxlint', '--deny-warnings', 'src'],
  ['vitest', 'run', '--root', '.', '--testTimeout', '180000', 'test/core'],
];

const names = readdirSync(join(ROOT, 'src/extensions'));
const imports = new Map(names.map((name) => [name, importsOf(name)]));

/** The other extensions whose files an extension imports. */
function importsOf(name) {
  const files = readdirSync(join(ROOT, 'src/extensions', name), { recursive: true }).filter((file) =>
    file.endsWith('.ts'),
  );
  const paths = files.map((file) => join('src/extensions', name, file));
  const targets = paths.flatMap((path) => {
    const code = readFileSync(join(ROOT, path), 'utf8');
    return [...code.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target]) => join(dirname(path), target));
  });
  const found = targets.flatMap((target) => /^src\/extensions\/([^/]+)\//.exec(target)?.[1] ?? []);
  return new Set(found.filter((other) => other !== name));
}

/** An extension with those that need it. */
function withNeeding(name) {
  const gone = new Set([name]);
  for (const other of gone) for (const [needing, needed] of imports) if (needed.has(other)) gone.add(needing);
  return [...gone];
}

function tryWithout(gone) {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-without-'));
  try {
    for (const path of KEPT) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const name of gone) rmSync(join(folder, 'src/extensions', name), { recursive: true });
    const list = readFileSync(join(folder, LIST), 'utf8').split('\n');
    const left = list.filter(
      (line) => !gone.some((name) => line.includes(`/${name}/index.ts'`) || line === `  ${name},`),
    );
    writeFileSync(join(folder, LIST), left.join('\n'));
    const config = { extends: './tsconfig.json', include: ['src', 'migrations', 'test'] };
    writeFileSync(join(folder, 'tsconfig.without.json'), JSON.stringify(config));
    for (const [tool, ...args] of CHECKS) {
      const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', tool), args, {
        cwd: folder,
        // The tools start with the Node that this program runs on.
        env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env.PATH}` },
        encoding: 'utf8',
      });
      if (status !== 0)
        return `${tool} fails:\n${stdout}${stderr}`.replaceAll(folder, relative(process.cwd(), ROOT) || '.');
    }
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const began = performance.now();
for (const gone of [...names.map(withNeeding), names]) {
  const what = gone.length === names.length ? 'all extensions' : gone.join(', ');
  const problem = tryWithout(gone);
  process.stdout.write(`${problem === undefined ? 'passes' : 'FAILS '} without ${what}\n`);
  if (problem === undefined) continue;
  process.stdout.write(problem);
  process.exitCode = 1;
}
process.stdout.write(`the deletions took ${Math.round((performance.now() - began) / 1_000)} s\n`);
