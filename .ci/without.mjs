// Deletes each extension in turn, and at last all of them, from copies of the program: types, lint and the tests of the core
// alone must still pass. An extension goes together with those that import it. Ends with 1 if one does not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
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
/** What tsc has found out of the whole copy: for each deletion it looks again at what that changes alone. */
const KNOWN = '.known.tsbuildinfo';
const TYPES = [
  'tsc',
  '--noEmit',
  '-p',
  'tsconfig.without.json',
  '--singleThreaded',
  '--incremental',
  '--tsBuildInfoFile',
];
const CHECKS = [
  [...TYPES, '.tsbuildinfo'],
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

/** Makes a copy of the program, in which what is deleted can be put back. */
function copyOf(root, paths) {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-without-'));
  for (const path of paths) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function run(folder, [tool, ...args]) {
  const child = spawn(join(ROOT, 'node_modules/.bin', tool), args, {
    cwd: folder,
    // The tools start with the Node that this program runs on.
    env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const said = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  if (code === 0) return '';
  return `${tool} fails:\n${said.join('')}`.replaceAll(folder, relative(process.cwd(), ROOT) || '.');
}

async function problemsWithout(gone, folder) {
  const [extensions, away] = [join(folder, 'src/extensions'), join(folder, 'away')];
  const list = readFileSync(join(folder, LIST), 'utf8');
  mkdirSync(away);
  for (const name of gone) renameSync(join(extensions, name), join(away, name));
  const isGone = (line) => gone.some((name) => line.includes(`/${name}/index.ts'`) || line === `  ${name},`);
  writeFileSync(
    join(folder, LIST),
    list
      .split('\n')
      .filter((line) => !isGone(line))
      .join('\n'),
  );
  cpSync(join(folder, KNOWN), join(folder, '.tsbuildinfo'));
  // The tests wait for ticks of a cron, in which the others work.
  const problems = await Promise.all(CHECKS.map((check) => run(folder, check)));
  writeFileSync(join(folder, LIST), list);
  for (const name of gone) renameSync(join(away, name), join(extensions, name));
  rmdirSync(away);
  return problems.join('');
}

const began = performance.now();
const deletions = [...names.map(withNeeding), names];
const next = deletions.values();
const folders = [copyOf(ROOT, KEPT)];
try {
  const config = { extends: './tsconfig.json', include: ['src', 'migrations', 'test'] };
  writeFileSync(join(folders[0], 'tsconfig.without.json'), JSON.stringify(config));
  const problem = await run(folders[0], [...TYPES, KNOWN]);
  if (problem !== '') throw new Error(problem);
  const made = [...KEPT, 'tsconfig.without.json', KNOWN];
  while (folders.length < availableParallelism()) folders.push(copyOf(folders[0], made));
  const lane = async (folder) => {
    for (const gone of next) {
      const what = gone.length === names.length ? 'all extensions' : gone.join(', ');
      const problems = await problemsWithout(gone, folder);
      process.stdout.write(`${problems === '' ? 'passes' : 'FAILS '} without ${what}\n${problems}`);
      if (problems !== '') process.exitCode = 1;
    }
  };
  await Promise.all(folders.map(lane));
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${deletions.length} deletions took ${Math.round((performance.now() - began) / 1_000)} s\n`);
