import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { bundleShop, SHOP } from './shop.ts';
import { lockOf, type Lock } from './lock.ts';
import { ownMap } from './own-maps.ts';
import { thirdParties } from './third-parties.ts';

/**
 * Makes the package in `dist/package`: JavaScript in place of TypeScript, with few packages beside it and a manifest of its own.
 * npm cannot make it of the checkout: it packs the manifest as it stands there, and `.npmrc` has it run no script before.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE = join(ROOT, 'dist', 'package');
/** The files beside the program in the package. All else that the program imports is part of its own files. */
const BESIDE = ['better-sqlite3', 'got', 'kysely', 'node-cron', 'p-queue', 'pino'];
/** They are imported for what the program does not do: a driver of PostgreSQL in C, requests to a server within its process. */
const UNUSED = ['pg-native', 'light-my-request'];
/** Files that the package has as the checkout has them. */
const KEPT = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'config/default.yaml',
  'config/schema.json',
  'deploy',
  'docs',
  'ecosystem.config.cjs',
  'src/bin.mjs',
  'src/runtime.cjs',
  ...globSync('src/**/*.md', { cwd: ROOT }),
];
/** Nothing that `new URL(…, import.meta.url)` names is seen by esbuild. */
const BESIDE_CODE = { 'src/extensions/health/dashboard/live.js': 'src/program/live.js' };

/** Programs are told what is wrong in English alone: the other 48 languages of zod stay out. */
const ENGLISH: Plugin = {
  name: 'english',
  setup(plugin) {
    plugin.onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer }) =>
      importer.includes('/node_modules/zod/') ? { path: join(dirname(importer), '../locales/en.js') } : undefined,
    );
  },
};

/** Packages that the program loads once it needs them are loaded so from its own files too. */
const LAZY: Plugin = {
  name: 'lazy',
  setup(plugin) {
    plugin.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8').replace('const require = createRequire(import.meta.url);', '');
      return { contents, loader: 'ts' };
    });
  },
};

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

rmSync(PACKAGE, { recursive: true, force: true });
mkdirSync(PACKAGE, { recursive: true });
for (const path of KEPT) cpSync(join(ROOT, path), join(PACKAGE, path), { recursive: true });
dropDeadRows('README.md');
const metafile = await bundle();
await bundleShop(join(PACKAGE, 'src', 'shop'));
for (const [from, to] of Object.entries(BESIDE_CODE)) cpSync(join(ROOT, from), join(PACKAGE, to));
for (const path of globSync('src/program/*.map', { cwd: PACKAGE })) {
  writeFileSync(join(PACKAGE, path), JSON.stringify(ownMap(JSON.parse(readFileSync(join(PACKAGE, path), 'utf8')))));
}
writeDeclarations();
writeManifest();
writeFileSync(join(PACKAGE, 'THIRD-PARTY.md'), thirdParties(ROOT, Object.keys(metafile.inputs)));

/** Takes out of a table of pages what leads to none: the page for contributors stays in the checkout. */
function dropDeadRows(page: string): void {
  const lines = readFileSync(join(PACKAGE, page), 'utf8').split('\n');
  const isDead = (line: string) => {
    const target = /^\| \[[^\]]+\]\(([^)#]+)\)/.exec(line)?.[1];
    return target !== undefined && !existsSync(join(PACKAGE, target));
  };
  writeFileSync(join(PACKAGE, page), lines.filter((line) => !isDead(line)).join('\n'));
}

async function bundle(): Promise<Metafile> {
  const { metafile: found } = await build({
    absWorkingDir: ROOT,
    entryPoints: { cli: 'src/cli.ts' },
    // As deep as src/base/places.ts is: from there it finds the folder of the package.
    outdir: join(PACKAGE, 'src', 'program'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    legalComments: 'none',
    minifyWhitespace: true,
    lineLimit: 160,
    external: [...BESIDE.flatMap((name) => [name, `${name}/*`]), ...UNUSED],
    plugins: [ENGLISH, LAZY],
    logLevel: 'warning',
    // Packages of the older kind ask for those of Node by `require`.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
  });
  return found;
}

function writeDeclarations(): void {
  const types = join(PACKAGE, 'types');
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'build/tsconfig.json', '--outDir', types], { cwd: ROOT });
  for (const name of readdirSync(types, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.d.ts'))) {
    const file = join(types, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
  }
}

/** The packages beside it are locked as they are in the checkout: what is installed is what was tested. */
function writeManifest(): void {
  const { name, version, description, license, type, bin, engines } = manifest;
  const dependencies = Object.fromEntries(BESIDE.map((one) => [one, manifest.dependencies[one] ?? '']));
  const shop = SHOP.map((one) => [`./${one}`, { types: `./types/${one}.d.ts`, default: `./src/shop/${one}.js` }]);
  const exports = { ...(Object.fromEntries(shop) as object), './package.json': './package.json' };
  const own = { name, version, private: true, description, license, type, bin, exports, engines, dependencies };
  writeJson('package.json', own);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  writeJson('npm-shrinkwrap.json', lockOf(lock, { name, version, license, bin, engines, dependencies }));
}

function writeJson(name: string, value: object): void {
  writeFileSync(join(PACKAGE, name), `${JSON.stringify(value, undefined, 2)}\n`);
}
